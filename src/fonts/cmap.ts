/**
 * Character maps: the best Unicode subtable of a 'cmap' (formats 0, 2, 4, 6, 10, 12, 13), the symbol, Macintosh and
 * old Chinese encodings that subsets of real files have instead (spec 7.9). Lookups work on the raw bytes.
 */
import { u16, u32 } from './bytes.js';
import { characterOfCode, codeOfCharacter } from './legacy-encoding.js';

export interface CharacterMap {
  /** Glyph id of a character; 0 where the map has none. */
  glyphFor(codePoint: number): number;
}

type Lookup = (code: number) => number;

const MAX_SUBTABLES = 64;
/** Ranges out of order are walked one by one at every look-up. */
const MAX_UNSORTED_RANGES = 2000;

/** Reads a whole 'cmap' table; undefined where nothing in it can be used. */
export function readCharacterMap(table: Uint8Array): CharacterMap | undefined {
  const lookups = orderedLookups(table);
  if (lookups.length === 0) return undefined;
  return {
    glyphFor(codePoint) {
      for (const lookup of lookups) {
        const glyphId = lookup(codePoint);
        if (glyphId > 0) return glyphId;
      }
      return 0;
    },
  };
}

interface SubtableRecord {
  readonly platform: number;
  readonly encoding: number;
  readonly offset: number;
}

/** One Unicode map (or one of an old encoding), then the symbol map, then the Macintosh map. */
function orderedLookups(table: Uint8Array): Lookup[] {
  const records: SubtableRecord[] = [];
  const count = Math.min(u16(table, 2), MAX_SUBTABLES);
  for (let i = 0; i < count; i++) {
    const at = 4 + i * 8;
    records.push({ platform: u16(table, at), encoding: u16(table, at + 2), offset: u32(table, at + 4) });
  }
  const lookups: Lookup[] = [];
  const addFirst = (rank: (r: SubtableRecord) => number, wrap: (lookup: Lookup, r: SubtableRecord) => Lookup) => {
    const wanted = records.filter((r) => rank(r) > 0).sort((a, b) => rank(b) - rank(a));
    for (const record of wanted) {
      const lookup = subtableLookup(table, record.offset);
      if (lookup === undefined) continue;
      lookups.push(wrap(lookup, record));
      return;
    }
  };
  addFirst(unicodeRank, (lookup) => lookup);
  if (lookups.length === 0) {
    addFirst(
      (r) => (legacyLabel(r) === undefined ? 0 : 1),
      (lookup, r) => legacyLookup(lookup, legacyLabel(r)!),
    );
  }
  addFirst((r) => (r.platform === 3 && r.encoding === 0 ? 1 : 0), symbolLookup);
  addFirst((r) => (r.platform === 1 && r.encoding === 0 ? 1 : 0), macintoshLookup);
  return lookups;
}

function unicodeRank(record: SubtableRecord): number {
  const { platform, encoding } = record;
  if (platform === 3) return encoding === 10 ? 6 : encoding === 1 ? 4 : 0;
  if (platform !== 0 || encoding === 5) return 0;
  return encoding === 4 || encoding === 6 ? 5 : encoding === 3 ? 3 : 2;
}

function legacyLabel(record: SubtableRecord): string | undefined {
  const { platform, encoding } = record;
  if (platform === 3) return { 2: 'shift_jis', 3: 'gbk', 4: 'big5', 5: 'euc-kr' }[encoding];
  return platform === 1 ? { 1: 'shift_jis', 2: 'big5', 3: 'euc-kr', 25: 'gbk' }[encoding] : undefined;
}

function legacyLookup(lookup: Lookup, label: string): Lookup {
  return (codePoint) => {
    const code = codeOfCharacter(label, codePoint);
    return code === undefined ? 0 : lookup(code);
  };
}

/** Symbol fonts keep byte b at U+F000 + b. Han characters are not tried by their low byte: that would draw any sign. */
function symbolLookup(lookup: Lookup): Lookup {
  return (codePoint) => {
    const plain = lookup(codePoint);
    if (plain > 0) return plain;
    if (codePoint <= 0xff) return lookup(0xf000 + codePoint);
    if (codePoint >= 0x2e80 && (codePoint < 0xe000 || codePoint > 0xf8ff)) return 0;
    return lookup(0xf000 + (codePoint & 0xff)) || (codePoint >= 0xf000 ? lookup(codePoint & 0xff) : 0);
  };
}

