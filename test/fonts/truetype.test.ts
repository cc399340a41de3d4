import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openFace } from '../../src/fonts/sfnt.js';
import { bytesSource } from '../../src/fonts/source.js';
import {
  bytesOf,
  type Contour,
  cmapFormat4,
  cmapFormat12,
  cmapTable,
  collection,
  compositeGlyph,
  long,
  namedFontTables,
  os2Table,
  SQUARE,
  type Subtable,
  sfnt,
  simpleGlyph,
  trueType,
  trueTypeTables,
  word,
} from './make-truetype.js';
import { pathText } from './outline-text.js';

const open = (bytes: Uint8Array, fontName?: string) =>
  openFace(bytesSource(bytes), { key: 'test', ...(fontName === undefined ? {} : { fontName }) });

const ROUND: Contour = [
  [0, 0, true],
  [0, 100, false],
  [100, 100, false],
  [100, 0, true],
];
const ALL_OFF: Contour = [
  [0, 0, false],
  [0, 100, false],
  [100, 100, false],
  [100, 0, false],
];
const SQUARE_TEXT = 'M100 0 L100 700 L800 700 L800 0 Z';
const squares = (count: number) => Array.from({ length: count }, () => simpleGlyph([SQUARE]));

describe('outlines of glyf', () => {
  const bearing = (xMin: number) => [1000, xMin] as const;

  it('draws lines, curves and the points between two control points', () => {
    const face = open(
      trueType({
        glyphs: [simpleGlyph([SQUARE]), simpleGlyph([ROUND]), simpleGlyph([ALL_OFF])],
        metrics: [bearing(100), bearing(0), bearing(0)],
      }),
    )!;
    expect(pathText(face.outline(0))).toBe(SQUARE_TEXT);
    expect(pathText(face.outline(1))).toBe('M0 0 Q0 100 50 100 Q100 100 100 0 Z');
    expect(pathText(face.outline(2))).toBe('M50 0 Q0 0 0 50 Q0 100 50 100 Q100 100 100 50 Q100 0 50 0 Z');
  });

  it('puts composites together, scaled and moved', () => {
    const face = open(
      trueType({
        glyphs: [
          simpleGlyph([SQUARE]),
          compositeGlyph([
            { glyphId: 0, dx: 10, dy: 20 },
            { glyphId: 0, dx: 0, dy: 0, scale: 0.5 },
          ]),
          compositeGlyph([{ glyphId: 0, dx: 100, dy: 0, scale: 0.5, flags: 0x0802 }]),
          compositeGlyph([
            { glyphId: 0, dx: 0, dy: 0 },
            { glyphId: 0, dx: 2, dy: 0, flags: 0 },
          ]),
        ],
        metrics: [bearing(100), bearing(0), bearing(0), bearing(0)],
      }),
    )!;
    expect(pathText(face.outline(1))).toBe('M110 20 L110 720 L810 720 L810 20 Z M50 0 L50 350 L400 350 L400 0 Z');
    expect(pathText(face.outline(2)), 'scaled offset').toBe('M100 0 L100 350 L450 350 L450 0 Z');
    expect(pathText(face.outline(3)), 'matched points').toContain('M800 700 L800 1400 L1500 1400 L1500 700 Z');
  });

  it('stands at the side bearing, not at xMin', () => {
    const face = open(trueType({ glyphs: squares(1), metrics: [[900, 40]] }))!;
    expect(pathText(face.outline(0))).toBe('M40 0 L40 700 L740 700 L740 0 Z');
  });

  it('leaves a glyph blank that contains itself, is cut or counts wrongly', () => {
    const cut = simpleGlyph([SQUARE]).subarray(0, 20);
    const glyphs = [compositeGlyph([{ glyphId: 0, dx: 0, dy: 0 }]), cut, word(1, 0, 0, 0, 0, 0xffff, 0)];
    const face = open(trueType({ glyphs }))!;
    for (const glyphId of [0, 1, 2]) expect(face.outline(glyphId).isEmpty).toBe(true);
  });
});

