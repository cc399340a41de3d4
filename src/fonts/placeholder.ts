/**
 * Fonts that draw an empty box, a glyph of its own for each character: what programs fall back to for characters that no
 * font of the machine has. Without, they draw one glyph for all of them, or none, and forget which character it was.
 */
import { ByteWriter } from './bytes.js';
import { readCharacterMap } from './cmap.js';
import { coveredPages } from './coverage.js';
import type { FontIndex } from './font-index.js';
import { memberOffsets, readTables } from './sfnt-directory.js';
import { TRUETYPE_VERSION, writeSfnt } from './sfnt-writer.js';
import type { FontSource } from './source.js';

/** Begins the PostScript name of each; the family's has a blank in it. */
export const PLACEHOLDER_NAME = 'MissingCharacters';
export const PLACEHOLDER_FAMILY = 'Missing Characters';

const UNITS_PER_EM = 1000;
const ASCENT = 880;
const DESCENT = -120;
const CHARACTERS_A_FONT = 60_000;
const MAX_CMAP_BYTES = 16 << 20;
/** `.notdef` and the box that all others are made of. */
const OWN_GLYPHS = 2;
const BOX = { left: 90, bottom: -20, right: 910, top: 780, line: 40 } as const;
const VISIBLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Co}]$/u;
const IGNORABLE = /^\p{Default_Ignorable_Code_Point}$/u;
/** Behind it there are characters that show nothing, and private use. */
const LAST_CHARACTER = 0x3ffff;

/**
 * The characters of Unicode that show something and that none of the faces has, in order. It takes some tenths of a
 * second, in steps between which others have their turn.
 */
export async function missingCharacters({ faces }: FontIndex, open: (file: string) => FontSource): Promise<number[]> {
  const missing = visibleCharacters();
  for (const { file, member } of faces) {
    await new Promise<void>((done) => setImmediate(done));
    const source = open(file);
    const table = readTables(source, memberOffsets(source)[member] ?? 0)?.read('cmap', MAX_CMAP_BYTES);
    const map = table && readCharacterMap(table);
    if (map === undefined) continue;
    const covered = coveredPages(table!);
    for (const [page, characters] of missing) {
      if (!covered.has(page << 8)) continue;
      const left = characters.filter((codePoint) => map.glyphFor(codePoint) === 0);
      if (left.length > 0) missing.set(page, left);
      else missing.delete(page);
    }
  }
  return [...missing.values()].flat();
}

/** By their blocks of 256. */
function visibleCharacters(): Map<number, readonly number[]> {
  const pages = new Map<number, number[]>();
  for (let codePoint = 0; codePoint <= LAST_CHARACTER; codePoint++) {
    const character = String.fromCodePoint(codePoint);
    if (!VISIBLE.test(character) || IGNORABLE.test(character)) continue;
    const page = pages.get(codePoint >> 8);
    if (page === undefined) pages.set(codePoint >> 8, [codePoint]);
    else page.push(codePoint);
  }
  return pages;
}

/** TrueType files with a box for each of the characters, which are in order. */
export function* placeholderFonts(characters: readonly number[]): Generator<Uint8Array> {
  for (let at = 0; at < characters.length; at += CHARACTERS_A_FONT) {
    yield placeholderFont(characters.slice(at, at + CHARACTERS_A_FONT), 1 + at / CHARACTERS_A_FONT);
  }
}

function placeholderFont(characters: readonly number[], number: number): Uint8Array {
  const glyphCount = characters.length + OWN_GLYPHS;
  const box = boxGlyph();
  const copy = copyOfBox();
  const starts = [
    0,
    0,
    ...characters.map((_, i) => box.length + i * copy.length),
    box.length + characters.length * copy.length,
  ];
  return writeSfnt(TRUETYPE_VERSION, [
    { tag: 'glyf', bytes: joined([box, ...characters.map(() => copy)]) },
    { tag: 'loca', bytes: u32s(starts) },
    { tag: 'cmap', bytes: characterMap(characters) },
    { tag: 'head', bytes: headTable() },
    { tag: 'hhea', bytes: u16s(1, 0, ASCENT, DESCENT, 0, UNITS_PER_EM, 0, 0, UNITS_PER_EM, 1, 0, 0, 0, 0, 0, 0, 0, 1) },
    { tag: 'hmtx', bytes: metrics(glyphCount) },
    { tag: 'maxp', bytes: u16s(1, 0, glyphCount, 8, 2, 8, 2, 2, 0, 0, 0, 0, 0, 0, 1, 1) },
    { tag: 'name', bytes: nameTable(number) },
    { tag: 'OS/2', bytes: os2Table(characters) },
    { tag: 'post', bytes: u32s([0x00030000, 0, 0, 0, 0, 0, 0, 0]) },
  ]);
}

