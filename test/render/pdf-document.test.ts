// The file around the pages: information, page tree, growth while pages come, sameness.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { DisplayList } from '../../src/display/list.js';
import { pdfDate } from '../../src/render/pdf/dates.js';
import { coordinateDecimals, formatFactor, formatNumber } from '../../src/render/pdf/number.js';
import { toUnicodeMap } from '../../src/render/pdf/to-unicode.js';
import { block, faultsOf, makePdf, page, RED, toolOutput, unpacked } from './pdf-support.js';

function* pagesOfBlocks(count: number): Generator<DisplayList> {
  for (let number = 1; number <= count; number++) {
    const items = Array.from({ length: 200 }, (_, i) => block((i * 7.31 + number) % 90, (i * 3.77) % 90, 5, 5, RED));
    yield page(items, number);
  }
}

describe('the document', () => {
  it('has its pages in order and in millimetres', async () => {
    const { bytes } = await makePdf([page([], 1, 210, 297), page([], 2, 100, 50.5)]);
    expect(faultsOf(bytes)).toBe('');
    const info = toolOutput('pdfinfo', ['-f', '1', '-l', '2'], bytes);
    expect(info).toMatch(/Page +1 size: +595\.276 x 841\.89 pts/);
    expect(info).toMatch(/Page +2 size: +283\.465 x 143\.15 pts/);
  });

  it('keeps many pages in a tree', async () => {
    const pages = Array.from({ length: 250 }, (_, i) => page([], i + 1, 100 + i, 100));
    const { bytes } = await makePdf(pages);
    expect(faultsOf(bytes)).toBe('');
    const info = toolOutput('pdfinfo', ['-f', '1', '-l', '250'], bytes);
    const widths = [...info.matchAll(/size: +([\d.]+) x/g)].map((match) => Math.round((Number(match[1]) * 25.4) / 72));
    expect(widths).toEqual(pages.map((list) => list.widthMm));
  });

  it('is a document without pages too', async () => {
    const { bytes } = await makePdf([]);
    expect(bytes.toString('latin1')).toMatch(/^%PDF-1\.7\n[\s\S]+%%EOF\n$/);
  });

  it('tells what the source tells', async () => {
    const { bytes } = await makePdf([page([])], {
      title: '发票 ①',
      author: 'A (b) \\',
      keywords: ['甲', 'b'],
      creationDate: '2020-01-25 15:31:56',
      modificationDate: 'yesterday',
    });
    const info = toolOutput('pdfinfo', ['-rawdates'], bytes);
    expect(info).toMatch(/^Title: +发票 ①$/m);
    expect(info).toMatch(/^Author: +A \(b\) \\$/m);
    expect(info).toMatch(/^Keywords: +甲, b$/m);
    expect(info).toMatch(/^Producer: +ofd-server$/m);
    expect(info).toMatch(/^CreationDate: +D:20200125153156\+08'00$/m);
    expect(info).not.toContain('ModDate');
  });

  it('is the same for the same input, and tells different ones apart', async () => {
    const make = async (count: number): Promise<Buffer> => (await makePdf(pagesOfBlocks(count), { title: 't' })).bytes;
    const [first, second, other] = [await make(3), await make(3), await make(4)];
    expect(first.equals(second)).toBe(true);
    const identifier = (bytes: Buffer): string | undefined => /\/ID \[ <(\w+)>/.exec(bytes.toString('latin1'))?.[1];
    expect(identifier(first)).toMatch(/^[0-9a-f]{32}$/);
    expect(identifier(first)).not.toBe(identifier(other));
  });

  it('goes out while its pages come', async () => {
    const { bytes, writtenAfterPage } = await makePdf(pagesOfBlocks(50));
    const steps = writtenAfterPage.map((written, i) => written - (writtenAfterPage[i - 1] ?? 0));
    expect(Math.min(...steps)).toBeGreaterThan(300);
    expect(writtenAfterPage[49]).toBeGreaterThan(bytes.length * 0.9);
  });

  it('keeps nothing of the pages that went out', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapBytes: number[] = [];
    function* watched(): Generator<DisplayList> {
      for (const list of pagesOfBlocks(900)) {
        if (list.pageNumber % 300 === 1) {
          collect();
          heapBytes.push(process.memoryUsage().heapUsed);
        }
        yield list;
      }
    }
    await makePdf(watched());
    expect(heapBytes[2]! - heapBytes[1]!).toBeLessThan(2_000_000);
  });

  it('marks pages that need a transparency model, and only those', async () => {
    const { bytes } = await makePdf([
      page([block(0, 0, 5, 5, RED)]),
      page([{ ...block(0, 0, 5, 5, RED), blendMode: 'multiply' }], 2),
    ]);
    expect(unpacked(bytes).match(/\/S \/Transparency/g)).toHaveLength(1);
  });
});

describe('numbers', () => {
  it.each([
    [0, 3, '0'],
    [-0.0004, 3, '0'],
    [0.5, 3, '.5'],
    [-0.25, 3, '-.25'],
    [1.00049, 3, '1'],
    [123.4567, 3, '123.457'],
    [4e-7, 9, '.0000004'],
    [-4e-7, 9, '-.0000004'],
    [1e300, 3, '1000000000'],
    [-Infinity, 3, '-1000000000'],
    [Number.NaN, 3, '0'],
  ])('write %d with %d decimals', (value, decimals, wanted) => {
    expect(formatNumber(value, decimals)).toBe(wanted);
  });

  it('have digits after the size of what they measure', () => {
    expect([1, 0.01, 100].map(coordinateDecimals)).toEqual([3, 1, 5]);
    expect([2.834645669, 0.00012345678, 1234.56789].map(formatFactor)).toEqual(['2.834646', '.000123457', '1234.568']);
  });
});

describe('dates', () => {
  it.each([
    ['2020-08-17', 'D:20200817'],
    ['2020-08-17T19:13:09', "D:20200817191309+08'00"],
    ['2020-01-25 15:31:56 ', "D:20200125153156+08'00"],
    ['2006/01/02 15:04:05', "D:20060102150405+08'00"],
    ['20201116063601Z', 'D:20201116063601Z'],
    ['20201116063601.779Z', 'D:20201116063601Z'],
    ['2020年08月05日', 'D:20200805'],
    ['2020年8月5日 9:05', "D:20200805090500+08'00"],
    ['2021-03-04T05:06:07+08:00', "D:20210304050607+08'00"],
    ["D:20210304050607+08'00'", "D:20210304050607+08'00"],
    ['2021', 'D:20210101'],
  ])('read %s', (text, wanted) => {
    expect(pdfDate(text)).toBe(wanted);
  });

  it.each(['', 'null', '2020-13-01', '2020-01-32', '2021-02-29', '2020-01-01 25:00', '昨天'])(
    'leave out %s',
    (text) => {
      expect(pdfDate(text)).toBeUndefined();
    },
  );
});

describe('the character map', () => {
  it('has blocks of at most a hundred', () => {
    const map = toUnicodeMap(['', ...Array.from({ length: 250 }, (_, i) => String.fromCharCode(0x4e00 + 2 * i))]);
    expect([...map.matchAll(/^(\d+) beginbfchar$/gm)].map((match) => match[1])).toEqual(['100', '100', '50']);
  });

  it('joins rows of characters, never across a last byte', () => {
    const map = toUnicodeMap(['', ...Array.from({ length: 300 }, (_, i) => String.fromCharCode(0x40f0 + i))]);
    const ranges = [...map.matchAll(/^<(\w{4})><(\w{4})><(\w{4})>$/gm)].map((match) => match.slice(1));
    expect(ranges).toEqual([
      ['0001', '0010', '40F0'],
      ['0011', '00FF', '4100'],
      ['0100', '0110', '41EF'],
      ['0111', '012C', '4200'],
    ]);
  });

  it('writes several characters and those beyond the first plane', () => {
    expect(toUnicodeMap(['', 'ffi', '\u{20000}'])).toContain('<0001><006600660069>\n<0002><D840DC00>\n');
  });
});
