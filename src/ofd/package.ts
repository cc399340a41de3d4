/** An OFD package: the parts of a ZIP by path, read lazily, tolerant of damage and deaf to bombs. */
import type { Report } from '../display/list.js';
import type { OfdLimits } from './limits.js';
import type { PartNames } from './location.js';
import type { XmlElement } from './xml.js';

/**
 * Paths are those of the entries, '/' between segments, without leading slash. The methods that read a part throw
 * OfdError('too_large') where it proves to be a bomb, and nothing else; all other trouble is a diagnostic naming the
 * part, given once.
 */
export class OfdPackage implements PartNames {
  readonly limits: OfdLimits;
  readonly report: Report;

  private constructor(limits: OfdLimits, report: Report) {
    this.limits = limits;
    this.report = report;
  }

  /**
   * Reads the directory of a ZIP held in memory; `bytes` must stay as it is while the package is in use.
   * Throws OfdError: not_ofd (no ZIP, or no OFD.xml in it), corrupt, encrypted, too_large.
   */
  static async open(_bytes: Uint8Array, limits: OfdLimits, report: Report): Promise<OfdPackage> {
    return new OfdPackage(limits, report);
  }

  /** Whether there is an entry of exactly this path. */
  has(_path: string): boolean {
    throw new Error('not written');
  }

  /**
   * The content of an entry; undefined (no diagnostic) where there is none, undefined with a diagnostic where nothing
   * of it can be read. The same object as long as anyone holds it.
   */
  bytes(_path: string): Uint8Array | undefined {
    throw new Error('not written');
  }

  /** The tree of an XML part, parsed anew at each call; undefined with a diagnostic where missing or unreadable. */
  xml(_path: string): XmlElement | undefined {
    throw new Error('not written');
  }

  /**
   * The path of the entry that a location means, or undefined. Looks in `baseFolder` (the folder of the part that holds
   * the location), in `otherFolders`, in the root; as written, percent-decoded, without regard to case.
   */
  resolve(_location: string, _baseFolder: string, ..._otherFolders: readonly string[]): string | undefined {
    throw new Error('not written');
  }

  /** Paths of all entries that are files, in the order of the directory. */
  names(): readonly string[] {
    throw new Error('not written');
  }

  findIgnoringCase(_path: string): string | undefined {
    throw new Error('not written');
  }

  findByBaseName(_baseName: string): string | undefined {
    throw new Error('not written');
  }
}
