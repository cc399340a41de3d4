/** The directory of a ZIP file held in memory: by its central directory, else by what the local headers still say. */
import type { Report } from '../display/list.js';
import { OfdError } from './error.js';
import type { OfdLimits } from './limits.js';
import { type CentralDirectory, readCentralDirectory } from './zip-central.js';
import { bufferOf, type RawEntry, scanLocalHeaders } from './zip-headers.js';
import { readEntryName } from './zip-name.js';

const ROOT_PART = 'ofd.xml';
/** Names given in one message. */
const NAMES_SHOWN = 5;
/** No deflated byte becomes more; a directory that declares more is wrong. */
const MAX_DEFLATE_RATIO = 1032;
/** Entries reported one by one for the same fault. */
const MAX_REPORTS = 20;

/** One file in the package. */
export interface ZipEntry {
  /** '/' between segments, no leading slash, no '.' or '..'. */
  readonly path: string;
  /** Packed data: `start` to `end` in the bytes that `ZipDirectory` carries. */
  readonly data: Omit<RawEntry, 'name' | 'isUtf8Claimed'>;
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
  if (!looksLikeZip(input)) {
    throw new OfdError('not_ofd', `Not an OFD file: ${describeStart(input)}, not a ZIP package`);
  }
  const central = await readCentralDirectory(input, (count) => checkCount(count, limits));
  const bytes = central?.bytes ?? input;
  const builder = new DirectoryBuilder(report);
  if (central !== undefined) addCentral(builder, central, report);
  let isDamaged = central === undefined || central.lost.length > 0;
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
  const buffer = bufferOf(input);
  return buffer.includes('PK\x03\x04', 0, 'latin1') || buffer.includes('PK\x05\x06', 0, 'latin1');
}

function describeStart(input: Uint8Array): string {
  if (input.length === 0) return 'the file is empty';
  const head = bufferOf(input.subarray(0, 8)).toString('latin1');
  if (head.startsWith('%PDF')) return 'the file is a PDF';
  return `the file (${input.length} bytes) starts with ${JSON.stringify(head.replace(/[^\x20-\x7e]/g, '.'))}`;
}

function checkCount(count: number, limits: OfdLimits): void {
  if (count <= limits.maxEntries) return;
  throw new OfdError('too_large', `The package has more than ${limits.maxEntries} entries`);
}

function checkTotal(entries: Iterable<ZipEntry>, limits: OfdLimits): void {
  let total = 0;
  for (const { data } of entries) total += Math.min(data.sizeBytes, (data.end - data.start) * MAX_DEFLATE_RATIO);
  if (total <= limits.maxTotalBytes) return;
  throw new OfdError('too_large', `The package unpacks to ${total} bytes; at most ${limits.maxTotalBytes} are allowed`);
}

function reportRecovery(report: Report, count: number): void {
  report({
    code: 'zip_recovered',
    message: `The directory of the ZIP package is damaged; ${count} entries were found by their own headers`,
  });
}

function addCentral(builder: DirectoryBuilder, central: CentralDirectory, report: Report): void {
  for (const entry of central.entries) builder.add(entry);
  for (const entry of central.repaired) builder.tellRepaired(entry);
  for (const entry of central.renamed) builder.addAlias(entry);
  if (central.lost.length === 0) return;
  const names = central.lost.slice(0, NAMES_SHOWN).map((raw) => readEntryName(raw, false).name);
  const message = `The ZIP directory points to nothing for ${central.lost.length} entries: ${names.join(', ')}`;
  report({ code: 'zip_recovered', message });
}

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
    const { path } = readEntryName(raw.name, raw.isUtf8Claimed);
    if (path === undefined || path === '' || this.entries.has(path)) return;
    this.#put(path, raw);
    this.#tell('zip_recovered', path, `The ZIP directory has another name for ${path}; its local header has this one`);
  }

  /** An entry whose method only its local header knows. */
  tellRepaired(raw: RawEntry): void {
    const { name } = readEntryName(raw.name, raw.isUtf8Claimed);
    this.#tell('zip_recovered', name, `The ZIP directory has a wrong compression method for ${name}`);
  }

  /** Reports the first few of a kind: a directory may have tens of thousands. */
  #tell(code: string, part: string, message: string): void {
    const count = (this.#reported.get(code) ?? 0) + 1;
    this.#reported.set(code, count);
    if (count <= MAX_REPORTS) this.#report({ code, part, message });
    else if (count === MAX_REPORTS + 1) this.#report({ code, message: `${message}; there are more like it` });
  }

  #put(path: string, raw: RawEntry): void {
    const { name: _name, isUtf8Claimed: _isUtf8Claimed, ...data } = raw;
    this.entries.set(path, { path, data });
  }

  /** Undefined for folders and for names that are not safe. */
  #pathOf(raw: RawEntry): string | undefined {
    const { name, path, otherPath } = readEntryName(raw.name, raw.isUtf8Claimed);
    if (path === undefined) {
      const message = `The entry ${JSON.stringify(name)} is ignored: its name leads out of the package or is no name`;
      this.#tell('entry_unsafe', name, message);
      return undefined;
    }
    if (path !== '' && otherPath !== undefined) this.otherNames.set(otherPath, path);
    return path === '' ? undefined : path;
  }
}
