/** The door of the OFD engine: bytes of a package in, one display list a page out. */
import type { DocumentFacts } from '../display/facts.js';
import type { DisplayList, Report } from '../display/list.js';
import type { FontBook } from '../fonts/index.js';
import { DocumentContext } from './build/context.js';
import { buildObjects } from './build/objects.js';
import { PageBuilder } from './build/page.js';
import { DocumentSeals } from './build/seal.js';
import { type PageReference, readDocuments } from './document.js';
import { OfdError } from './error.js';
import { FactsReader } from './facts.js';
import type { OfdLimits } from './limits.js';
import { OfdPackage } from './package.js';
import type { XmlElement } from './xml.js';

export interface OfdOptions {
  readonly limits: OfdLimits;
  readonly fonts: FontBook;
  readonly report: Report;
  /** Whether annotations are shown and lead anywhere; they are where absent. Seals are no annotations. */
  readonly withAnnotations?: boolean;
  /** The index of the page that will be asked for first, from the number of pages; the first where absent. */
  readonly startAt?: (pageCount: number) => number;
}

export interface OfdDocument {
  /** Pages of all documents of the package. */
  readonly pageCount: number;
  /** What each document of the package says beside its pages, in order; read when it is asked for. */
  readonly documents: readonly DocumentFacts[];
  /**
   * The display list of a page, `index` from 0 through all documents. What cannot be read is left out with a diagnostic.
   * Throws OfdError('too_large') where a part proves to be a bomb, RangeError for a page that there is not.
   */
  page(index: number): DisplayList;
}

/**
 * Opens a package. Throws OfdError: not_ofd, corrupt (no document, or none of its pages can be read), encrypted,
 * too_large.
 *
 * @param bytes must stay as they are while the document is in use
 */
export async function openOfd(bytes: Uint8Array, options: OfdOptions): Promise<OfdDocument> {
  const { limits, fonts, report } = options;
  const pkg = await OfdPackage.open(bytes, limits, report);
  const bodies = readDocuments(pkg, report, true).map((body) =>
    options.withAnnotations === false ? { ...body, annotationParts: new Map() } : body,
  );
  const pages: DocumentPage[] = [];
  const readers: FactsReader[] = [];
  for (const body of bodies) {
    const seals = await DocumentSeals.open(body, fonts, report);
    const facts = new FactsReader(body, pages.length + 1, readers[readers.length - 1], report);
    const builder = new PageBuilder(new DocumentContext(body, fonts, report, buildObjects, facts), seals);
    for (const reference of body.pages) pages.push({ builder, reference });
    readers.push(facts);
  }
  const references = pages.map(({ reference }) => reference);
  const first = references[options.startAt?.(pages.length) ?? 0];
  return new OpenedDocument(readers, pages, readable(pkg, first === undefined ? references : [first, ...references]));
}

interface DocumentPage {
  readonly builder: PageBuilder;
  readonly reference: PageReference;
}

interface ParsedPage {
  readonly reference: PageReference;
  readonly root: XmlElement;
}

/**
 * Proof that there is something to show: the first of `references` whose part can be read. Undefined where the package
 * has no part for any page, which then are blank. Throws OfdError('corrupt' or 'encrypted') where there were parts and
 * none is left.
 */
function readable(pkg: OfdPackage, references: readonly PageReference[]): ParsedPage | undefined {
  const damaged = new Set<string>();
  for (const reference of references) {
    if (reference.part === undefined) {
      // Lost with the damage or behind the encryption, not forgotten by the producer.
      if (pkg.isDamaged || pkg.isEncrypted) damaged.add(reference.location);
      continue;
    }
    if (damaged.has(reference.part)) continue;
    const root = pkg.xml(reference.part);
    if (root !== undefined) return { reference, root };
    damaged.add(reference.part);
  }
  const [first] = damaged;
  if (first === undefined) return undefined;
  if (pkg.isEncrypted) throw new OfdError('encrypted', `The package is encrypted: ${first} cannot be read`);
  const rest = damaged.size > 1 ? ` and ${damaged.size - 1} more` : '';
  throw new OfdError('corrupt', `No page can be read: ${first}${rest} is damaged`);
}

class OpenedDocument implements OfdDocument {
  readonly #readers: readonly FactsReader[];
  readonly #pages: readonly DocumentPage[];
  /** Parsed to see whether it can be read; used once. */
  #parsed: ParsedPage | undefined;

  constructor(readers: readonly FactsReader[], pages: readonly DocumentPage[], parsed: ParsedPage | undefined) {
    this.#readers = readers;
    this.#pages = pages;
    this.#parsed = parsed;
  }

  get pageCount(): number {
    return this.#pages.length;
  }

  get documents(): readonly DocumentFacts[] {
    return this.#readers.map((reader) => reader.facts);
  }

  page(index: number): DisplayList {
    const page = this.#pages[index];
    if (page === undefined) throw new RangeError(`Page index ${index} of a document of ${this.pageCount} pages`);
    const parsed = this.#parsed?.reference === page.reference ? this.#parsed.root : undefined;
    if (parsed !== undefined) this.#parsed = undefined;
    return page.builder.build(page.reference, index + 1, parsed);
  }
}
