import { describe, expect, it } from 'vitest';
import { coveredPages } from '../../src/fonts/coverage.js';
import { describeFaces } from '../../src/fonts/font-index.js';
import { subsetFace } from '../../src/fonts/index.js';
import { openFace } from '../../src/fonts/sfnt.js';
import { bytesSource } from '../../src/fonts/source.js';
import { processorClock } from '../support/processor-time.js';
import { cff, cs } from './make-cff.js';
import {
  collection,
  compositeGlyph,
  namedFontTables,
  SQUARE,
  sfnt,
  simpleGlyph,
  trueTypeTables,
} from './make-truetype.js';
import { type1 } from './make-type1.js';

const box = cs(100, 'hmoveto', 700, 'vlineto', -107, 'callsubr');
const charStrings = [cs('endchar'), box, box, cs(40, 300, 65, 193, 'endchar')];
const subrs = { localSubrs: [cs(200, 'hlineto', -107, 'callgsubr')], globalSubrs: [cs(-700, 'vlineto', 'endchar')] };
const named = namedFontTables({ family: 'Hand', chineseFamily: '手', characters: 'ABC中文' });
const composites = trueTypeTables({
  glyphs: [
    simpleGlyph([SQUARE]),
    compositeGlyph([{ glyphId: 0, dx: 5, dy: 5, scale: 0.5 }]),
    compositeGlyph([
      { glyphId: 1, dx: 0, dy: 0 },
      { glyphId: 1, dx: 1, dy: 1 },
    ]),
  ],
});
const letter = cs(50, 600, 'hsbw', 10, 'vmoveto', 0, 'callsubr', 'closepath', 'endchar');
const glyphs = { '.notdef': cs(0, 500, 'hsbw', 'endchar'), A: letter, B: letter };

const FONTS: readonly (readonly [string, Uint8Array])[] = [
  ['named TrueType', sfnt(named)],
  ['composites', sfnt(composites)],
  ['collection', collection([named, composites])],
  ['bare CFF', cff({ charStrings, ...subrs, charset: [34, 35, 124] })],
  [
    'CID-keyed CFF',
    cff({
      charStrings,
      ...subrs,
      cid: { select: [0, 1, 0, 1], matrices: [undefined, ['0.001', '0', '0', '0.001', '0', '0']] },
    }),
  ],
  [
    'OpenType with CFF',
    sfnt({ ...named, 'CFF ': cff({ charStrings, ...subrs }), glyf: new Uint8Array(0) }, 0x4f54544f),
  ],
  ['Type 1', type1({ glyphs, subrs: [cs(300, 'hlineto', 400, 'vlineto', 'return')] })],
  ['Type 1 in hex', type1({ glyphs, form: 'hex' })],
  ['Type 1 in segments', type1({ glyphs, form: 'pfb' })],
];

/** Everything that a conversion asks of a font; whatever comes back has to be sound. */
function exercise(bytes: Uint8Array): void {
  const source = bytesSource(bytes);
  describeFaces(source, 'damaged');
  const face = openFace(source, { key: 'damaged', fontName: 'Hand' });
  if (face === undefined) return;
  expect(Number.isFinite(face.ascent) && Number.isFinite(face.descent) && face.unitsPerEm > 0).toBe(true);
  const glyphIds = [0, 1, 2, 3, face.glyphCount - 1, face.glyphCount, 65_535];
  for (const glyphId of glyphIds) {
    expect(face.outline(glyphId).coordinates.every(Number.isFinite)).toBe(true);
    expect(Number.isFinite(face.advance(glyphId))).toBe(true);
    expect(face.glyphForTransform(glyphId)).toBeLessThan(face.glyphCount);
  }
  for (const codePoint of [0x20, 0x41, 0xe9, 0x4e2d, 0xf041, 0x20000]) {
    expect(face.glyphForCodePoint(codePoint)).toBeLessThan(face.glyphCount);
  }
  expect(openFace(bytesSource(subsetFace(face, glyphIds).bytes), { key: 'subset' })).toBeDefined();
}

function exerciseInTime(bytes: Uint8Array): void {
  const took = processorClock();
  exercise(bytes);
  expect(took()).toBeLessThan(1000);
}

/** Numbers that are the same in every run. */
function generator(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

describe.each(FONTS)('damaged %s', (name, font) => {
  it('whole, shows something', () => {
    expect(openFace(bytesSource(font), { key: name })).toBeDefined();
    exercise(font);
  });

  it('cut at any place', () => {
    for (let length = 0; length < font.length; length += Math.max(1, font.length >> 8))
      exerciseInTime(font.subarray(0, length));
  });

  it('with bytes turned over', () => {
    const random = generator(font.length);
    for (let round = 0; round < 150; round++) {
      const bytes = Uint8Array.from(font);
      for (let i = 0; i <= random(12); i++) bytes[random(bytes.length)] = random(4) === 0 ? 255 : random(256);
      exerciseInTime(bytes);
    }
  });
});

describe('fonts made to cost time', () => {
  it('ends subroutines that multiply', () => {
    const calls = (n: number) => cs(...Array.from({ length: 40 }, () => [n - 107, 'callgsubr'] as const).flat());
    const globalSubrs = [cs('return'), ...Array.from({ length: 12 }, (_, i) => calls(i))];
    exerciseInTime(cff({ charStrings: [cs('endchar'), calls(11)], globalSubrs }));
    const padding = cs(...Array.from({ length: 30_000 }, () => 1));
    exerciseInTime(cff({ charStrings: [cs('endchar'), calls(1)], globalSubrs: [padding, calls(0)] }));
  });

  it('ends composites that multiply', () => {
    const glyphs = [simpleGlyph([SQUARE])];
    for (let level = 0; level < 12; level++) {
      glyphs.push(compositeGlyph(Array.from({ length: 50 }, () => ({ glyphId: level, dx: 1, dy: 1 }))));
    }
    exerciseInTime(sfnt(trueTypeTables({ glyphs })));
  });

  it('ends a character map whose ranges all reach everywhere', () => {
    const table = new Uint8Array(12 + 16 + 12 * 100_000).fill(0xff);
    table.set([0, 0, 0, 1, 0, 3, 0, 10, 0, 0, 0, 12, 0, 12, 0, 0]);
    const took = processorClock();
    coveredPages(table);
    expect(took()).toBeLessThan(1000);
  });
});
