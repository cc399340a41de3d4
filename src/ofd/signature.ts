/** What the electronic seals of a document look like and where they stand. Nothing is verified here. */
import type { Box } from '../display/geometry.js';
import type { Report } from '../display/list.js';
import { folderOf } from './location.js';
import type { OfdPackage } from './package.js';
import { asSealPicture, findSealPicture, type SealPicture } from './seal-picture.js';
import type { XmlElement } from './xml.js';

/** One place of a seal. */
export interface SealStamp {
  /** ID of the page, trimmed. */
  readonly pageRef: string;
  /** Where the whole picture goes, in page millimetres: it is stretched to this box. */
  readonly boundary: Box;
  /** The part of it that shows, in millimetres from the top left corner of `boundary`; absent: all. */
  readonly clip?: Box;
}

export interface Seal extends SealPicture {
  /** ID of the signature in Signatures.xml; '' where it has none. */
  readonly signatureId: string;
  /** The picture's file: for `ofd` the bytes from the ZIP header on. Equal pictures are the same object. */
  readonly picture: Uint8Array;
  /** Sniffed from the content: png, jpeg, gif, bmp, svg, ofd …; what the seal claims, in lower case, where unknown. */
  readonly pictureType: string;
  readonly stamps: readonly SealStamp[];
  readonly sealName?: string;
  /** Path of the part that the picture was found in, for warnings. */
  readonly part: string;
}

/**
 * The seals of one document, in the order of the list. A signature without a stamp, or a plain signature (Type="Sign")
 * without a picture, gives none. A damaged one gives a diagnostic (`seal_unreadable`, `part_missing`) and does not stop
 * the others.
 *
 * @param signaturesPath path of Signatures.xml (resolved)
 */
export function readSeals(pkg: OfdPackage, signaturesPath: string, report: Report): Seal[] {
  const list = pkg.xml(signaturesPath)?.childrenNamed('Signature') ?? [];
  const { maxSignatures } = pkg.limits;
  if (list.length > maxSignatures) {
    const message = `${list.length} signatures are listed; the first ${maxSignatures} are looked at`;
    report({ code: 'signatures_cut', part: signaturesPath, message });
  }
  const seals: Seal[] = [];
  const reading: Reading = { pkg, listPath: signaturesPath, seen: new Set(), stampsLeft: pkg.limits.maxStamps, report };
  for (const entry of list.slice(0, maxSignatures)) {
    const seal = readSeal(entry, reading);
    if (seal !== undefined) seals.push(withSharedPicture(seal, seals));
    if (reading.stampsLeft < 0) break;
  }
  return seals;
}

/** What reading a list goes by. */
interface Reading {
  readonly pkg: OfdPackage;
  readonly listPath: string;
  /** Parts read so far: an entry that names one of them again says nothing new. */
  readonly seen: Set<string>;
  /** Below 0 when some had to be left out. */
  stampsLeft: number;
  readonly report: Report;
}

/** The object of an earlier seal with the same picture: whoever draws keeps one picture an object. */
function withSharedPicture(seal: Seal, earlier: readonly Seal[]): Seal {
  const same = earlier.find(({ picture }) => Buffer.compare(picture, seal.picture) === 0);
  return same === undefined ? seal : { ...seal, picture: same.picture };
}

function readSeal(entry: XmlElement, reading: Reading): Seal | undefined {
  const { pkg, listPath, seen, report } = reading;
  const signatureId = entry.id('ID') ?? '';
  const location = entry.attribute('BaseLoc') ?? entry.text;
  const path = location.trim() === '' ? undefined : pkg.resolve(location, folderOf(listPath));
  if (path === undefined) {
    const message = `The signature ${signatureId} names a part ${location.trim()} that the package does not have`;
    report({ code: 'part_missing', part: location.trim(), message });
    return undefined;
  }
  if (seen.has(path)) return undefined;
  seen.add(path);
  const signature = pkg.xml(path);
  if (signature === undefined) return undefined;
  const stamps = readStamps(signature, path, reading);
  if (stamps.length === 0) return undefined;
  const faults: string[] = [];
  const found = findPicture(pkg, signature, path, faults);
  if (found !== undefined) return { signatureId, stamps, ...found };
  const isPlain = entry.id('Type')?.toLowerCase() === 'sign';
  if (!isPlain) {
    const message = `The seal of signature ${signatureId} (${path}) is not shown: ${faults.join('; ')}`;
    report({ code: 'seal_unreadable', part: path, message });
  }
  return undefined;
}

function readStamps(signature: XmlElement, part: string, reading: Reading): SealStamp[] {
  const { report } = reading;
  const stamps: SealStamp[] = [];
  for (const element of descendantsNamed(signature, 'StampAnnot')) {
    if (--reading.stampsLeft < 0) {
      const message = `The signatures have more than ${reading.pkg.limits.maxStamps} stamps; the rest is not shown`;
      report({ code: 'signatures_cut', part, message });
      break;
    }
    const pageRef = element.id('PageRef');
    const boundary = element.box('Boundary');
    if (pageRef === undefined || boundary === undefined) {
      const message = `${part}: the stamp ${element.id('ID') ?? ''} has no page or no place and is not shown`;
      report({ code: 'stamp_invalid', part, message });
      continue;
    }
    const clip = element.box('Clip');
    const isUsable = clip !== undefined && clip.width > 0 && clip.height > 0;
    stamps.push({ pageRef, boundary, ...(isUsable ? { clip } : {}) });
  }
  return stamps;
}

interface FoundPicture extends SealPicture {
  readonly part: string;
}

/** In the signature's value, else in the seal's own file, else as a picture file. */
function findPicture(pkg: OfdPackage, signature: XmlElement, path: string, faults: string[]): FoundPicture | undefined {
  const seal = descendantsNamed(signature, 'Seal')[0];
  const value = descendantsNamed(signature, 'SignedValue')[0]?.text.trim() || 'SignedValue.dat';
  const sources: readonly (readonly [string | undefined, (bytes: Uint8Array, name: string) => SealPicture | string])[] =
    [
      [value, findSealPicture],
      [seal?.childText('BaseLoc') || undefined, findSealPicture],
      [seal?.childText('ImageLoc') || undefined, pictureFile],
    ];
  for (const [location, read] of sources) {
    if (location === undefined) continue;
    const part = pkg.resolve(location, folderOf(path));
    const bytes = part === undefined ? undefined : pkg.bytes(part);
    const found = part === undefined || bytes === undefined ? 'missing or unreadable' : read(bytes, part);
    if (typeof found !== 'string' && part !== undefined) return { ...found, part };
    faults.push(`${part ?? location}: ${found}`);
  }
  return undefined;
}

function pictureFile(bytes: Uint8Array, name: string): SealPicture | string {
  return asSealPicture(bytes, name.slice(name.lastIndexOf('.') + 1)) ?? 'it is no picture';
}

/** In document order; producers put these elements one level up or down. */
export function descendantsNamed(element: XmlElement, name: string): XmlElement[] {
  return element.children.flatMap((child) => (child.name === name ? [child] : descendantsNamed(child, name)));
}
