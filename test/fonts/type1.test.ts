import { describe, expect, it } from 'vitest';
import { openFace } from '../../src/fonts/sfnt.js';
import { bytesSource } from '../../src/fonts/source.js';
import { cs } from './make-cff.js';
import { type Type1Options, type1 } from './make-type1.js';
import { pathText } from './outline-text.js';

const open = (options: Type1Options) => openFace(bytesSource(type1(options)), { key: 'test' })!;

const LETTER = cs(50, 600, 'hsbw', 10, 'vmoveto', 300, 'hlineto', 400, 'vlineto', 'closepath', 'endchar');
const NOTDEF = cs(0, 500, 'hsbw', 'endchar');

describe('Type 1', () => {
  it.each([
    { form: 'pfb' },
    { form: 'hex' },
    { form: 'binary' },
    { form: 'binary', lenIV: 0 },
    { form: 'binary', lenIV: -1 },
  ] as const)('opens %j', (options) => {
    const face = open({ glyphs: { '.notdef': NOTDEF, A: LETTER }, ...options });
    expect(face.postScriptName).toBe('Hand-Bold');
    expect(face.familyName).toBe('Hand');
    expect([face.isBold, face.isItalic]).toEqual([true, true]);
    expect(face.glyphForCodePoint(0x41)).toBe(1);
    expect(face.advance(1)).toBe(600);
    expect(pathText(face.outline(1))).toBe('M50 10 L350 10 L350 410 Z');
  });

  it('numbers glyphs in the order of the file, .notdef first', () => {
    const face = open({ glyphs: { B: LETTER, A: LETTER, '.notdef': NOTDEF } });
    expect([face.glyphForCodePoint(0x41), face.glyphForCodePoint(0x42)]).toEqual([1, 2]);
    expect(face.outline(0).isEmpty).toBe(true);
  });

  it("finds glyphs without a proper name by the font's own encoding", () => {
    const face = open({ glyphs: { '.notdef': NOTDEF, A: LETTER, G07: LETTER } });
    expect([face.glyphForCodePoint(0x41), face.glyphForCodePoint(0x42)]).toEqual([1, 2]);
  });

  it('draws a flex as two curves', () => {
    const point = ['rmoveto', 0, 2, 'callothersubr'] as const;
    const code = cs(
      ...([0, 500, 'hsbw', 100, 'hmoveto', 50, 'vlineto', 0, 1, 'callothersubr'] as const),
      ...([50, 0, ...point, -40, 0, ...point, 20, 10, ...point, 20, 0, ...point] as const),
      ...([20, 0, ...point, 20, -10, ...point, 10, 0, ...point] as const),
      ...([50, 200, 50, 3, 0, 'callothersubr', 'pop', 'pop', 'setcurrentpoint', 'closepath', 'endchar'] as const),
    );
    const face = open({ glyphs: { '.notdef': NOTDEF, A: code } });
    expect(pathText(face.outline(1))).toBe('M100 0 L100 50 C110 50 130 60 150 60 C170 60 190 50 200 50 Z');
  });

  it('runs subroutines and hint replacement', () => {
    const code = cs(0, 500, 'hsbw', 5, 1, 3, 'callothersubr', 'pop', 'callsubr', 'endchar');
    const subrs = [NOTDEF, NOTDEF, NOTDEF, NOTDEF, NOTDEF, cs(9, 'hmoveto', 8, 'hlineto', 'closepath', 'return')];
    expect(pathText(open({ glyphs: { '.notdef': NOTDEF, A: code }, subrs }).outline(1))).toBe('M9 0 L17 0 Z');
  });

  it('makes accented glyphs of two others', () => {
    const grave = cs(30, 300, 'hsbw', 500, 'vmoveto', 10, 'hlineto', 'closepath', 'endchar');
    const code = cs(50, 600, 'hsbw', 30, 140, 200, 65, 193, 'seac');
    const face = open({ glyphs: { '.notdef': NOTDEF, A: LETTER, grave, Agrave: code } });
    expect(pathText(face.outline(3))).toBe('M50 10 L350 10 L350 410 Z M190 700 L200 700 Z');
    expect(face.glyphForCodePoint(0xc0)).toBe(3);
  });

  it('ends where a charstring calls itself', () => {
    const face = open({
      glyphs: { '.notdef': NOTDEF, A: cs(0, 'callsubr') },
      subrs: [cs(0, 'callsubr', 0, 'callsubr')],
    });
    expect(face.outline(1).isEmpty).toBe(true);
  });
});
