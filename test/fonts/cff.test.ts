import { describe, expect, it } from 'vitest';
import { openFace } from '../../src/fonts/sfnt.js';
import { bytesSource } from '../../src/fonts/source.js';
import { type CffOptions, cff, cs, type Token } from './make-cff.js';
import { sfnt, trueTypeTables, word } from './make-truetype.js';
import { pathText } from './outline-text.js';

const open = (options: CffOptions) => openFace(bytesSource(cff(options)), { key: 'test' })!;
const NOTDEF = cs('endchar');
const BOX = cs(100, 'hmoveto', 700, 'vlineto', 200, 'hlineto', -700, 'vlineto', 'endchar');

function drawn(...tokens: readonly Token[]): string {
  return pathText(open({ charStrings: [NOTDEF, cs(...tokens)] }).outline(1));
}

describe('Type 2 charstrings', () => {
  it.each([
    ['lines in turn', [10, 20, 'rmoveto', 5, 6, 7, 'hlineto', 'endchar'], 'M10 20 L15 20 L15 26 L22 26 Z'],
    ['vlineto', [10, 'vmoveto', 5, 6, 'vlineto', 'endchar'], 'M0 10 L0 15 L6 15 Z'],
    ['rrcurveto', [0, 'hmoveto', 1, 2, 3, 4, 5, 6, 'rrcurveto', 'endchar'], 'M0 0 C1 2 4 6 9 12 Z'],
    ['rcurveline', [0, 'hmoveto', 1, 2, 3, 4, 5, 6, 7, 8, 'rcurveline', 'endchar'], 'M0 0 C1 2 4 6 9 12 L16 20 Z'],
    ['rlinecurve', [0, 'hmoveto', 7, 8, 1, 2, 3, 4, 5, 6, 'rlinecurve', 'endchar'], 'M0 0 L7 8 C8 10 11 14 16 20 Z'],
    ['hhcurveto', [0, 'hmoveto', 9, 1, 2, 3, 4, 'hhcurveto', 'endchar'], 'M0 0 C1 9 3 12 7 12 Z'],
    ['vvcurveto', [0, 'hmoveto', 9, 1, 2, 3, 4, 'vvcurveto', 'endchar'], 'M0 0 C9 1 11 4 11 8 Z'],
    ['hvcurveto', [0, 'hmoveto', 1, 2, 3, 4, 5, 'hvcurveto', 'endchar'], 'M0 0 C1 0 3 3 8 7 Z'],
    [
      'vhcurveto twice',
      [0, 'hmoveto', 1, 2, 3, 4, 5, 6, 7, 8, 'vhcurveto', 'endchar'],
      'M0 0 C0 1 2 4 6 4 C11 4 17 11 17 19 Z',
    ],
    ['hflex', [0, 'hmoveto', 1, 2, 3, 4, 5, 6, 7, 'hflex', 'endchar'], 'M0 0 C1 0 3 3 7 3 C12 3 18 0 25 0 Z'],
    [
      'flex',
      [0, 'hmoveto', 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 50, 'flex', 'endchar'],
      'M0 0 C1 1 2 2 3 3 C5 5 7 7 9 9 Z',
    ],
    ['hflex1', [0, 'hmoveto', 1, 2, 3, 4, 5, 6, 7, 8, 9, 'hflex1', 'endchar'], 'M0 0 C1 2 4 6 9 6 C15 6 22 14 31 0 Z'],
    [
      'flex1',
      [0, 'hmoveto', 9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 7, 'flex1', 'endchar'],
      'M0 0 C9 1 18 2 27 3 C36 4 45 5 52 0 Z',
    ],
    ['arithmetic', [3, 4, 'add', 20, 5, 'sub', 'rmoveto', 8, 2, 'div', 'hlineto', 'endchar'], 'M7 15 L11 15 Z'],
    ['the stack', [1, 2, 3, 3, 1, 'roll', 'hlineto', 'endchar'], 'M0 0 L3 0 L3 1 L5 1 Z'],
    ['a fraction', [0.5, 'hmoveto', 1.25, 'hlineto', 'endchar'], 'M0.5 0 L1.75 0 Z'],
    ['no end', [5, 'hmoveto', 9, 'hlineto'], 'M5 0 L14 0 Z'],
  ] as const)('%s', (_, tokens, expected) => {
    expect(drawn(...tokens)).toBe(expected);
  });

  it('skips hint masks, counting stems that have no operator of their own', () => {
    const mask = Uint8Array.of(0xff, 0x0b);
    const stems = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1] as const;
    expect(drawn(...stems, 'hstemhm', ...stems, 'hintmask', mask, 7, 'hmoveto', 9, 'hlineto', 'endchar')).toBe(
      'M7 0 L16 0 Z',
    );
  });

  it('tells the width from the first operator', () => {
    const face = open({
      charStrings: [NOTDEF, cs(-20, 100, 'hmoveto', 'endchar'), cs(100, 'hmoveto', 'endchar'), cs(30, 'endchar')],
      widths: [500, 600],
    });
    expect([0, 1, 2, 3].map((id) => face.advance(id))).toEqual([500, 580, 500, 630]);
  });

  it('calls subroutines with the bias of their number, and no deeper than ten', () => {
    const tail = cs(50, 'hlineto', 'endchar');
    const face = open({
      charStrings: [NOTDEF, cs(10, 'hmoveto', -107, 'callsubr'), cs(10, 'hmoveto', -106, 'callgsubr', 'endchar')],
      localSubrs: [cs(-107, 'callgsubr')],
      globalSubrs: [tail, cs(-106, 'callgsubr', -106, 'callgsubr')],
    });
    expect(pathText(face.outline(1))).toBe('M10 0 L60 0 Z');
    expect(face.outline(2).isEmpty).toBe(true);
    const many = open({
      charStrings: [NOTDEF, cs(10, 'hmoveto', 1239 - 1131, 'callgsubr')],
      globalSubrs: Array.from({ length: 1240 }, (_, i) => (i === 1239 ? tail : cs('return'))),
    });
    expect(pathText(many.outline(1))).toBe('M10 0 L60 0 Z');
  });

  it('makes accented glyphs of two others', () => {
    const accented = cs(40, 300, 65, 193, 'endchar');
    const grave = cs(1, 'hmoveto', 2, 'hlineto', 'endchar');
    const face = open({ charStrings: [NOTDEF, BOX, grave, accented], charset: [34, 124, 174] });
    expect(pathText(face.outline(3))).toBe('M100 0 L100 700 L300 700 L300 0 Z M41 300 L43 300 Z');
    expect(face.glyphForCodePoint(0x41)).toBe(1);
    expect(face.glyphForCodePoint(0xc0)).toBe(3);
  });
});

