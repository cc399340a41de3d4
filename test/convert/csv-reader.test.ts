// Rows and fields of CSV as spreadsheets read them, however the text is cut into pieces.
import { describe, expect, it } from 'vitest';
import { CsvReader } from '../../src/convert/office/csv-reader.js';
import { processorClock } from '../support/processor-time.js';

function read(text: string, separator: string, pieceLength: number): (readonly string[])[] {
  const reader = new CsvReader(separator);
  const rows: (readonly string[])[] = [];
  for (let at = 0; at < text.length; at += pieceLength) rows.push(...reader.add(text.slice(at, at + pieceLength)));
  return [...rows, ...reader.end()];
}

describe('a row', () => {
  it.each<readonly [string, string, readonly (readonly string[])[]]>([
    ['ends with a line of any kind', 'a,b\nc\r\nd\re', [['a', 'b'], ['c'], ['d'], ['e']]],
    ['may end with the text', 'a,b', [['a', 'b']]],
    ['may be empty', 'a\n\nb\n', [['a'], [''], ['b']]],
    ['has empty fields', ',a,,\n', [['', 'a', '', '']]],
    ['holds what is quoted', '"a,b","c\nd","e ""f"""\n', [['a,b', 'c\nd', 'e "f"']]],
    ['has quotes that do not begin a field', '5" x,6""\n', [['5" x', '6""']]],
    ['goes on behind a quote', '"a"b,c\n', [['ab', 'c']]],
    [
      'has a quote without an end',
      '"a,b\nc,d\n',
      [
        ['"a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['has astral characters', '𠮷,"𠮷"\n', [['𠮷', '𠮷']]],
  ])('%s', (_, text, rows) => {
    for (const length of [1, 2, 3, 100]) expect(read(text, ',', length)).toEqual(rows);
  });

  it('is cut at its own separator', () => {
    expect(read('a;b,c|d\te', ';', 100)).toEqual([['a', 'b,c|d\te']]);
    expect(read('a;b,c|d\te', '|', 100)).toEqual([['a;b,c', 'd\te']]);
    expect(read('a;b,c|d\te', '\t', 100)).toEqual([['a;b,c|d', 'e']]);
  });

  it.each([
    ['one field', 'a'.repeat(20_000_000)],
    ['quotes without an end', '"a,'.repeat(1_000_000)],
    ['doubled quotes without an end', '""'.repeat(3_000_000)],
  ])('of %s alone takes little time', (_, text) => {
    const took = processorClock();
    read(text, ',', 65_536);
    expect(took()).toBeLessThan(5000);
  });
});
