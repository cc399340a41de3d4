/**
 * The text and the encrypted part of a Type 1 font (PFA or PFB): names, matrix, subroutines, charstrings. A tolerant
 * scan for the few keys that count, not a PostScript interpreter.
 */
import { latin1 } from './bytes.js';

const EEXEC_KEY = 55665;
const CHARSTRING_KEY = 4330;
const MAX_GLYPHS = 65_535;
const MAX_SUBRS = 65_535;

export interface Type1Program {
  readonly fontName: string;
  readonly familyName: string;
  readonly fullName: string;
  readonly weight: string;
  readonly italicAngle: number;
  readonly isFixedPitch: boolean;
  readonly fontMatrix: readonly number[] | undefined;
  /** Decrypted charstrings in the order of the file, .notdef put first as other readers do. */
  readonly glyphNames: readonly string[];
  readonly charStrings: readonly Uint8Array[];
  /** Glyph ids by the codes of an Encoding of the font's own. */
  readonly glyphOfCode: ReadonlyMap<number, number>;
  readonly subrs: readonly (Uint8Array | undefined)[];
}

/** Reads a Type 1 font; undefined where it has no charstrings. */
export function readType1(file: Uint8Array): Type1Program | undefined {
  const bytes = withoutSegmentHeaders(file);
  const eexecAt = indexOf(bytes, 'eexec', 0);
  const clear = latin1(bytes, 0, Math.min(eexecAt < 0 ? bytes.length : eexecAt, 1 << 18));
  const secret = eexecAt < 0 ? bytes : decryptEexec(bytes, eexecAt + 5);
  const scan = new SecretScan(secret);
  if (scan.charStrings.size === 0) return undefined;
  const names = [...scan.charStrings.keys()];
  const notdef = names.indexOf('.notdef');
  if (notdef > 0) [names[0], names[notdef]] = [names[notdef]!, names[0]!];
  return {
    fontName: /\/FontName\s*\/([^\s/[\]{}()<>]+)/.exec(clear)?.[1] ?? '',
    familyName: parenthesised(clear, 'FamilyName'),
    fullName: parenthesised(clear, 'FullName'),
    weight: parenthesised(clear, 'Weight'),
    italicAngle: Number.parseFloat(/\/ItalicAngle\s+(-?[\d.]+)/.exec(clear)?.[1] ?? '0') || 0,
    isFixedPitch: /\/isFixedPitch\s+true/.test(clear),
    fontMatrix: readMatrix(clear),
    glyphNames: names,
    charStrings: names.map((name) => scan.charStrings.get(name)!),
    glyphOfCode: readEncoding(clear, names),
    subrs: scan.subrs,
  };
}

/** `dup 65 /A put` lines; subsets name their glyphs G01, G02 … and are told apart by code alone. */
function readEncoding(text: string, names: readonly string[]): Map<number, number> {
  const glyphOfName = new Map(names.map((name, i) => [name, i]));
  const glyphOfCode = new Map<number, number>();
  for (const [, code, name] of text.matchAll(/dup\s{1,8}(\d{1,3})\s{0,8}\/([^\s/]{1,100})\s{1,8}put/g)) {
    const glyphId = glyphOfName.get(name!);
    if (glyphId !== undefined) glyphOfCode.set(Number(code), glyphId);
  }
  return glyphOfCode;
}

function parenthesised(text: string, key: string): string {
  return new RegExp(`/${key}\\s*\\(([^()]{0,200})\\)`).exec(text)?.[1] ?? '';
}

function readMatrix(text: string): number[] | undefined {
  const numbers = /\/FontMatrix\s*[[{]([^\]}]{0,200})/.exec(text)?.[1]?.trim().split(/\s+/).map(Number.parseFloat);
  return numbers?.length === 6 && numbers.every(Number.isFinite) ? numbers : undefined;
}

/** The sections of a PFB, one after the other. */
function withoutSegmentHeaders(file: Uint8Array): Uint8Array {
  if (file[0] !== 0x80) return file;
  const parts: Uint8Array[] = [];
  let at = 0;
  while (file[at] === 0x80 && (file[at + 1] === 1 || file[at + 1] === 2)) {
    const length = file[at + 2]! + file[at + 3]! * 0x100 + file[at + 4]! * 0x10000 + file[at + 5]! * 0x1000000;
    if (!(length > 0)) break;
    parts.push(file.subarray(at + 6, at + 6 + length));
    at += 6 + length;
  }
  return Buffer.concat(parts);
}

function indexOf(bytes: Uint8Array, text: string, from: number): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(text, from, 'latin1');
}

