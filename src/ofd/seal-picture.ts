/** The picture inside the bytes of an electronic seal, whichever generation of the standard they follow. */
import {
  BerError,
  type BerValue,
  berOctets,
  berString,
  readBer,
  TAG_INTEGER,
  TAG_OCTET_STRING,
  TAG_SEQUENCE,
} from './asn1.js';
import { factLine } from './fact-text.js';
import { bufferOf } from './zip-headers.js';

export interface SealPicture {
  readonly picture: Uint8Array;
  /** Sniffed; what the seal claims, in lower case, where the content is unknown. */
  readonly pictureType: string;
  readonly sealName?: string;
}

/** Seals packed into an OCTET STRING of something else (a CMS content): how many shells are opened. */
const MAX_SHELLS = 3;
const SEQUENCE_BYTE = 0x30;

/**
 * Looks for `SES_SealInfo` by its shape — header, name, properties, then a sequence of type, octets, width, height — in
 * a signature (v1, v4 and later differ only around it) or a bare seal. Returns what is wrong as text where there is none.
 */
export function findSealPicture(bytes: Uint8Array): SealPicture | string {
  try {
    return searchBytes(bytes, 0) ?? 'it holds no picture';
  } catch (error) {
    if (error instanceof BerError) return error.message;
    throw error;
  }
}

/** The picture of `bytes` themselves, as `Seal/ImageLoc` names it. */
export function asSealPicture(bytes: Uint8Array, claimedType: string): SealPicture | undefined {
  const claim = claimedType.replace(/[\s\0]/g, '').toLowerCase();
  const packed = claim === 'ofd' ? startOfZip(bytes) : 0;
  const picture = bytes.subarray(packed);
  const pictureType = sniffPicture(picture) ?? claim;
  return picture.length === 0 || pictureType === '' ? undefined : { picture, pictureType };
}

function searchBytes(bytes: Uint8Array, shells: number): SealPicture | undefined {
  const root = readBer(bytes);
  return searchValue(root) ?? (shells < MAX_SHELLS ? searchShells(root, shells) : undefined);
}

function searchValue(value: BerValue): SealPicture | undefined {
  const { children } = value;
  for (let i = 0; i < children.length; i++) {
    const found = pictureOf(children[i]!);
    if (found === undefined) continue;
    const name = nameBefore(children, i);
    return name === undefined ? found : { ...found, sealName: name };
  }
  for (const child of children) {
    const found = searchValue(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `SEQUENCE { type, data, width, height }`: nothing else in a seal has octets between a string and an integer. */
function pictureOf(value: BerValue): SealPicture | undefined {
  const [type, data, width] = value.children;
  if (value.tag !== TAG_SEQUENCE || width?.tag !== TAG_INTEGER) return undefined;
  const claim = berString(type);
  const octets = berOctets(data);
  return claim === undefined || octets === undefined ? undefined : asSealPicture(octets, claim);
}

/** `SES_ESPropertyInfo` stands before the picture: `SEQUENCE { type INTEGER, name, … }`. */
function nameBefore(siblings: readonly BerValue[], index: number): string | undefined {
  for (let i = index - 1; i >= 0; i--) {
    const [type, name] = siblings[i]!.children;
    if (type?.tag === TAG_INTEGER) return factLine(berString(name) ?? '') || undefined;
  }
  return undefined;
}

function searchShells(value: BerValue, shells: number): SealPicture | undefined {
  const octets = value.tag === TAG_OCTET_STRING ? berOctets(value) : undefined;
  if (octets !== undefined && octets[0] === SEQUENCE_BYTE) {
    const found = trySearch(octets, shells + 1);
    if (found !== undefined) return found;
  }
  for (const child of value.children) {
    const found = searchShells(child, shells);
    if (found !== undefined) return found;
  }
  return undefined;
}

function trySearch(bytes: Uint8Array, shells: number): SealPicture | undefined {
  try {
    return searchBytes(bytes, shells);
  } catch (error) {
    if (error instanceof BerError) return undefined;
    throw error;
  }
}

/** Offset of the package in the picture of a vendor that writes bytes before it; 0 where there is none. */
function startOfZip(bytes: Uint8Array): number {
  return Math.max(0, bufferOf(bytes).indexOf('PK\x03\x04', 0, 'latin1'));
}

const MAGIC: readonly (readonly [string, string])[] = [
  ['\x89PNG', 'png'],
  ['\xff\xd8\xff', 'jpeg'],
  ['GIF8', 'gif'],
  ['BM', 'bmp'],
  ['PK\x03\x04', 'ofd'],
  ['II*\0', 'tiff'],
  ['MM\0*', 'tiff'],
  ['\x97JB2', 'jbig2'],
];

function sniffPicture(bytes: Uint8Array): string | undefined {
  const head = bufferOf(bytes.subarray(0, 1024)).toString('latin1');
  const known = MAGIC.find(([magic]) => head.startsWith(magic));
  if (known !== undefined) return known[1];
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'webp';
  return /^(\xef\xbb\xbf)?\s*</.test(head) && /<svg[\s>]/i.test(head) ? 'svg' : undefined;
}
