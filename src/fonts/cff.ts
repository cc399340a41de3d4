/**
 * Compact Font Format: indexes read by range, DICTs, charset, FDSelect, private data. Only the parts that drawing and
 * subsetting need; what is broken is taken as absent.
 */
import { latin1, u16, uintOfSize } from './bytes.js';
import { STANDARD_STRING_COUNT, standardString } from './glyph-names.js';
import { type FontSource, windowSource } from './source.js';

const MAX_FONT_DICTS = 256;
/** Subroutines are asked for over and over: their data are kept in blocks, read when first met. */
const BLOCK_BITS = 13;
const MAX_KEPT_BYTES = 2 << 20;

export const OP = {
  fullName: 2,
  familyName: 3,
  weight: 4,
  charset: 15,
  charStrings: 17,
  private: 18,
  subrs: 19,
  defaultWidth: 20,
  nominalWidth: 21,
  italicAngle: 0x0c02,
  isFixedPitch: 0x0c01,
  fontMatrix: 0x0c07,
  ros: 0x0c1e,
  fdArray: 0x0c24,
  fdSelect: 0x0c25,
} as const;

/** Items of an INDEX. The offsets are kept as they stand; items are read when asked for. */
export class CffIndex {
  readonly count: number;
  /** First byte after the index, counted like the offset it was opened at. */
  readonly end: number;
  readonly #source: FontSource;
  readonly #offsets: Uint8Array;
  readonly #offsetSize: number;
  readonly #dataStart: number;
  #blocks: (Uint8Array | undefined)[] | undefined;

