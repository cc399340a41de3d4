/** An OFD package: the parts of a ZIP by path, read lazily, tolerant of damage and deaf to bombs. */
import type { Report } from '../display/list.js';
import { OfdError } from './error.js';
import type { OfdLimits } from './limits.js';
import { folderOf, type PartNames, resolveLocation } from './location.js';
import { replacementRoot } from './package-root.js';
import { parseXml, type XmlElement } from './xml.js';
import { readZip, type ZipDirectory, type ZipEntry } from './zip.js';
import { readEntryContent, TooManyBytes } from './zip-inflate.js';

/** Parts kept inflated beyond the use of their readers; a page's pictures are asked for again by the next page. */
const KEPT_BYTES = 32 * 1024 * 1024;
const ROOT_PART = 'OFD.xml';
const ENCRYPTION_PART = 'Encryptions.xml';

/**
 * Paths are those of the entries, '/' between segments, without leading slash. The methods that read a part throw
 * OfdError('too_large') where it proves to be a bomb, and nothing else; all other trouble is a diagnostic that names the
 * part, given once.
 */
export class OfdPackage implements PartNames {
  readonly limits: OfdLimits;
  readonly report: Report;
  /** Some part is encrypted: what is missing may be there for who has the key. */
  readonly isEncrypted: boolean;
  /** The ZIP directory was not whole: a part that is not there may have been. */
  readonly isDamaged: boolean;
  readonly #bytes: Uint8Array;
  readonly #entries: ReadonlyMap<string, ZipEntry>;
  readonly #names: NameIndex;
  /** Parts that stand in for lost ones. */
  readonly #made = new Map<string, Uint8Array>();
  readonly #kept = new Map<string, Uint8Array>();
  readonly #held = new Map<string, WeakRef<Uint8Array>>();
  readonly #unreadable = new Set<string>();
  readonly #truncated = new Set<string>();
  readonly #counted = new Set<string>();
  #keptBytes = 0;
  #inflatedBytes = 0;

  private constructor(directory: ZipDirectory, limits: OfdLimits, report: Report) {
    this.limits = limits;
    this.report = report;
    this.isDamaged = directory.isDamaged;
    this.#bytes = directory.bytes;
    this.#entries = directory.entries;
    this.#names = new NameIndex(directory);
    const isAnyEncrypted = [...directory.entries.values()].some((entry) => entry.data.isEncrypted);
    this.isEncrypted = isAnyEncrypted || this.#names.ignoringCase(ENCRYPTION_PART) !== undefined;
  }

  /**
   * Reads the directory of a ZIP held in memory; `bytes` must stay as it is while the package is in use. Where damage
   * took OFD.xml, one that names the documents left takes its place.
   * Throws OfdError: not_ofd (no ZIP, or no OFD.xml in it), corrupt, encrypted, too_large.
   */
  static async open(bytes: Uint8Array, limits: OfdLimits, report: Report): Promise<OfdPackage> {
    const reportOnce = withoutRepeats(report);
    const directory = rerooted(await readZip(bytes, limits, reportOnce), reportOnce);
    const pkg = new OfdPackage(directory, limits, reportOnce);
    const rootPath = pkg.findIgnoringCase(ROOT_PART);
    if (rootPath !== undefined && pkg.bytes(rootPath) !== undefined) return pkg;
    if (rootPath === undefined && !directory.isDamaged) throw pkg.#withoutRoot();
    const root = replacementRoot(pkg);
    if (root === undefined) throw rootPath === undefined ? pkg.#withoutRoot(true) : pkg.#withUnreadableRoot(rootPath);
    pkg.#made.set(ROOT_PART, root);
    const message = `${ROOT_PART} is lost; the documents found in the package are shown`;
    reportOnce({ code: 'zip_recovered', part: ROOT_PART, message });
    return pkg;
  }