describe('broken tables (spec 7.9)', () => {
  it('needs neither cmap, OS/2, name, post, hmtx, hhea nor maxp', () => {
    const tables = trueTypeTables({
      glyphs: squares(3),
      tables: { hmtx: undefined, hhea: undefined, maxp: undefined },
    });
    const face = open(sfnt(tables))!;
    expect(face.glyphCount).toBe(3);
    expect(face.hasCharacterMap).toBe(false);
    expect(face.glyphForTransform(2)).toBe(2);
    expect(face.glyphForTransform(3)).toBe(0);
    expect(face.advance(1)).toBe(1000);
    expect(pathText(face.outline(1))).toBe(SQUARE_TEXT);
  });

  it('guesses units per em without head', () => {
    const large: Contour = SQUARE.map(([x, y, on]) => [x * 2, y * 2, on]);
    const without = { tables: { head: undefined } };
    expect(open(trueType({ glyphs: squares(2), ...without }))!.unitsPerEm).toBe(1000);
    expect(open(trueType({ glyphs: [simpleGlyph([large])], ...without }))!.unitsPerEm).toBe(2048);
  });

  it('takes half an em for ASCII where there are no widths', () => {
    const cmap = cmapTable([3, 1, cmapFormat4({ 65: 1, 20013: 2 })]);
    const face = open(trueType({ glyphs: squares(3), tables: { hmtx: undefined, cmap } }))!;
    expect([face.advance(1), face.advance(2)]).toEqual([500, 1000]);
  });

  it('goes on with the last width where hmtx is short', () => {
    const face = open(trueType({ glyphs: squares(4), tables: { hmtx: word(600, 0, 700, 0) } }))!;
    expect([0, 1, 2, 3].map((id) => face.advance(id))).toEqual([600, 700, 700, 700]);
  });

  it.each([true, false])('reads loca by its length (long: %s), whatever head says', (isLong) => {
    const glyph = simpleGlyph([SQUARE]);
    const size = (glyph.length + 3) & ~3;
    const head = new Uint8Array(54);
    head.set(word(1000), 18);
    head.set(word(isLong ? 0 : 1), 50);
    const offsets = [0, size, 2 * size, 3 * size];
    const loca = isLong ? long(...offsets) : word(...offsets.map((v) => v / 2));
    const face = open(trueType({ glyphs: [glyph, glyph, glyph], tables: { head, loca } }))!;
    expect(pathText(face.outline(2)).split(' ')).toHaveLength(9);
  });

  it('finds tables in any order and case, with lengths beyond the end', () => {
    const { head, loca, glyf, hmtx, hhea, maxp } = trueTypeTables({ glyphs: squares(2), metrics: [[500, 100]] });
    const bytes = sfnt({
      maxp: maxp!,
      hhea: hhea!,
      'os/2': os2Table({ weight: 700 }),
      loca: loca!,
      head: head!,
      hmtx: hmtx!,
      glyf: glyf!,
    });
    const glyfEntry = 12 + 6 * 16 + 12;
    bytes.set(long(0x7fffffff), glyfEntry);
    const face = open(bytes)!;
    expect(face.isBold).toBe(true);
    expect(pathText(face.outline(1))).toBe(SQUARE_TEXT);
  });

  it('opens nothing where nothing can be shown', () => {
    const html = Uint8Array.from('<html>404</html>', (c) => c.charCodeAt(0));
    for (const bytes of [new Uint8Array(0), html, new Uint8Array(500), trueType({ glyphs: [new Uint8Array(0)] })]) {
      expect(open(bytes)).toBeUndefined();
    }
    expect(open(trueType({ glyphs: squares(1), tables: { loca: undefined } }))).toBeUndefined();
  });
});

