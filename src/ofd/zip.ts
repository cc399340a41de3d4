/** The directory of a ZIP file held in memory: by its central directory, else by what the local headers still say. */
import { fromBuffer, type ZipFile } from 'yauzl';
import type { Report } from '../display/list.js';
import { OfdError } from './error.js';
import type { OfdLimits } from './limits.js';
import {
  CENTRAL_SIGNATURE,
  CENTRAL_SIZE,
  END_SIZE,
  isEncryptedFlag,
  type RawEntry,
  readLocalHeader,
  scanLocalHeaders,
  viewOf,
} from './zip-headers.js';
import { readEntryName } from './zip-name.js';

const ROOT_PART = 'ofd.xml';
/** End records looked at, from the last backwards, for one that fits its directory. */
const MAX_END_RECORDS = 16;
/** Names given in one message. */
const NAMES_SHOWN = 5;
/** Entries reported one by one for the same fault. */
const MAX_REPORTS = 20;

/** One file in the package. */
export interface ZipEntry {
  /** '/' between segments, no leading slash, no '.' or '..'. */
  readonly path: string;
  /** Packed data: `start` to `end` in the bytes that `ZipDirectory` carries. */
  readonly data: Omit<RawEntry, 'name'>;
}

export interface ZipDirectory {
  /** What the offsets of the entries count in: the input, junk in front cut off. */
  readonly bytes: Uint8Array;
  /** By path; of entries with the same path the last in the directory. */
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /** Other readings of a name (encoding unclear) → path. */
  readonly otherNames: ReadonlyMap<string, string>;
  /** The directory was damaged: what is missing may have been there. */
  readonly isDamaged: boolean;
}

/**
 * Reads the directory and checks it against the limits. What is damaged is reported (`zip_recovered`, `entry_unsafe`,
 * `entry_duplicate`) and left out. Throws OfdError: not_ofd where it is no ZIP, corrupt where no entry is left, too_large.
 */
export async function readZip(input: Uint8Array, limits: OfdLimits, report: Report): Promise<ZipDirectory> {
  if (input.length < END_SIZE || !looksLikeZip(input)) {
    throw new OfdError('not_ofd', `Not an OFD file: ${describeStart(input)}, not a ZIP package`);
  }
  const central = (await readCentral(input, limits)) ?? (await readTrimmed(input, limits));
  const bytes = central?.bytes ?? input;
  const builder = new DirectoryBuilder(report);
  let isDamaged = central === undefined;
  if (central !== undefined) isDamaged = addCentral(builder, central, report);
  if (isDamaged || !builder.has(ROOT_PART)) {
    const scanned = scanLocalHeaders(bytes, limits.maxEntries);
    checkCount(scanned.length, limits);
    const added = builder.addMissing(scanned);
    isDamaged ||= added > 0;
    if (central === undefined || added > 0) reportRecovery(report, added);
  }
  if (builder.entries.size === 0 && isDamaged)
    throw new OfdError('corrupt', 'The ZIP package is damaged: no entry is left');
  checkTotal(builder.entries.values(), limits);
  return { bytes, entries: builder.entries, otherNames: builder.otherNames, isDamaged };
}

function looksLikeZip(input: Uint8Array): boolean {
  const buffer = asBuffer(input);
  return buffer.includes('PK\x03\x04', 0, 'latin1') || buffer.includes('PK\x05\x06', 0, 'latin1');
}