  #withoutRoot(isDamaged = false): OfdError {
    if (this.isEncrypted) return new OfdError('encrypted', `The package is encrypted and has no ${ROOT_PART} in plain`);
    if (isDamaged) return new OfdError('corrupt', `The ZIP package is damaged and its ${ROOT_PART} is lost`);
    const count = this.#entries.size;
    return new OfdError('not_ofd', `Not an OFD file: the ZIP package has no ${ROOT_PART} among its ${count} entries`);
  }

  #withUnreadableRoot(path: string): OfdError {
    if (this.isEncrypted) return new OfdError('encrypted', `The package is encrypted: ${path} cannot be read`);
    const reason = this.#inflate(this.#entries.get(path)!).fault?.reason ?? 'it cannot be read';
    return new OfdError('corrupt', `The package is damaged: ${path}: ${reason}`);
  }

  /** Whether there is an entry of exactly this path. */
  has(path: string): boolean {
    return this.#entries.has(path) || this.#made.has(path);
  }

  /**
   * The content of an entry; undefined (no diagnostic) where there is none, undefined with a diagnostic where nothing
   * of it can be read. The same object as long as anyone holds it. Not to be written to.
   */
  bytes(path: string): Uint8Array | undefined {
    const known = this.#known(path);
    if (known !== undefined) return known;
    const content = this.#read(path);
    if (content !== undefined) this.#keep(path, content);
    return content;
  }

  /** The tree of an XML part, parsed anew at each call; undefined with a diagnostic where missing or unreadable. */
  xml(path: string): XmlElement | undefined {
    if (!this.has(path)) {
      this.report({ code: 'part_missing', part: path, message: `The package has no part ${path}` });
      return undefined;
    }
    const content = this.#known(path) ?? this.#read(path);
    const root = content === undefined ? undefined : parseXml(content, path, this.limits, this.report);
    if (root === undefined || !this.#truncated.has(path) || root.children.length > 0) return root;
    this.report({ code: 'part_corrupt', part: path, message: `${path}: nothing in it is left` });
    return undefined;
  }

  /**
   * The path of the entry that a location means, or undefined. Looks in `baseFolder` (the folder of the part that holds
   * the location), in `otherFolders`, in the root; as written, percent-decoded, without regard to case.
   */
  resolve(location: string, baseFolder: string, ...otherFolders: readonly string[]): string | undefined {
    return resolveLocation(this, location, [baseFolder, ...otherFolders]);
  }

  /** Paths of all entries that are files, in the order of the directory. */
  names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  findIgnoringCase(path: string): string | undefined {
    return this.#names.ignoringCase(path);
  }

  findByBaseName(baseName: string): string | undefined {
    return this.#names.byBaseName(baseName);
  }

  #known(path: string): Uint8Array | undefined {
    const made = this.#made.get(path);
    if (made !== undefined) return made;
    const kept = this.#kept.get(path);
    if (kept === undefined) return this.#held.get(path)?.deref();
    // Moved to the end: the first is the one not used for longest.
    this.#kept.delete(path);
    this.#kept.set(path, kept);
    return kept;
  }

  #keep(path: string, content: Uint8Array): void {
    this.#held.set(path, new WeakRef(content));
    if (content.length > KEPT_BYTES) return;
    this.#kept.set(path, content);
    this.#keptBytes += content.length;
    for (const [oldest, bytes] of this.#kept) {
      if (this.#keptBytes <= KEPT_BYTES) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= bytes.length;
    }
  }

  #read(path: string): Uint8Array | undefined {
    const entry = this.#entries.get(path);
    if (entry === undefined || this.#unreadable.has(path)) return undefined;
    const { content, fault } = this.#inflate(entry);
    if (fault !== undefined) this.report({ code: fault.code, part: path, message: `${path}: ${fault.reason}` });
    if (fault?.code === 'part_truncated') this.#truncated.add(path);
    if (content === undefined) this.#unreadable.add(path);
    else this.#count(path, content.length);
    return content;
  }

  #inflate(entry: ZipEntry) {
    const { start, end } = entry.data;
    const { limits } = this;
    const byRatio = Math.max(limits.ratioFreeBytes, (end - start) * limits.maxRatio);
    const maxBytes = Math.min(limits.maxEntryBytes, byRatio);
    try {
      return readEntryContent(this.#bytes.subarray(start, end), entry.data, maxBytes);
    } catch (error) {
      if (!(error instanceof TooManyBytes)) throw error;
      throw new OfdError('too_large', `${entry.path} unpacks from ${end - start} bytes to more than ${maxBytes}`);
    }
  }

  /** Each part counts once, however often it is read. */
  #count(path: string, sizeBytes: number): void {
    if (this.#counted.has(path)) return;
    const { maxTotalBytes } = this.limits;
    if (this.#inflatedBytes + sizeBytes > maxTotalBytes) {
      throw new OfdError('too_large', `The parts up to ${path} unpack to more than ${maxTotalBytes} bytes`);
    }
    this.#counted.add(path);
    this.#inflatedBytes += sizeBytes;
  }
}