function written(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter();
  write(writer);
  return writer.take();
}

const u16s = (...values: readonly number[]): Uint8Array =>
  written((w) => {
    for (const value of values) w.u16(value & 0xffff);
  });

const u32s = (values: readonly number[]): Uint8Array =>
  written((w) => {
    for (const value of values) w.u32(value);
  });

const joined = (parts: readonly Uint8Array[]): Uint8Array =>
  written((w) => {
    for (const part of parts) w.bytes(part);
  });

/** One width for all; each box begins at its left. */
const metrics = (glyphCount: number): Uint8Array =>
  written((w) => {
    w.bytes(u16s(UNITS_PER_EM, 0));
    for (let i = 1; i < glyphCount; i++) w.u16(BOX.left);
  });

/** A square, and a smaller one in it that runs the other way. */
function boxGlyph(): Uint8Array {
  const { left, bottom, right, top, line } = BOX;
  const outer = [
    [left, bottom],
    [left, top],
    [right, top],
    [right, bottom],
  ] as const;
  const inner = [
    [left + line, bottom + line],
    [right - line, bottom + line],
    [right - line, top - line],
    [left + line, top - line],
  ] as const;
  const points = [...outer, ...inner];
  const steps = (side: 0 | 1): number[] => points.map((point, i) => point[side] - (points[i - 1]?.[side] ?? 0));
  return written((w) => {
    w.bytes(u16s(2, left, bottom, right, top, 3, 7, 0));
    for (const _ of points) w.u8(1);
    w.bytes(u16s(...steps(0), ...steps(1)));
    w.align(4);
  });
}

/** A composite glyph of the box alone. */
function copyOfBox(): Uint8Array {
  const { left, bottom, right, top } = BOX;
  const WORDS_THAT_ARE_OFFSETS = 0x0003;
  return written((w) => {
    w.bytes(u16s(-1, left, bottom, right, top, WORDS_THAT_ARE_OFFSETS, 1, 0, 0));
    w.align(4);
  });
}

function characterMap(characters: readonly number[]): Uint8Array {
  const groups: { first: number; last: number; glyphId: number }[] = [];
  for (const [i, codePoint] of characters.entries()) {
    const group = groups.at(-1);
    if (group?.last === codePoint - 1) group.last = codePoint;
    else groups.push({ first: codePoint, last: codePoint, glyphId: i + OWN_GLYPHS });
  }
  return written((w) => {
    w.bytes(u16s(0, 1, 3, 10));
    w.u32(12);
    w.bytes(u16s(12, 0));
    for (const value of [16 + 12 * groups.length, 0, groups.length]) w.u32(value);
    for (const { first, last, glyphId } of groups) for (const value of [first, last, glyphId]) w.u32(value);
  });
}

function headTable(): Uint8Array {
  const { left, bottom, right, top } = BOX;
  return written((w) => {
    for (const value of [TRUETYPE_VERSION, TRUETYPE_VERSION, 0, 0x5f0f3cf5]) w.u32(value);
    w.bytes(u16s(0, UNITS_PER_EM, 0, 0, 0, 0, 0, 0, 0, 0));
    w.bytes(u16s(left, bottom, right, top, 0, 8, 2, 1, 0));
  });
}

function nameTable(number: number): Uint8Array {
  const family = `${PLACEHOLDER_FAMILY} ${number}`;
  const names = [family, 'Regular', `${family} 1`, family, 'Version 1', `${PLACEHOLDER_NAME}${number}`];
  const texts = names.map((name) => Buffer.from(name, 'utf16le').swap16());
  return written((w) => {
    w.bytes(u16s(0, names.length, 6 + 12 * names.length));
    let at = 0;
    for (const [i, text] of texts.entries()) {
      w.bytes(u16s(3, 1, 0x409, i + 1, text.length, at));
      at += text.length;
    }
    for (const text of texts) w.bytes(text);
  });
}

function os2Table(characters: readonly number[]): Uint8Array {
  const [first = 0] = characters;
  const last = characters.at(-1) ?? 0;
  return written((w) => {
    w.bytes(u16s(4, UNITS_PER_EM, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 300, 0));
    w.bytes(new Uint8Array(10 + 16));
    w.latin1('    ');
    w.bytes(u16s(0x40, Math.min(first, 0xffff), Math.min(last, 0xffff), ASCENT, DESCENT, 0, ASCENT, -DESCENT));
    w.bytes(u16s(0, 0, 0, 0, 500, 700, 0, 32, 1));
  });
}
