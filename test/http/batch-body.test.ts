// The body of a batch, taken apart as it comes in pieces of any size.
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BatchBodyReader, type ReadItem } from '../../src/http/batch-body.js';
import { type Upload, UploadWriter } from '../../src/http/upload.js';
import { temporaryFolder } from '../support/jobs.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder('batch');
});
afterEach(() => folder.remove());

async function read(text: string | Buffer, size: number): Promise<{ frame: unknown; items: ReadItem[] }> {
  const items: ReadItem[] = [];
  const reader = new BatchBodyReader(
    () => new UploadWriter(folder.path),
    async (item, index) => {
      expect(index).toBe(items.length);
      items.push(item);
    },
  );
  const bytes = Buffer.from(text as string);
  try {
    for (let at = 0; at < bytes.length; at += size) await reader.write(bytes.subarray(at, at + size));
    return { frame: reader.finish(), items };
  } catch (error) {
    await reader.discard();
    throw error;
  }
}

const valuesOf = (items: readonly ReadItem[]): unknown[] =>
  items.map((item) => ('json' in item ? item.json.value : item.fault.message));
const SIZES = [1, 2, 7, 1000, 1_000_000];
const LONG = 'QUJD'.repeat(30_000);

it.each(SIZES)('is its items and what is around them, in pieces of %i', async (size) => {
  const items = [
    { a: 'x"],\\', items: [1, { b: [] }], c: '票' },
    { input: { bytes: 'QUJD' } },
    'text, with ] and }',
    -1.5e3,
    null,
    [1, [2]],
    {},
  ];
  for (const space of [undefined, 2]) {
    const text = JSON.stringify(
      { before: { items: [1] }, items, after: ['"items":[', { items: [2, 3] }] },
      null,
      space,
    );
    const { frame, items: found } = await read(text, size);
    expect(valuesOf(found)).toEqual(items);
    expect(frame).toEqual({
      before: { items: [1] },
      items: [0, 1, 2, 3, 4, 5, 6],
      after: ['"items":[', { items: [2, 3] }],
    });
  }
});

it.each(SIZES)('has a long text in every item that has one, in pieces of %i', async (size) => {
  const text = JSON.stringify({
    items: Array.from({ length: 5 }, (_, n) => ({ n, input: { bytes: LONG.slice(n * 4) } })),
  });
  const { items } = await read(text, size);
  for (const [n, item] of items.entries()) {
    if (!('json' in item)) throw item.fault;
    const { value, longText } = item.json;
    expect(value).toEqual({ n, input: { bytes: longText?.placeholder } });
    const { input } = (longText as { upload: Upload }).upload;
    expect('path' in input && readFileSync(input.path).equals(Buffer.from(LONG.slice(n * 4), 'base64'))).toBe(true);
  }
  expect(readdirSync(folder.path)).toHaveLength(5);
});

it('has no items where the list is empty', async () => {
  for (const text of ['{"items":[]}', '{"items" : [ \n ] }']) {
    expect(await read(text, 3)).toEqual({ frame: { items: [] }, items: [] });
  }
});

it('keeps what is wrong with one item from the others', async () => {
  const text = `{"items":[{"a":"${LONG}","b":"${LONG}"},{"a":1,"a":2},{"c":"${'x'.repeat(200_000)}"},{"d":"${'y ,'.repeat(60_000)}"},{"ok":1}]}`;
  for (const size of [1000, 1_000_000]) {
    const { items, frame } = await read(text, size);
    expect(frame).toEqual({ items: [0, 1, 2, 3, 4] });
    const values = valuesOf(items);
    expect(values[0]).toMatch(/second long text/);
    expect(values[1]).toMatch(/^a: the field is given twice/);
    expect(values[4]).toEqual({ ok: 1 });
  }
});

describe('what is no JSON', () => {
  it.each([
    ['{"items":[{"a" 1}]}', /items\[0\] is no valid JSON at character 5/],
    ['{"items":[{},{"a":"\\x"}]}', /items\[1\] is no valid JSON/],
    ['{"items":[nothing]}', /items\[0\] is no valid JSON at character 0/],
    ['{"items":[{},]}', /The body is no valid JSON at character 13/],
    ['{"items":[,{}]}', /The body is no valid JSON at character 10/],
    ['{"items":[{"a":1}', /The body is no valid JSON.*where it ends/],
    ['{"items":[{"a":"', /The body is no valid JSON.*where it ends/],
    ['{"items":[{"a":1}}', /The body is no valid JSON at character 17/],
    ['{"items":[{"a":{"bb":[1,2,3]}}] "x"}', /The body is no valid JSON at character 32/],
    ['', /body is empty/],
    [']]]]', /The body is no valid JSON at character 0/],
    ['{"items":[1],"items":[2]}', /items: the field is given twice/],
  ])('%s', async (text, says) => {
    for (const size of [1, 1000]) await expect(read(text, size)).rejects.toThrow(says);
  });

  it('and what is not UTF-8', async () => {
    const bytes = Buffer.from('{"items":[{"a":"\xff"}]}', 'latin1');
    await expect(read(bytes, 100)).rejects.toThrow(/items\[0\]|UTF-8/);
    await expect(read(Buffer.from('{"x":"\xff","items":[]}', 'latin1'), 100)).rejects.toThrow(/UTF-8/);
  });

  it('and what is too much, with nothing left behind', async () => {
    await expect(read(`{"items":[${'1,'.repeat(1000)}1]}`, 5000)).rejects.toThrow(/more than 1000/);
    await expect(read(`{"x":"${'x'.repeat(70_000)}","items":[]}`, 5000)).rejects.toThrow(/larger than 65536 bytes/);
    await expect(read(`{"items":[{"bytes":"${LONG}`, 5000)).rejects.toThrow();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
