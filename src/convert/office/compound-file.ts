/** The streams of a compound file (OLE2: doc, xls, ppt, and encrypted docx, xlsx, pptx), as far as telling them apart needs. */
import type { ByteSource } from '../byte-source.js';

export interface CompoundFile {
  readonly names: ReadonlySet<string>;
  /** The first sector of a stream; undefined where there is none, or where it is so small that it lies elsewhere. */
  readStart(name: string): Promise<Buffer | undefined>;
}

const SIGNATURE = 'd0cf11e0a1b11ae1';
const HEADER_BYTES = 512;
const DIRECTORY_ENTRY_BYTES = 128;
const LISTED_TABLES = 109;
const END_OF_CHAIN = 0xfffffffa;
/** Streams below this lie together in another one. */
const SMALL_STREAM_BYTES = 4096;
/** A document has some ten streams; one with thousands of embedded objects is told by its first ones all the same. */
const MOST_DIRECTORY_SECTORS = 1024;

/** undefined where the source is no compound file, or a broken one. */
export async function openCompoundFile(source: ByteSource): Promise<CompoundFile | undefined> {
  const header = await source.read(0, HEADER_BYTES);
  if (header.length < HEADER_BYTES || header.toString('hex', 0, 8) !== SIGNATURE) return undefined;
  const sectorShift = header.readUInt16LE(30);
  if (sectorShift !== 9 && sectorShift !== 12) return undefined;
  const sectors = new Sectors(source, header, 1 << sectorShift);
  const streams = new Map<string, { sector: number; sizeBytes: number }>();
  let sector = header.readUInt32LE(48);
  for (let count = 0; count < MOST_DIRECTORY_SECTORS && sector < END_OF_CHAIN; count++) {
    const bytes = await sectors.read(sector);
    if (!bytes) break;
    for (let at = 0; at + DIRECTORY_ENTRY_BYTES <= bytes.length; at += DIRECTORY_ENTRY_BYTES) {
      const nameBytes = bytes.readUInt16LE(at + 64);
      if (nameBytes < 2 || nameBytes > 64) continue;
      const name = bytes.toString('utf16le', at, at + nameBytes - 2);
      if (!streams.has(name)) {
        streams.set(name, { sector: bytes.readUInt32LE(at + 116), sizeBytes: bytes.readUInt32LE(at + 120) });
      }
    }
    sector = await sectors.next(sector);
  }
  if (streams.size === 0) return undefined;
  return {
    names: new Set(streams.keys()),
    readStart: async (name) => {
      const stream = streams.get(name);
      return stream && stream.sizeBytes >= SMALL_STREAM_BYTES ? sectors.read(stream.sector) : undefined;
    },
  };
}

class Sectors {
  readonly #source: ByteSource;
  readonly #header: Buffer;
  readonly #sizeBytes: number;

  constructor(source: ByteSource, header: Buffer, sizeBytes: number) {
    this.#source = source;
    this.#header = header;
    this.#sizeBytes = sizeBytes;
  }

  async read(sector: number): Promise<Buffer | undefined> {
    const bytes = await this.#source.read((sector + 1) * this.#sizeBytes, this.#sizeBytes);
    return bytes.length === 0 ? undefined : bytes;
  }

  /** The sector that follows in a chain, by the tables that the header lists: those of the first 7 MB at least. */
  async next(sector: number): Promise<number> {
    const entries = this.#sizeBytes / 4;
    const table = Math.floor(sector / entries);
    if (table >= LISTED_TABLES) return END_OF_CHAIN;
    const bytes = await this.read(this.#header.readUInt32LE(76 + table * 4));
    const at = (sector % entries) * 4;
    return bytes && at + 4 <= bytes.length ? bytes.readUInt32LE(at) : END_OF_CHAIN;
  }
}