/** Lookups that forgive: case, blanks around segments, composed characters, an unclear encoding of the name. */
class NameIndex {
  readonly #directory: ZipDirectory;
  #folded: Map<string, string> | undefined;
  #baseNames: Map<string, string | undefined> | undefined;

  constructor(directory: ZipDirectory) {
    this.#directory = directory;
  }

  ignoringCase(path: string): string | undefined {
    this.#folded ??= this.#fold();
    return this.#folded.get(foldPath(path));
  }

  byBaseName(baseName: string): string | undefined {
    this.#baseNames ??= this.#collectBaseNames();
    return this.#baseNames.get(foldPath(baseName));
  }

  #fold(): Map<string, string> {
    const folded = new Map<string, string>();
    const add = (name: string, path: string): void => {
      const key = foldPath(name);
      if (!folded.has(key)) folded.set(key, path);
    };
    for (const path of this.#directory.entries.keys()) add(path, path);
    for (const [name, path] of this.#directory.otherNames) add(name, path);
    return folded;
  }

  /** A name that several entries have is there without a path. */
  #collectBaseNames(): Map<string, string | undefined> {
    const found = new Map<string, string | undefined>();
    for (const path of this.#directory.entries.keys()) {
      const key = foldPath(path.slice(path.lastIndexOf('/') + 1));
      found.set(key, found.has(key) ? undefined : path);
    }
    return found;
  }
}

function foldPath(path: string): string {
  return path
    .toLowerCase()
    .normalize('NFC')
    .split('/')
    .map((name) => name.trim())
    .join('/');
}

/** A package that was packed with the folder around it, with that folder taken for the root. */
function rerooted(directory: ZipDirectory, report: Report): ZipDirectory {
  const roots = [...directory.entries.keys()].filter((path) => /(^|\/)ofd\.xml$/i.test(path));
  const folder = roots.length === 1 ? folderOf(roots[0]!) : '';
  if (folder === '') return directory;
  const inside = `${folder}/`;
  const cut = (path: string): string => (path.startsWith(inside) ? path.slice(inside.length) : path);
  const entries = new Map<string, ZipEntry>();
  for (const { path, data } of directory.entries.values()) entries.set(cut(path), { path: cut(path), data });
  const otherNames = new Map<string, string>();
  for (const [name, path] of directory.otherNames) otherNames.set(cut(name), cut(path));
  report({
    code: 'zip_recovered',
    part: roots[0]!,
    message: `The folder ${folder} is taken for the root of the package`,
  });
  return { ...directory, entries, otherNames };
}

function withoutRepeats(report: Report): Report {
  const seen = new Set<string>();
  return (diagnostic) => {
    const key = JSON.stringify([diagnostic.code, diagnostic.part, diagnostic.message, diagnostic.page]);
    if (seen.has(key)) return;
    seen.add(key);
    report(diagnostic);
  };
}
