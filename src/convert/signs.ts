/** What the bytes of a file tell of its format, read in pieces: an upload may be large and lie on disk (contract B2). */
import type { ByteSource } from './byte-source.js';

export interface ContentSigns {
  /** Where a PDF header stands among the first 1,024 bytes. */
  readonly pdfHeaderAt: number | undefined;
  /** A ZIP archive with an entry OFD.xml at its root. */
  readonly isOfd: boolean;
}

const PDF_HEADER_WITHIN = 1024;

export async function readSigns(source: ByteSource): Promise<ContentSigns> {
  const head = (await source.read(0, PDF_HEADER_WITHIN)).toString('latin1');
  const pdfHeaderAt = head.search(/%PDF-\d/);
  return {
    pdfHeaderAt: pdfHeaderAt < 0 ? undefined : pdfHeaderAt,
    isOfd: head.startsWith(LOCAL_HEADER) && (await isOfdPackage(source)),
  };
}

const LOCAL_HEADER = 'PK\x03\x04';
const LOCAL_HEADER_BYTES = 30;
const CENTRAL_HEADER_SIGNATURE = 0x02014b50;
const CENTRAL_HEADER_BYTES = 46;
const END_RECORD = 'PK\x05\x06';
const END_RECORD_BYTES = 22;
const LONGEST_COMMENT = 65_535;
const MOST_ENTRIES = 200_000;
/** Longer names are none that is looked for. */
const LONGEST_NAME = 16;
const WINDOW_BYTES = 1024 * 1024;

/** Where the directory is lost, the local headers are looked at. */
async function isOfdPackage(zip: ByteSource): Promise<boolean> {
  const tailAt = Math.max(0, zip.sizeBytes - END_RECORD_BYTES - LONGEST_COMMENT);
  const tail = await zip.read(tailAt, zip.sizeBytes - tailAt);
  const endAt = tail.lastIndexOf(END_RECORD, undefined, 'latin1');
  const end = endAt < 0 ? undefined : tail.subarray(endAt);
  if (end && end.length >= END_RECORD_BYTES) {
    const listed = await listsRootXml(new Windows(zip), end.readUInt32LE(16), end.readUInt16LE(10));
    if (listed !== undefined) return listed;
  }
  return hasLocalRootXml(zip);
}

function isRootXml(name: Buffer): boolean {
  return /^[/\\]?ofd\.xml$/i.test(name.toString('latin1'));
}

/** undefined where the directory is not where the end record says. */
async function listsRootXml(zip: Windows, directoryAt: number, entryCount: number): Promise<boolean | undefined> {
  let at = directoryAt;
  for (let entry = 0; entry < Math.min(entryCount, MOST_ENTRIES); entry++) {
    const header = zip.at(at, CENTRAL_HEADER_BYTES + LONGEST_NAME) ?? (await zip.load(at));
    if (header.length < CENTRAL_HEADER_BYTES || header.readUInt32LE(0) !== CENTRAL_HEADER_SIGNATURE) return undefined;
    const nameLength = header.readUInt16LE(28);
    if (isRootXml(header.subarray(CENTRAL_HEADER_BYTES, CENTRAL_HEADER_BYTES + nameLength))) return true;
    at += CENTRAL_HEADER_BYTES + nameLength + header.readUInt16LE(30) + header.readUInt16LE(32);
  }
  return false;
}

async function hasLocalRootXml(zip: ByteSource): Promise<boolean> {
  const overlap = LOCAL_HEADER_BYTES + LONGEST_NAME;
  for (let start = 0; start < zip.sizeBytes; start += WINDOW_BYTES - overlap) {
    const window = await zip.read(start, WINDOW_BYTES);
    for (let at = 0; at >= 0; at = window.indexOf(LOCAL_HEADER, at + 1, 'latin1')) {
      const header = window.subarray(at, at + overlap);
      if (header.length < LOCAL_HEADER_BYTES || header.indexOf(LOCAL_HEADER, 0, 'latin1') !== 0) continue;
      if (isRootXml(header.subarray(LOCAL_HEADER_BYTES, LOCAL_HEADER_BYTES + header.readUInt16LE(26)))) return true;
    }
  }
  return false;
}

/** A source read in large pieces for somebody who goes through it in small steps. */
class Windows {
  readonly #source: ByteSource;
  #window: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** `length` bytes where the window has all of them. */
  at(at: number, length: number): Buffer | undefined {
    const from = at - this.#start;
    return from >= 0 && from + length <= this.#window.length ? this.#window.subarray(from, from + length) : undefined;
  }

  /** What there is from `at` on, read anew. */
  async load(at: number): Promise<Buffer> {
    this.#start = at;
    this.#window = await this.#source.read(at, WINDOW_BYTES);
    return this.#window;
  }
}
