// Whose fault it is when a product does not reach its target.
import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HashedFile } from '../../src/transfer/remote/outgoing-file.js';
import { temporaryFolder } from '../support/jobs.js';

const CONTENT = Buffer.alloc(1_000_000, 'x');

let folder: ReturnType<typeof temporaryFolder>;
let file: HashedFile;
let path: string;

beforeEach(() => {
  folder = temporaryFolder('outgoing');
  path = join(folder.path, 'a.pdf');
  writeFileSync(path, CONTENT);
  const sha256 = createHash('sha256').update(CONTENT).digest('hex');
  file = new HashedFile({ name: 'a.pdf', path, sizeBytes: CONTENT.length, sha256 }, () => undefined);
});
afterEach(() => folder.remove());

it('is not that of the file where its reader fails, in whatever way', async () => {
  const loop = async (): Promise<void> => {
    for await (const _piece of file.next()) throw new Error('the server said no');
  };
  await expect(loop()).rejects.toThrow('the server said no');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(file.failure).toBeUndefined();

  file.restart();
  const full = new Writable({ write: (_piece, _encoding, done) => done(new Error('no space')) });
  await expect(pipeline(file.next(), full)).rejects.toThrow('no space');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(file.failure).toBeUndefined();
});

it('is that of the file where it changed, or is gone', async () => {
  const all = async (): Promise<void> => {
    for await (const _piece of file.next());
  };
  writeFileSync(path, Buffer.alloc(CONTENT.length, 'y'));
  await expect(all()).rejects.toMatchObject({ code: 'checksum_mismatch' });
  expect(file.failure).toMatchObject({ code: 'checksum_mismatch' });
  file.restart();
  rmSync(path);
  await expect(all()).rejects.toMatchObject({ code: 'ENOENT' });
  expect(file.failure).toMatchObject({ code: 'ENOENT' });
});
