// The spreadsheet that stands for a CSV file: its cells, and where a sheet ends.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeCsvSheet } from '../../src/convert/office/csv-sheet.js';
import { temporaryFolder } from '../support/jobs.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder('csv-sheet');
});
afterEach(() => folder.remove());

async function sheetOf(text: string): Promise<{ isWhole: boolean; cells: string[]; xml: string }> {
  const [from, to] = [join(folder.path, 'a.csv'), join(folder.path, 'a.fods')];
  writeFileSync(from, text);
  const isWhole = await writeCsvSheet(from, to, ',', AbortSignal.timeout(60_000));
  const xml = readFileSync(to, 'utf8');
  const cells = [...xml.matchAll(/<table:table-cell[^>]*?(?:\/>|>(.*?)<\/table:table-cell>)/g)].map(
    ([, cell = '']) => cell,
  );
  return { isWhole, cells, xml };
}

it('keeps every letter of a field', async () => {
  const { isWhole, cells, xml } = await sheetOf('a & <b>,"  x  y ","1\n2",,\u0007\t𠮷');
  expect(isWhole).toBe(true);
  expect(cells).toEqual([
    '<text:p>a &amp; &lt;b&gt;</text:p>',
    '<text:p><text:s text:c="2"/>x<text:s text:c="2"/>y<text:s text:c="1"/></text:p>',
    '<text:p>1</text:p><text:p>2</text:p>',
    '',
    '<text:p><text:s text:c="1"/>𠮷</text:p>',
  ]);
  expect([...xml.matchAll(/<table:table-column table:style-name="w(\d+)"/g)].map(([, width]) => Number(width))).toEqual(
    [17, 17, 10, 10, 11],
  );
});

it('tells where a sheet has fewer columns, or fewer rows', async () => {
  const wide = await sheetOf(`${','.repeat(16_384)}x\n1`);
  expect([wide.isWhole, wide.cells.length]).toEqual([false, 16_384 + 1]);
  folder.remove();
  folder = temporaryFolder('csv-sheet');
  const long = await sheetOf('\n'.repeat(1_048_577));
  expect([long.isWhole, long.xml.split('<table:table-row>').length - 1]).toEqual([false, 1_048_576]);
});
