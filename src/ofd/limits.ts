/** What one package may ask for. Every number has its reason; beyond it the input is refused or cut, never tried. */

export interface OfdLimits {
  /** Entries in the ZIP directory. */
  readonly maxEntries: number;
  /** Bytes of one part after inflation. */
  readonly maxEntryBytes: number;
  /** Bytes of all parts after inflation: as the directory declares them, and as they are read. */
  readonly maxTotalBytes: number;
  /** Inflated by deflated size of a part; looked at above `ratioFreeBytes` only. */
  readonly maxRatio: number;
  /** A part up to this size may have any ratio. */
  readonly ratioFreeBytes: number;
  /** Bytes of one XML part. */
  readonly maxXmlBytes: number;
  /** Elements inside each other in one XML part. */
  readonly maxXmlDepth: number;
  /** Elements of one XML part. */
  readonly maxXmlElements: number;
  /** Attributes of one XML part. */
  readonly maxXmlAttributes: number;
  /** Pages of all documents of the package. */
  readonly maxPages: number;
  /** Graphic units of one page, those of its templates, composites and annotations counted each time they are placed. */
  readonly maxObjectsPerPage: number;
  /** Characters of one page, counted as its graphic units are; and glyphs, where some stand for no character of their own. */
  readonly maxCharactersPerPage: number;
  /** Blocks, composites and patterns inside each other. */
  readonly maxGroupDepth: number;
  /** Pixels of one picture, from its header. */
  readonly maxImagePixels: number;
  /** Length of a chain of references (DrawParam/Relative). */
  readonly maxReferenceDepth: number;
  /** Signatures read from one list. */
  readonly maxSignatures: number;
  /** Stamps of all signatures of one list. */
  readonly maxStamps: number;
  /** Links of all pages of a document, those of templates counted for each page. */
  readonly maxLinks: number;
  /** Packages inside packages (a seal's picture may be one). */
  readonly maxPackageDepth: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: OfdLimits = {
  // What a plain ZIP directory can count; ZIP64 could hold more, but no office document has so many parts.
  maxEntries: 65_536,
  // A page scanned at A3, 600 dpi, 24 bit and left raw is 209 MB.
  maxEntryBytes: 256 * MIB,
  // Four times that; parts are read one by one, so this bounds time more than memory.
  maxTotalBytes: 1024 * MIB,
  // Deflate cannot reach more than 1032:1; only a blank raw picture or a bomb comes near.
  maxRatio: 1_000,
  // Blank raw pictures up to A4 at 400 dpi, 24 bit, are honest.
  ratioFreeBytes: 64 * MIB,
  // A string of the engine ends at 512 MiB of characters, and its tree takes some ten times the text.
  maxXmlBytes: 128 * MIB,
  // Real pages stay below 30; the tree's users recurse.
  maxXmlDepth: 256,
  // Some 150 bytes each: 300 MB of tree.
  maxXmlElements: 2_000_000,
  // Five to an element.
  maxXmlAttributes: 10_000_000,
  // Whole archives bound into one document have a few ten thousand.
  maxPages: 100_000,
  // A dense map has some 200,000.
  maxObjectsPerPage: 1_000_000,
  // A page of a newspaper has 20,000, a spreadsheet on one endless page some 500,000.
  maxCharactersPerPage: 1_000_000,
  // The display list promises its backends no more.
  maxGroupDepth: 64,
  // A0 at 250 dpi; 400 MB when decoded.
  maxImagePixels: 100_000_000,
  // Real chains have two or three members.
  maxReferenceDepth: 32,
  // A riding seal on each page of a long contract signs once, not once a page.
  maxSignatures: 1_000,
  // And there once on each page, perhaps a second time across the edges.
  maxStamps: 10_000,
  // Twenty on each of ten thousand pages; each becomes an object of its own.
  maxLinks: 250_000,
  // The standard's own case: a document, its seal, and nothing inside that.
  maxPackageDepth: 2,
};
