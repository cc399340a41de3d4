import { describe, expect, it } from 'vitest';
import type { Face } from '../../src/display/face.js';
import { subsetFace } from '../../src/fonts/index.js';
import { openFace } from '../../src/fonts/sfnt.js';
import { bytesSource } from '../../src/fonts/source.js';
import { openFontFile, scanFonts } from '../../src/fonts/system.js';
import { cff, cs } from './make-cff.js';
import { compositeGlyph, SQUARE, simpleGlyph, trueType, word } from './make-truetype.js';
import { type1 } from './make-type1.js';
import { pathText } from './outline-text.js';

const open = (bytes: Uint8Array) => openFace(bytesSource(bytes), { key: 'test' })!;
const u32 = (bytes: Uint8Array, at: number) => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);

/** The subset has to show the same glyphs with the same widths, numbered as they were listed. */
function expectSameGlyphs(face: Face, glyphIds: readonly number[]): Face {
  const { bytes, kind } = subsetFace(face, glyphIds);
  expect(Buffer.compare(bytes, subsetFace(face, glyphIds).bytes), 'the same bytes again').toBe(0);
  const subset = open(bytes);
  expect(kind === 'truetype').toBe(u32(bytes, 0) === 0x00010000);
  expect(subset.unitsPerEm).toBe(face.unitsPerEm);
  glyphIds.forEach((glyphId, i) => {
    expect(pathText(subset.outline(i))).toBe(pathText(face.outline(glyphId)));
    expect(subset.advance(i)).toBe(face.advance(glyphId));
  });
  return subset;
}

describe('subset of TrueType', () => {
  const square = simpleGlyph([SQUARE], [1, 2, 3]);
  const composite = compositeGlyph([
    { glyphId: 3, dx: 10, dy: 20, flags: 0x0102 },
    { glyphId: 1, dx: 0, dy: 0, scale: 0.5 },
  ]);
  const font = trueType({
    glyphs: [square, square, composite, square, word(9, 0, 0, 0, 0, 1)],
    metrics: [
      [1000, 100],
      [500, 0],
      [600, 0],
      [700, 50],
      [800, 0],
    ],
  });

  it('keeps outlines and widths; parts of composites follow the listed glyphs', () => {
    const subset = expectSameGlyphs(open(font), [0, 2, 2]);
    expect(subset.glyphCount).toBe(5);
  });

  it('has no instructions, and a broken glyph blank', () => {
    const { bytes } = subsetFace(open(font), [0, 4]);
    expect(open(bytes).outline(1).isEmpty).toBe(true);
    const plain = subsetFace(open(trueType({ glyphs: [simpleGlyph([SQUARE])], metrics: [[1000, 100]] })), [0, 0]).bytes;
    expect(subsetFace(open(font), [0, 0]).bytes.length).toBe(plain.length);
  });

  it('has a sorted directory and sums that come out right', () => {
    const { bytes } = subsetFace(open(font), [0, 1, 2]);
    const padded = new Uint8Array((bytes.length + 3) & ~3);
    padded.set(bytes);
    let sum = 0;
    for (let at = 0; at < padded.length; at += 4) sum = (sum + u32(padded, at)) >>> 0;
    expect(sum).toBe(0xb1b0afba);
    const tags = Array.from({ length: bytes[5]! }, (_, i) =>
      Buffer.from(bytes.subarray(12 + i * 16, 16 + i * 16)).toString(),
    );
    expect(tags).toEqual(['glyf', 'head', 'hhea', 'hmtx', 'loca', 'maxp']);
  });

  it('holds a font of blanks', () => {
    expect(subsetFace(open(font), [4]).bytes.length).toBeGreaterThan(200);
  });
});

describe('subset of CFF', () => {
  const box = cs(100, 'hmoveto', 700, 'vlineto', 200, 'hlineto', -700, 'vlineto', 'endchar');

  it('writes subroutines out, keeps hints and widths', () => {
    const mask = Uint8Array.of(0xc0);
    const font = cff({
      charStrings: [
        cs('endchar'),
        cs(-20, 1, 2, 'hstemhm', 3, 4, 'hintmask', mask, 10, 'hmoveto', -107, 'callsubr'),
        cs(5, 'hmoveto', -107, 'callgsubr', 'endchar'),
        cs(10, 20, 'add', 'hmoveto', 9, 'hlineto', 'endchar'),
      ],
      localSubrs: [cs(40, 'hlineto', -107, 'callgsubr', 'endchar')],
      globalSubrs: [cs(50, 'vlineto', 'return')],
      widths: [500, 600],
    });
    const subset = expectSameGlyphs(open(font), [0, 3, 1, 2, 1]);
    expect(subset.glyphForTransform(4)).toBe(4);
  });

  it('keeps a CID-keyed font and its dictionaries', () => {
    const select = [0, 1, 0, 1];
    const font = cff({
      charStrings: [box, box, box, box],
      cid: { select, matrices: [undefined, undefined] },
      charset: [7, 8, 9],
    });
    expectSameGlyphs(open(font), [0, 3, 2]);
  });

  it('draws what cannot be taken over: accents, other matrices, Type 1, faces of other makers', () => {
    const accented = cs(40, 300, 65, 193, 'endchar');
    const grave = cs(1, 'hmoveto', 2, 'hlineto', 'endchar');
    const charset = { charset: [34, 124, 174] };
    expectSameGlyphs(open(cff({ charStrings: [cs('endchar'), box, grave, accented], ...charset })), [0, 3]);
    const slant = ['0.0005', '0', '0.0001', '0.0005', '0', '0'];
    expectSameGlyphs(open(cff({ charStrings: [cs('endchar'), box], fontMatrix: slant })), [0, 1]);
    const letter = cs(50, 600, 'hsbw', 10, 'vmoveto', 300, 'hlineto', 400, 'vlineto', 'closepath', 'endchar');
    const face = open(type1({ glyphs: { '.notdef': cs(0, 500, 'hsbw', 'endchar'), A: letter } }));
    expectSameGlyphs(face, [0, 1]);
    const { familyName, postScriptName, unitsPerEm, ascent, descent, glyphCount } = face;
    const stranger: Face = {
      ...{ key: 'other', familyName, postScriptName, unitsPerEm, ascent, descent, glyphCount, hasCharacterMap: false },
      ...{ isBold: false, isItalic: false, isSerif: false, isFixedPitch: false },
      glyphForCodePoint: () => 0,
      glyphForTransform: (value) => value,
      advance: (glyphId) => face.advance(glyphId),
      outline: (glyphId) => face.outline(glyphId),
    };
    expectSameGlyphs(stranger, [0, 1]);
  });
});

const installed = scanFonts([]).faces.filter((record) => record.coversHan);

describe.skipIf(installed.length === 0)('subset of the Chinese faces of this machine', () => {
  const files = installed.filter((record, i) => installed.findIndex((other) => other.file === record.file) === i);

  it.each(files.map((record) => [record.postScriptName, record] as const))('%s', (_, { file, member }) => {
    const face = openFace(openFontFile(file), { key: file, member })!;
    const han = Array.from({ length: 300 }, (_, i) => face.glyphForCodePoint(0x4e00 + i * 41));
    const latin = Array.from({ length: 95 }, (_, i) => face.glyphForCodePoint(0x20 + i));
    expectSameGlyphs(face, [0, ...han, ...latin]);
  });
});