/** By Mac OS Roman; subsets of Chinese producers number their glyphs by raw byte instead. */
function macintoshLookup(lookup: Lookup): Lookup {
  return (codePoint) => {
    const code = codeOfCharacter('macintosh', codePoint);
    const named = code === undefined ? 0 : lookup(code);
    if (named > 0 || codePoint > 0xff) return named;
    return characterOfCode('macintosh', codePoint) === codePoint ? 0 : lookup(codePoint);
  };
}

function subtableLookup(table: Uint8Array, offset: number): Lookup | undefined {
  if (offset + 6 > table.length) return undefined;
  const bytes = table.subarray(offset);
  switch (u16(bytes, 0)) {
    case 0:
      return (code) => (code < 256 ? (bytes[6 + code] ?? 0) : 0);
    case 2:
      return (code) => lookupHighByte(bytes, code);
    case 4:
      return segmentLookup(bytes);
    case 6:
      return trimmedLookup(bytes, u16(bytes, 6), u16(bytes, 8), 10);
    case 10:
      return trimmedLookup(bytes, u32(bytes, 12), u32(bytes, 16), 20);
    case 12:
      return groupLookup(bytes, 1);
    case 13:
      return groupLookup(bytes, 0);
    default:
      return undefined;
  }
}

function trimmedLookup(bytes: Uint8Array, first: number, count: number, arrayAt: number): Lookup {
  return (code) => (code >= first && code - first < count ? u16(bytes, arrayAt + (code - first) * 2) : 0);
}

function lookupHighByte(bytes: Uint8Array, code: number): number {
  if (code > 0xffff) return 0;
  const high = code >> 8;
  const key = u16(bytes, 6 + high * 2);
  if (high === 0 ? u16(bytes, 6 + (code & 0xff) * 2) !== 0 : key === 0) return 0;
  const header = 518 + (high === 0 ? 0 : key);
  const index = (code & 0xff) - u16(bytes, header);
  if (index < 0 || index >= u16(bytes, header + 2)) return 0;
  const glyph = u16(bytes, header + 6 + u16(bytes, header + 6) + index * 2);
  return glyph === 0 ? 0 : (glyph + u16(bytes, header + 4)) & 0xffff;
}

function segmentLookup(bytes: Uint8Array): Lookup | undefined {
  const count = Math.min(u16(bytes, 6) >> 1, Math.floor((bytes.length - 16) / 8));
  if (count <= 0) return undefined;
  const ends = 14;
  const starts = ends + (u16(bytes, 6) >> 1) * 2 + 2;
  const step = (u16(bytes, 6) >> 1) * 2;
  const glyphOf = (i: number, code: number): number => {
    const start = u16(bytes, starts + i * 2);
    if (code < start || code > u16(bytes, ends + i * 2)) return 0;
    const delta = u16(bytes, starts + step + i * 2);
    const rangeAt = starts + 2 * step + i * 2;
    const range = u16(bytes, rangeAt);
    if (range === 0 || range === 0xffff) return (code + delta) & 0xffff;
    const glyph = u16(bytes, rangeAt + range + (code - start) * 2);
    return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
  };
  return searched(count, (i) => u16(bytes, ends + i * 2), glyphOf, 0xffff);
}

function groupLookup(bytes: Uint8Array, step: 0 | 1): Lookup | undefined {
  const count = Math.min(u32(bytes, 12), Math.floor((bytes.length - 16) / 12));
  if (count <= 0) return undefined;
  const glyphOf = (i: number, code: number): number => {
    const start = u32(bytes, 16 + i * 12);
    if (code < start || code > u32(bytes, 20 + i * 12)) return 0;
    return u32(bytes, 24 + i * 12) + step * (code - start);
  };
  return searched(count, (i) => u32(bytes, 20 + i * 12), glyphOf, 0x10ffff);
}

/** Binary search by the ends of ranges; a straight walk where the ranges are out of order. */
function searched(
  count: number,
  endOf: (i: number) => number,
  glyphOf: (i: number, code: number) => number,
  maxCode: number,
): Lookup {
  let isSorted = true;
  for (let i = 1; i < count && isSorted; i++) isSorted = endOf(i) >= endOf(i - 1);
  if (isSorted) {
    return (code) => {
      if (code > maxCode) return 0;
      let low = 0;
      let high = count - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (endOf(middle) < code) low = middle + 1;
        else high = middle;
      }
      return glyphOf(low, code);
    };
  }
  return (code) => {
    for (let i = 0; i < Math.min(count, MAX_UNSORTED_RANGES) && code <= maxCode; i++) {
      const glyphId = glyphOf(i, code);
      if (glyphId > 0) return glyphId;
    }
    return 0;
  };
}
