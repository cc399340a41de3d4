// The files of a conversion: whole and hashed, no larger than they may be, gone where it fails; and the thread that
// answers requests waits for no disk (contract V3).
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OutputFiles } from '../../src/convert/output-files.js';
import { HangingFolder } from '../support/hanging-folder.js';
import { temporaryFolder } from '../support/jobs.js';

let folder: ReturnType<typeof temporaryFolder>;
let directory: string;

beforeEach(() => {
  folder = temporaryFolder('output-files');
  directory = join(folder.path, 'products');
  mkdirSync(directory);
});
afterEach(() => folder.remove());

const outputAt = (path: string, limitBytes?: number): OutputFiles =>
  new OutputFiles(path, { document: () => 'output.pdf', page: (page) => `page-${page}.png` }, limitBytes);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const CONTENT = Buffer.alloc(700_000, 'words ');

describe.each(['at once', 'as the disk takes it'])('a document that is written %s', (way) => {
  async function open(output: OutputFiles): Promise<(bytes: Uint8Array) => unknown> {
    const file = way === 'at once' ? output.openDocument() : await output.openDocumentAsync();
    return (bytes) => file.write(bytes);
  }

  it('is there whole, under its name, with its size and hash', async () => {
    const output = outputAt(directory);
    const write = await open(output);
    for (let at = 0; at < CONTENT.length; at += 100_000) await write(CONTENT.subarray(at, at + 100_000));
    const path = join(directory, 'output.pdf');
    expect(await output.finish()).toEqual([
      { name: 'output.pdf', path, sizeBytes: CONTENT.length, sha256: sha256(CONTENT) },
    ]);
    expect(readFileSync(path).equals(CONTENT)).toBe(true);
  });

  it('may be as large as it may, and not a byte larger', async () => {
    const output = outputAt(directory, 10);
    const write = await open(output);
    await write(Buffer.alloc(10));
    await expect((async () => write(Buffer.alloc(1)))()).rejects.toMatchObject({
      code: 'output_too_large',
      reason: 'too_large',
    });
    await output.discard();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is gone where it is discarded, also when it was finished', async () => {
    const half = outputAt(directory);
    await (await open(half))(CONTENT);
    await half.discard();
    expect(readdirSync(directory)).toEqual([]);
    const whole = outputAt(directory);
    await (await open(whole))(CONTENT);
    await whole.finish();
    await whole.discard();
    expect(readdirSync(directory)).toEqual([]);
  });
});

it('pages are finished one after the other, and discarded together', async () => {
  const output = outputAt(directory);
  for (const page of [1, 2, 3]) output.openPage(page).write(Buffer.from(`page ${page}`));
  expect((await output.finish()).map(({ name, sizeBytes }) => [name, sizeBytes])).toEqual([
    ['page-1.png', 6],
    ['page-2.png', 6],
    ['page-3.png', 6],
  ]);
  await output.discard();
  expect(readdirSync(directory)).toEqual([]);
});

it('a disk that hangs stops nobody but who writes there', async () => {
  const volume = await HangingFolder.mount(folder.path);
  try {
    const output = outputAt(volume.path);
    const file = await output.openDocumentAsync();
    await file.write(CONTENT);
    volume.hang();
    let isWritten = false;
    const writing = file.write(CONTENT).then(() => {
      isWritten = true;
    });
    let looks = 0;
    for (const started = performance.now(); performance.now() - started < 500; looks += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(looks).toBeGreaterThan(20);
    expect(isWritten).toBe(false);
    volume.goOn();
    await writing;
    const hash = sha256(Buffer.concat([CONTENT, CONTENT]));
    expect(await output.finish()).toMatchObject([{ sizeBytes: 2 * CONTENT.length, sha256: hash }]);
  } finally {
    volume.goOn();
    await volume.close();
  }
});
