import { describe, expect, it } from 'vitest';
import { codeUnits, parseDeltas } from '../../../src/ofd/build/text-code.js';

describe('steps', () => {
  it.each([
    ['g 3 4.2 5 g 2 1', [4.2, 4.2, 4.2, 5, 1, 1]],
    ['1  2,3\n4', [1, 2, 3, 4]],
    ['G 2 7', [7, 7]],
    ['g2 7', [7, 7]],
    ['1 g 2', [1]],
    ['1 g', [1]],
    ['g 0 5 6', [6]],
    ['', []],
    ['null', []],
    ['-1 1e1', [-1, 10]],
  ])('of "%s"', (text, expected) => {
    expect(parseDeltas(text, 100)).toEqual(expected);
  });

  it('are written out no further than can be of use', () => {
    expect(parseDeltas('g 1000000000 1', 5)).toHaveLength(5);
    expect(parseDeltas(undefined, 5)).toEqual([]);
  });
});

describe('characters', () => {
  it.each([
    ['plain text', 'a b', 0, ['a', ' ', 'b']],
    ['indentation around', '\n      甲乙\n   ', 1, ['甲', '乙']],
    ['a break inside', '甲\n   乙', 0, ['甲', '乙']],
    ['blanks before a break that the steps do not count', '  \n 甲乙', 1, ['甲', '乙']],
    ['breaks that the steps count', '甲\n乙', 2, ['甲', '\n', '乙']],
    ['an escaped blank and control', 'a\\0020b\\0007', 0, ['a', ' ', 'b', '\x07']],
    ['a pair escaped in halves', 'a\\D840\\dc00', 0, ['a', '𠀀']],
    ['a path of Windows', 'C:\\1234\\dada', 0, Array.from('C:\\1234\\dada')],
    ['entities escaped twice', '&lt;a&gt;', 0, ['<', 'a', '>']],
    ['entities that the steps count letter by letter', '&lt;', 3, ['&', 'l', 't', ';']],
    ['other things that look like entities', '&nbsp;', 0, Array.from('&nbsp;')],
    ['pairs as one', '𠀀a', 0, ['𠀀', 'a']],
    ['pairs as two where the steps say so', '𠀀a', 2, ['𠀀', '', 'a']],
    ['pairs as one where the steps say so', '𠀀a', 1, ['𠀀', 'a']],
  ])('%s', (_, raw, steps, expected) => {
    expect(codeUnits(raw, steps)).toEqual(expected);
  });
});