function decryptEexec(bytes: Uint8Array, after: number): Uint8Array {
  let start = after;
  while (isBlank(bytes[start]) && start < after + 8) start++;
  const isHex = [0, 1, 2, 3].every((i) => hexValue(bytes[start + i]) >= 0);
  const cipher = isHex ? fromHex(bytes.subarray(start)) : bytes.subarray(start);
  return decrypt(cipher, EEXEC_KEY, 4);
}

function fromHex(text: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(text.length >> 1);
  let length = 0;
  let high = -1;
  for (const character of text) {
    const value = hexValue(character);
    if (value < 0 && isBlank(character)) continue;
    if (value < 0) break;
    if (high < 0) high = value;
    else {
      bytes[length++] = high * 16 + value;
      high = -1;
    }
  }
  return bytes.subarray(0, length);
}

function hexValue(b: number | undefined): number {
  if (b === undefined) return -1;
  if (b >= 48 && b <= 57) return b - 48;
  const letter = b | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function isBlank(b: number | undefined): boolean {
  return b === 32 || b === 9 || b === 10 || b === 13;
}

function decrypt(cipher: Uint8Array, key: number, skip: number): Uint8Array {
  const plain = new Uint8Array(cipher.length);
  let r = key;
  for (let i = 0; i < cipher.length; i++) {
    const c = cipher[i]!;
    plain[i] = c ^ (r >> 8);
    r = ((c + r) * 52845 + 22719) & 0xffff;
  }
  return plain.subarray(Math.min(skip, plain.length));
}

/** Finds `/lenIV`, `/Subrs` and `/CharStrings` in the decrypted part. */
class SecretScan {
  readonly charStrings = new Map<string, Uint8Array>();
  readonly subrs: (Uint8Array | undefined)[] = [];
  readonly #bytes: Uint8Array;
  readonly #skip: number;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    const lenIvAt = indexOf(bytes, '/lenIV', 0);
    const lenIv = lenIvAt < 0 ? 4 : Number.parseInt(latin1(bytes, lenIvAt + 6, lenIvAt + 14), 10);
    this.#skip = Number.isNaN(lenIv) ? 4 : lenIv;
    const charStringsAt = indexOf(bytes, '/CharStrings', 0);
    const subrsAt = indexOf(bytes, '/Subrs', 0);
    if (subrsAt >= 0) this.#readSubrs(subrsAt + 6, charStringsAt < subrsAt ? bytes.length : charStringsAt);
    let at = charStringsAt;
    // The key may be named before the dictionary itself stands.
    for (let tries = 0; tries < 4 && at >= 0 && this.charStrings.size === 0; tries++) {
      this.#readCharStrings(at + 12);
      at = indexOf(bytes, '/CharStrings', at + 12);
    }
  }

  /** dup index length RD bytes NP … */
  #readSubrs(from: number, end: number): void {
    this.#at = from;
    while (this.#at < end) {
      if (this.#token() !== 'dup') continue;
      const index = Number.parseInt(this.#token(), 10);
      const bytes = this.#binary(Number.parseInt(this.#token(), 10));
      if (bytes !== undefined && index >= 0 && index < MAX_SUBRS) this.subrs[index] = bytes;
    }
  }

  /** /name length RD bytes ND … end */
  #readCharStrings(from: number): void {
    this.#at = from;
    while (this.#at < this.#bytes.length && this.charStrings.size < MAX_GLYPHS) {
      const token = this.#token();
      if (token === 'end' && this.charStrings.size > 0) return;
      if (!token.startsWith('/')) continue;
      const before = this.#at;
      const bytes = this.#binary(Number.parseInt(this.#token(), 10));
      if (bytes === undefined) this.#at = before;
      else if (!this.charStrings.has(token.slice(1))) this.charStrings.set(token.slice(1), bytes);
    }
  }

  /** The bytes after `RD` or `-|` and exactly one blank. */
  #binary(length: number): Uint8Array | undefined {
    if (!(length >= 0 && length <= 65_535)) return undefined;
    this.#token();
    const start = this.#at + 1;
    if (start + length > this.#bytes.length) return undefined;
    this.#at = start + length;
    const cipher = this.#bytes.subarray(start, start + length);
    return this.#skip < 0 ? cipher : decrypt(cipher, CHARSTRING_KEY, this.#skip);
  }

  #token(): string {
    const bytes = this.#bytes;
    while (this.#at < bytes.length && isBlank(bytes[this.#at])) this.#at++;
    const start = this.#at++;
    while (this.#at < bytes.length && !isBlank(bytes[this.#at]) && !isDelimiter(bytes[this.#at]!)) this.#at++;
    return latin1(bytes, start, Math.min(this.#at, start + 128));
  }
}

function isDelimiter(b: number): boolean {
  return b === 47 || b === 91 || b === 93 || b === 123 || b === 125 || b === 40;
}