  constructor(source: FontSource, at: number) {
    const header = source.read(at, 3);
    const declared = u16(header, 0);
    this.#offsetSize = header[2] ?? 0;
    this.#source = source;
    const isUsable = declared > 0 && this.#offsetSize >= 1 && this.#offsetSize <= 4;
    this.#offsets = isUsable ? source.read(at + 3, (declared + 1) * this.#offsetSize) : new Uint8Array(0);
    this.count = isUsable ? Math.max(0, Math.floor(this.#offsets.length / this.#offsetSize) - 1) : 0;
    this.#dataStart = at + 2 + (declared + 1) * this.#offsetSize;
    this.end = isUsable ? this.#dataStart + this.#offset(this.count) : at + 2;
  }

  /** Bytes of an item; empty where there is none. */
  item(i: number): Uint8Array {
    if (i < 0 || i >= this.count) return new Uint8Array(0);
    const start = this.#offset(i);
    const length = Math.min(this.#offset(i + 1) - start, 1 << 17);
    if (start < 1 || length <= 0) return new Uint8Array(0);
    const block = start >> BLOCK_BITS;
    if (this.#blocks === undefined || (start + length - 1) >> BLOCK_BITS !== block) {
      return this.#source.read(this.#dataStart + start, length);
    }
    const blockStart = block << BLOCK_BITS;
    const bytes = this.#blocks[block] ?? this.#source.read(this.#dataStart + blockStart, 1 << BLOCK_BITS);
    this.#blocks[block] = bytes;
    return bytes.subarray(start - blockStart, start - blockStart + length);
  }

  /** From now on keeps what it reads, where all of it is not too much. */
  keepingItems(): this {
    if (this.#offset(this.count) <= MAX_KEPT_BYTES) this.#blocks = [];
    return this;
  }

  #offset(i: number): number {
    return uintOfSize(this.#offsets, i * this.#offsetSize, this.#offsetSize);
  }
}

/** Operators of a DICT with their numbers; two-byte operators are 0x0c00 + second byte. */
export type CffDict = ReadonlyMap<number, readonly number[]>;

/** Reads a DICT. `eachEntry` sees every operator with the raw bytes of its operands. */
export function readDict(bytes: Uint8Array, eachEntry?: (operator: number, operands: Uint8Array) => void): CffDict {
  const dict = new Map<number, readonly number[]>();
  let operands: number[] = [];
  let entryStart = 0;
  let at = 0;
  while (at < bytes.length) {
    const b = bytes[at]!;
    if (b > 21) {
      const [value, next] = readDictNumber(bytes, at);
      if (value !== undefined && operands.length < 64) operands.push(value);
      at = next;
      continue;
    }
    const operator = b === 12 ? 0x0c00 | (bytes[at + 1] ?? 0) : b;
    if (!dict.has(operator)) {
      dict.set(operator, operands);
      eachEntry?.(operator, bytes.subarray(entryStart, at));
    }
    at += b === 12 ? 2 : 1;
    entryStart = at;
    operands = [];
  }
  return dict;
}

function readDictNumber(bytes: Uint8Array, at: number): [value: number | undefined, next: number] {
  const b = bytes[at]!;
  if (b === 28) return [(u16(bytes, at + 1) << 16) >> 16, at + 3];
  if (b === 29) return [(u16(bytes, at + 1) << 16) | u16(bytes, at + 3), at + 5];
  if (b === 30) return readDictReal(bytes, at + 1);
  if (b >= 32 && b <= 246) return [b - 139, at + 1];
  if (b >= 247 && b <= 250) return [(b - 247) * 256 + (bytes[at + 1] ?? 0) + 108, at + 2];
  if (b >= 251 && b <= 254) return [-(b - 251) * 256 - (bytes[at + 1] ?? 0) - 108, at + 2];
  return [undefined, at + 1];
}

const REAL_NIBBLES = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', 'E', 'E-', '', '-'];

function readDictReal(bytes: Uint8Array, start: number): [number, number] {
  let text = '';
  let at = start;
  while (at < bytes.length && text.length < 64) {
    const b = bytes[at++]!;
    if (b >> 4 === 15) break;
    text += REAL_NIBBLES[b >> 4]!;
    if ((b & 15) === 15) break;
    text += REAL_NIBBLES[b & 15]!;
  }
  const value = Number.parseFloat(text);
  return [Number.isFinite(value) ? value : 0, at];
}

/** The private data of a font, or of one of the font dictionaries of a CID-keyed font. */
export interface CffPrivate {
  /** DICT bytes as they stand. */
  readonly bytes: Uint8Array;
  readonly localSubrs: CffIndex;
  readonly defaultWidth: number;
  readonly nominalWidth: number;
  readonly fontMatrix: readonly number[] | undefined;
}

/** The tables of one CFF font; its offsets count from the start of `source`. */
export class CffTables {
  readonly source: FontSource;
  readonly postScriptName: string;
  readonly top: CffDict;
  readonly globalSubrs: CffIndex;
  readonly charStrings: CffIndex;
  readonly isCidKeyed: boolean;
  readonly #fontDicts: CffIndex | undefined;
  readonly #privates: CffPrivate[] = [];
  readonly #strings: CffIndex;
  readonly #fdSelect: Uint8Array | undefined;
  #charset: Uint16Array | undefined;
  #glyphOfCid: ReadonlyMap<number, number> | undefined;

  constructor(source: FontSource) {
    this.source = source;
    const names = new CffIndex(source, source.read(2, 1)[0] ?? 4);
    this.postScriptName = latin1(names.item(0)).replace(/[^\x21-\x7e]/g, '');
    const tops = new CffIndex(source, names.end);
    this.top = readDict(tops.item(0));
    this.#strings = new CffIndex(source, tops.end);
    this.globalSubrs = new CffIndex(source, this.#strings.end).keepingItems();
    this.charStrings = new CffIndex(source, this.number(OP.charStrings) ?? source.byteLength);
    this.isCidKeyed = this.top.has(OP.ros);
    const fdArray = this.isCidKeyed ? this.number(OP.fdArray) : undefined;
    this.#fontDicts = fdArray === undefined ? undefined : new CffIndex(source, fdArray);
    this.#fdSelect = this.isCidKeyed ? this.#readFdSelect() : undefined;
  }

  number(operator: number): number | undefined {
    return this.top.get(operator)?.[0];
  }

  /** Text of an operator whose operand is a string id. */
  string(operator: number): string {
    const sid = this.number(operator);
    return sid === undefined ? '' : this.#stringOf(sid);
  }

  privateOf(glyphId: number): CffPrivate {
    return this.fontDict(this.fontDictOf(glyphId));
  }

  /** A font dictionary of a CID-keyed font; the font's own for every other. */
  fontDict(index: number): CffPrivate {
    const isOwn = this.#fontDicts === undefined || index >= Math.min(this.#fontDicts.count, MAX_FONT_DICTS);
    this.#privates[index] ??= this.#readPrivate(isOwn ? this.top : readDict(this.#fontDicts!.item(index)));
    return this.#privates[index]!;
  }

  fontDictOf(glyphId: number): number {
    return this.#fdSelect?.[glyphId] ?? 0;
  }

  /** Glyph id of a CID; undefined where the charset has it not, or the font is not CID-keyed. */
  glyphOfCid(cid: number): number | undefined {
    if (!this.isCidKeyed) return undefined;
    if (this.#glyphOfCid === undefined) {
      const map = new Map<number, number>();
      const charset = this.#charsetIds();
      for (let i = charset.length - 1; i >= 0; i--) map.set(charset[i]!, i);
      this.#glyphOfCid = map;
    }
    return this.#glyphOfCid.get(cid);
  }

  /** Name of a glyph of a font that is not CID-keyed. */
  glyphName(glyphId: number): string {
    return this.#stringOf(this.#charsetIds()[glyphId] ?? 0);
  }

  /** Glyph id of a string id; undefined where no glyph has that name. */
  glyphOfSid(sid: number): number | undefined {
    const glyphId = this.#charsetIds().indexOf(sid);
    return glyphId < 0 ? undefined : glyphId;
  }

  #stringOf(sid: number): string {
    return sid < STANDARD_STRING_COUNT ? standardString(sid) : latin1(this.#strings.item(sid - STANDARD_STRING_COUNT));
  }

  #charsetIds(): Uint16Array {
    this.#charset ??= this.#readCharset();
    return this.#charset;
  }

  #readCharset(): Uint16Array {
    const count = this.charStrings.count;
    const offset = this.number(OP.charset) ?? 0;
    // 0 is ISOAdobe (ids in order), and what a CID-keyed font without charset means; 1 and 2 are the expert sets.
    if (offset <= 2) return Uint16Array.from({ length: count }, (_, i) => i);
    const ids = new Uint16Array(count);
    const bytes = this.source.read(offset, 1 + count * 4);
    const format = bytes[0];
    let at = 1;
    for (let i = 1; i < count && at + 1 < bytes.length; ) {
      const first = u16(bytes, at);
      const left = format === 0 ? 0 : format === 1 ? (bytes[at + 2] ?? 0) : u16(bytes, at + 2);
      at += format === 0 ? 2 : format === 1 ? 3 : 4;
      for (let k = 0; k <= left && i < count; k++) ids[i++] = first + k;
    }
    return ids;
  }

  #readPrivate(dict: CffDict): CffPrivate {
    const [size = 0, offset = 0] = dict.get(OP.private) ?? [];
    const bytes = size > 0 && offset > 0 ? this.source.read(offset, Math.min(size, 1 << 16)) : new Uint8Array(0);
    const values = readDict(bytes);
    const subrs = values.get(OP.subrs)?.[0];
    const matrix = dict.get(OP.fontMatrix);
    return {
      bytes,
      localSubrs: new CffIndex(this.source, subrs ? offset + subrs : this.source.byteLength).keepingItems(),
      defaultWidth: values.get(OP.defaultWidth)?.[0] ?? 0,
      nominalWidth: values.get(OP.nominalWidth)?.[0] ?? 0,
      fontMatrix: matrix?.length === 6 ? matrix : undefined,
    };
  }

  #readFdSelect(): Uint8Array {
    const count = this.charStrings.count;
    const select = new Uint8Array(count);
    const offset = this.number(OP.fdSelect) ?? 0;
    if (offset === 0) return select;
    const header = this.source.read(offset, 3);
    if (header[0] === 0) {
      select.set(this.source.read(offset + 1, count));
      return select;
    }
    if (header[0] !== 3) return select;
    const ranges = this.source.read(offset + 3, u16(header, 1) * 3 + 2);
    for (let at = 0; at + 4 < ranges.length; at += 3) {
      select.fill(ranges[at + 2]!, u16(ranges, at), Math.max(u16(ranges, at), u16(ranges, at + 3)));
    }
    return select;
  }
}

/** The tables of a bare CFF or of the 'CFF ' table; undefined where it has no charstrings. */
export function readCff(source: FontSource): CffTables | undefined {
  const tables = new CffTables(windowSource(source, 0, source.byteLength));
  return tables.charStrings.count > 0 ? tables : undefined;
}