describe('bare CFF', () => {
  it('is a face of its own, named by its glyph names', () => {
    const face = open({ charStrings: [NOTDEF, BOX, BOX], charset: [391, 66], strings: ['uni4E2D'] });
    expect(face.postScriptName).toBe('ABCDEF+Hand');
    expect(face.unitsPerEm).toBe(1000);
    expect(face.glyphForCodePoint(0x4e2d)).toBe(1);
    expect(face.glyphForCodePoint(0x61)).toBe(2);
  });

  it('applies FontMatrix: another em, or a slant', () => {
    const fine = open({
      charStrings: [NOTDEF, BOX],
      fontMatrix: ['0.00048828125', '0', '0', '0.00048828125', '0', '0'],
    });
    expect(fine.unitsPerEm).toBe(2048);
    expect(pathText(fine.outline(1))).toBe('M100 0 L100 700 L300 700 L300 0 Z');
    const slanted = open({ charStrings: [NOTDEF, BOX], fontMatrix: ['0.001', '0', '0.0002', '0.001', '0', '0'] });
    expect(pathText(slanted.outline(1))).toBe('M100 0 L240 700 L440 700 L300 0 Z');
  });
});

describe('CID-keyed CFF', () => {
  const cid = { select: [0, 1, 1], matrices: [undefined, undefined] };

  it('takes the numbers of CGTransform as CIDs, unknown ones as glyph ids', () => {
    const face = open({ charStrings: [NOTDEF, BOX, BOX], charset: [1063, 4605], cid });
    expect(face.hasCharacterMap).toBe(false);
    expect(face.glyphForTransform(4605)).toBe(2);
    expect(face.glyphForTransform(1)).toBe(1);
    expect(face.glyphForTransform(3)).toBe(0);
    expect(pathText(face.outline(1))).toContain('L100 700');
  });

  it.each([
    ['in the dictionary alone', undefined, ['0.0005', '0', '0', '0.0005', '0', '0'], 2000],
    ['split over both', ['0.001', '0', '0', '0.001', '0', '0'], ['1', '0', '0', '1', '0', '0'], 1000],
    ['twice the same', ['0.001', '0', '0', '0.001', '0', '0'], ['0.001', '0', '0', '0.001', '0', '0'], 1000],
  ])('FontMatrix %s', (_, top, own, unitsPerEm) => {
    const face = open({
      charStrings: [NOTDEF, BOX],
      cid: { select: [0, 0], matrices: [own] },
      ...(top === undefined ? {} : { fontMatrix: top }),
    });
    expect(face.unitsPerEm).toBe(unitsPerEm);
    expect(pathText(face.outline(1))).toBe('M100 0 L100 700 L300 700 L300 0 Z');
  });
});

describe('CFF in OpenType', () => {
  it('goes by hmtx and head', () => {
    const { head, hhea, maxp } = trueTypeTables({ glyphs: [new Uint8Array(0), new Uint8Array(0)] });
    const font = cff({ charStrings: [NOTDEF, BOX], widths: [500, 0] });
    const bytes = sfnt({ 'CFF ': font, head: head!, hhea: hhea!, hmtx: word(250, 0, 750, 0), maxp: maxp! }, 0x4f54544f);
    const face = openFace(bytesSource(bytes), { key: 'test' })!;
    expect([0, 1].map((id) => face.advance(id))).toEqual([250, 750]);
    expect(pathText(face.outline(1))).toBe('M100 0 L100 700 L300 700 L300 0 Z');
  });
});