function describeStart(input: Uint8Array): string {
  if (input.length === 0) return 'the file is empty';
  const head = asBuffer(input.subarray(0, 8)).toString('latin1');
  if (head.startsWith('%PDF')) return 'the file is a PDF';
  return `the file (${input.length} bytes) starts with ${JSON.stringify(head.replace(/[^\x20-\x7e]/g, '.'))}`;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function checkCount(count: number, limits: OfdLimits): void {
  if (count <= limits.maxEntries) return;
  throw new OfdError('too_large', `The package has more than ${limits.maxEntries} entries`);
}

function checkTotal(entries: Iterable<ZipEntry>, limits: OfdLimits): void {
  let total = 0;
  for (const entry of entries) total += entry.data.sizeBytes;
  if (total <= limits.maxTotalBytes) return;
  throw new OfdError('too_large', `The package unpacks to ${total} bytes; at most ${limits.maxTotalBytes} are allowed`);
}

function reportRecovery(report: Report, count: number): void {
  report({
    code: 'zip_recovered',
    message: `The directory of the ZIP package is damaged; ${count} entries were found by their own headers`,
  });
}

// ---- central directory

interface CentralEntry extends Omit<RawEntry, 'start' | 'end'> {
  readonly headerOffset: number;
  readonly packedBytes: number;
}

interface Central {
  readonly bytes: Uint8Array;
  readonly entries: readonly CentralEntry[];
}

/** Undefined where the directory is not whole. */
async function readCentral(bytes: Uint8Array, limits: OfdLimits): Promise<Central | undefined> {
  let zip: ZipFile;
  try {
    zip = await openZip(bytes);
  } catch {
    return undefined;
  }
  // A count that the file has no room for is damage, not size.
  if (zip.entryCount * CENTRAL_SIZE > bytes.length) return undefined;
  checkCount(zip.entryCount, limits);
  try {
    return { bytes, entries: await listEntries(zip) };
  } catch {
    return undefined;
  }
}

function openZip(bytes: Uint8Array): Promise<ZipFile> {
  const options = { lazyEntries: true, decodeStrings: false, validateEntrySizes: false };
  return new Promise((resolve, reject) => {
    fromBuffer(asBuffer(bytes), options, (error, zip) => (error ? reject(error) : resolve(zip)));
  });
}

function listEntries(zip: ZipFile): Promise<CentralEntry[]> {
  return new Promise((resolve, reject) => {
    const entries: CentralEntry[] = [];
    zip.on('entry', (entry) => {
      entries.push({
        name: entry.fileNameRaw,
        method: entry.compressionMethod,
        isEncrypted: isEncryptedFlag(entry.generalPurposeBitFlag),
        crc32: entry.crc32,
        sizeBytes: entry.uncompressedSize,
        packedBytes: entry.compressedSize,
        headerOffset: entry.relativeOffsetOfLocalHeader,
      });
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', reject);
    zip.readEntry();
  });
}

/** A second try without what stands in front of the package and behind it. */
async function readTrimmed(bytes: Uint8Array, limits: OfdLimits): Promise<Central | undefined> {
  const trimmed = withoutJunk(bytes);
  return trimmed === undefined ? undefined : readCentral(trimmed, limits);
}

function withoutJunk(bytes: Uint8Array): Uint8Array | undefined {
  const buffer = asBuffer(bytes);
  const view = viewOf(bytes);
  let end = bytes.length;
  for (let i = 0; i < MAX_END_RECORDS && end > 0; i++) {
    const at = buffer.lastIndexOf('PK\x05\x06', end - 1, 'latin1');
    if (at < 0) return undefined;
    end = at;
    if (at + END_SIZE > bytes.length) continue;
    const recordEnd = at + END_SIZE + view.getUint16(at + 20, true);
    const directory = at - view.getUint32(at + 12, true);
    const start = directory - view.getUint32(at + 16, true);
    const fits = start >= 0 && directory + 4 <= at && view.getUint32(directory, true) === CENTRAL_SIGNATURE;
    const from = fits ? start : 0;
    const to = Math.min(recordEnd, bytes.length);
    if (recordEnd <= bytes.length && (from > 0 || to < bytes.length)) return bytes.subarray(from, to);
  }
  return undefined;
}

/** Returns whether some entry could not be found where the directory says. */
function addCentral(builder: DirectoryBuilder, central: Central, report: Report): boolean {
  const { bytes } = central;
  const view = viewOf(bytes);
  const lost: string[] = [];
  const renamed: RawEntry[] = [];
  for (const entry of central.entries) {
    const local = readLocalHeader(bytes, view, entry.headerOffset);
    if (local === undefined) {
      lost.push(readEntryName(entry.name).name);
      continue;
    }
    const { headerOffset: _offset, packedBytes, ...raw } = entry;
    const end = Math.min(local.dataStart + packedBytes, bytes.length);
    builder.add({ ...raw, start: local.dataStart, end });
    if (asBuffer(local.name).compare(entry.name) !== 0)
      renamed.push({ ...raw, name: local.name, start: local.dataStart, end });
  }
  for (const raw of renamed) builder.addAlias(raw);
  if (lost.length > 0) {
    const names = lost.slice(0, NAMES_SHOWN).join(', ');
    report({
      code: 'zip_recovered',
      message: `The ZIP directory points to nothing for ${lost.length} entries: ${names}`,
    });
  }
  return lost.length > 0;
}

// ---- names

class DirectoryBuilder {
  readonly entries = new Map<string, ZipEntry>();
  readonly otherNames = new Map<string, string>();
  readonly #report: Report;
  readonly #reported = new Map<string, number>();

  constructor(report: Report) {
    this.#report = report;
  }

  /** Whether there is an entry of that path, which is in lower case. */
  has(lowerCasePath: string): boolean {
    if (this.entries.has(lowerCasePath)) return true;
    for (const path of this.entries.keys()) if (path.toLowerCase() === lowerCasePath) return true;
    return false;
  }

  add(raw: RawEntry): void {
    const path = this.#pathOf(raw);
    if (path === undefined) return;
    if (this.entries.has(path)) {
      this.#tell('entry_duplicate', path, `${path} stands in the package more than once; the last one is used`);
      // Set anew, it takes the place of the last.
      this.entries.delete(path);
    }
    this.#put(path, raw);
  }

  /** Adds those whose path is free, the last of each; returns how many. */
  addMissing(raws: readonly RawEntry[]): number {
    const before = this.entries.size;
    const known = new Set(this.entries.keys());
    for (const raw of raws) {
      const path = this.#pathOf(raw);
      if (path !== undefined && !known.has(path)) this.#put(path, raw);
    }
    return this.entries.size - before;
  }

  /** An entry that its local header calls otherwise than the directory: it answers to both names. */
  addAlias(raw: RawEntry): void {
    const { path } = readEntryName(raw.name);
    if (path === undefined || path === '' || this.entries.has(path)) return;
    this.#put(path, raw);
    this.#tell('zip_recovered', path, `The ZIP directory has another name for ${path}; its local header has this one`);
  }

  /** Reports the first few of a kind: a directory may have tens of thousands. */
  #tell(code: string, part: string, message: string): void {
    const count = (this.#reported.get(code) ?? 0) + 1;
    this.#reported.set(code, count);
    if (count <= MAX_REPORTS) this.#report({ code, part, message });
    else if (count === MAX_REPORTS + 1) this.#report({ code, message: `${message}; there are more like it` });
  }

  #put(path: string, raw: RawEntry): void {
    const { name: _name, ...data } = raw;
    this.entries.set(path, { path, data });
  }

  /** Undefined for folders and for names that are not safe. */
  #pathOf(raw: RawEntry): string | undefined {
    const { name, path, otherPath } = readEntryName(raw.name);
    if (path === undefined) {
      const message = `The entry ${JSON.stringify(name)} is ignored: its name leads out of the package or is no name`;
      this.#tell('entry_unsafe', name, message);
      return undefined;
    }
    if (path !== '' && otherPath !== undefined) this.otherNames.set(otherPath, path);
    return path === '' ? undefined : path;
  }
}