describe('character maps', () => {
  const faceWith = (...subtables: readonly Subtable[]) =>
    open(trueType({ glyphs: squares(300), tables: { cmap: cmapTable(...subtables) } }))!;

  it.each([
    [
      'format 0',
      bytesOf(
        word(0, 262, 0),
        Uint8Array.from({ length: 256 }, (_, i) => (i === 0x41 ? 7 : 0)),
      ),
    ],
    ['format 4', cmapFormat4({ 65: 7, 20013: 9 })],
    ['format 4 with offsets', bytesOf(word(4, 40, 0, 4, 0, 0, 0, 0x42, 0xffff, 0, 0x41, 0xffff, 0, 1, 4, 0, 7, 8))],
    ['format 6', word(6, 14, 0, 0x40, 2, 6, 7)],
    ['format 10', bytesOf(word(10, 0), long(24, 0, 0x40, 2), word(6, 7))],
    ['format 12', cmapFormat12(12, [[0x40, 0x50, 6]])],
    ['format 13', cmapFormat12(13, [[0x40, 0x50, 7]])],
  ])('%s', (_, subtable) => {
    const face = faceWith([3, 1, subtable]);
    expect(face.glyphForCodePoint(0x41)).toBe(7);
    expect(face.glyphForCodePoint(0x2000)).toBe(0);
  });

  it('reads format 2 by GBK codes', () => {
    const keys = Array.from({ length: 256 }, (_, i) => (i === 0xd6 ? 8 : 0));
    // 中 is D6 D0: row D6, which holds D0 and D1.
    const subHeaders = bytesOf(word(0, 0, 0, 0), word(0xd0, 2, 0, 2));
    const face = faceWith([3, 3, bytesOf(word(2, 0, 0), word(...keys), subHeaders, word(7, 8))]);
    expect(face.glyphForCodePoint(0x4e2d)).toBe(7);
    expect(face.glyphForCodePoint(0x4e00)).toBe(0);
  });

  it('prefers full Unicode, ignores variation sequences', () => {
    const variations = bytesOf(word(14), long(10, 0));
    const face = faceWith(
      [0, 5, variations],
      [3, 1, cmapFormat4({ 65: 1 })],
      [
        3,
        10,
        cmapFormat12(12, [
          [0x41, 0x41, 2],
          [0x20bb7, 0x20bb7, 3],
        ]),
      ],
    );
    expect(face.glyphForCodePoint(0x41)).toBe(2);
    expect(face.glyphForCodePoint(0x20bb7)).toBe(3);
  });

  it('finds symbols at F000, but no Han character by its low byte', () => {
    const face = faceWith([3, 0, cmapFormat4({ 61485: 4, 61505: 5 })]);
    expect(face.glyphForCodePoint(0x41)).toBe(5);
    expect(face.glyphForCodePoint(0xf041)).toBe(5);
    expect(face.glyphForCodePoint(0x4e2d)).toBe(0);
  });

  it('reads Macintosh maps by MacRoman, else by raw byte', () => {
    const glyphs = Uint8Array.from({ length: 256 }, (_, i) => (i === 0x8e ? 3 : i === 0xe9 ? 4 : i === 0x01 ? 5 : 0));
    const face = faceWith([1, 0, bytesOf(word(0, 262, 0), glyphs)]);
    expect(face.glyphForCodePoint(0xe9), 'é is 8E').toBe(3);
    expect(face.glyphForCodePoint(0x01)).toBe(5);
  });

  it('walks ranges that are out of order, refuses glyphs that are not there', () => {
    const face = faceWith([
      3,
      10,
      cmapFormat12(12, [
        [0x50, 0x5f, 1],
        [0x41, 0x41, 2],
        [0x60, 0x60, 9999],
      ]),
    ]);
    expect(face.glyphForCodePoint(0x41)).toBe(2);
    expect(face.glyphForCodePoint(0x60)).toBe(0);
  });
});

describe('files around the font', () => {
  const members = ['First', 'Second Face'].map((family) => namedFontTables({ family, characters: 'A' }));

  it('chooses the member that the name asks for, else the first', () => {
    expect(open(collection(members), 'ABCDEF+SecondFace')!.familyName).toBe('Second Face');
    expect(open(collection(members), 'Nobody')!.familyName).toBe('First');
    expect(openFace(bytesSource(collection(members)), { key: '', member: 1 })!.familyName).toBe('Second Face');
    expect(openFace(bytesSource(collection(members)), { key: '', member: 2 })).toBeUndefined();
  });

  it('unpacks WOFF, not WOFF 2', () => {
    const tables = Object.entries(trueTypeTables({ glyphs: squares(2) }));
    let offset = 44 + tables.length * 20;
    const packed = tables.map(([tag, bytes]) => {
      const deflated = deflateSync(bytes);
      const data = deflated.length < bytes.length ? deflated : bytes;
      const entry = bytesOf(
        Uint8Array.from(tag, (c) => c.charCodeAt(0)),
        long(offset, data.length, bytes.length, 0),
      );
      offset += data.length;
      return { entry, data };
    });
    const start = bytesOf(
      Uint8Array.from('wOFF', (c) => c.charCodeAt(0)),
      long(0x00010000, 0),
      word(tables.length, 0),
    );
    const woff = bytesOf(start, new Uint8Array(28), ...packed.map((p) => p.entry), ...packed.map((p) => p.data));
    expect(pathText(open(woff)!.outline(1))).toContain('L');
    expect(
      open(
        bytesOf(
          Uint8Array.from('wOF2', (c) => c.charCodeAt(0)),
          new Uint8Array(100),
        ),
      ),
    ).toBeUndefined();
  });
});
