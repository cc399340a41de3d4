// Products that are old enough go, with the folders that they leave empty; everything else stays (output_retention).
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startOutputRetention } from '../../src/app/output-retention.js';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.now();

let folder: string;
let outputDir: string;
let removed: number[][];
let errors: unknown[];
let mustWait: boolean;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'retention-'));
  outputDir = join(folder, 'out');
  removed = [];
  errors = [];
  mustWait = false;
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, ageHours: number): string {
  const file = join(outputDir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, 'product');
  utimesSync(file, new Date(), new Date(NOW_MS - ageHours * HOUR_MS));
  return file;
}

/** Until it tells of something (of what it removed, where `goesOn` behind an error), or for `quietMs`. */
async function pass(quietMs = 20_000, goesOn = false): Promise<void> {
  let tell: () => void = () => undefined;
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const retention = startOutputRetention({
    outputDir,
    retentionMs: 24 * HOUR_MS,
    now: () => NOW_MS,
    mustWait: () => mustWait,
    onRemoved: (...counts) => {
      removed.push(counts);
      tell();
    },
    onError: (error) => {
      errors.push(error);
      if (!goesOn) tell();
    },
  });
  await Promise.race([told, new Promise((resolve) => setTimeout(resolve, quietMs))]);
  await retention.close();
}

it('removes what is old, and folders that are empty after that', async () => {
  const kept = [put('8d/new/output.pdf', 1), put('shared/young.png', 23), put('mixed/young.pdf', 2)];
  const gone = [put('8d/old/output.pdf', 25), put('mixed/old.pdf', 48), put('deep/er/and/deeper/a.png', 100)];
  mkdirSync(join(outputDir, 'made-by-hand'));
  await pass();
  expect(kept.map((file) => existsSync(file))).toEqual([true, true, true]);
  expect(gone.map((file) => existsSync(file))).toEqual([false, false, false]);
  expect(readdirSync(outputDir).sort()).toEqual(['8d', 'made-by-hand', 'mixed', 'shared']);
  expect(readdirSync(join(outputDir, '8d'))).toEqual(['new']);
  expect([removed, errors]).toEqual([[[3, 21]], []]);
});

it('follows no link and leaves the folder itself', async () => {
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'precious'), '');
  utimesSync(join(outside, 'precious'), 0, 0);
  put('a.pdf', 100);
  symlinkSync(outside, join(outputDir, 'link'));
  await pass();
  expect(existsSync(join(outside, 'precious'))).toBe(true);
  expect(readdirSync(outputDir)).toEqual(['link']);
});

it('a folder that cannot be read, such as lost+found, keeps no other from its turn', async () => {
  const gone = [put('aa/old.pdf', 100), put('zz/old.pdf', 100)];
  const closed = join(outputDir, 'lost+found');
  mkdirSync(closed, { mode: 0o700 });
  const nobody = 65534;
  chmodSync(folder, 0o755);
  for (const path of [outputDir, ...gone.map(dirname)]) chownSync(path, nobody, nobody);
  process.seteuid?.(nobody);
  try {
    await pass(20_000, true);
  } finally {
    process.seteuid?.(0);
  }
  expect(gone.map((file) => existsSync(file))).toEqual([false, false]);
  expect(errors).toEqual([expect.objectContaining({ code: 'EACCES', path: closed })]);
});

it('touches nothing of a volume that hangs, and says when there is no folder', async () => {
  const file = put('a.pdf', 100);
  mustWait = true;
  await pass(300);
  expect([existsSync(file), removed, errors]).toEqual([true, [], []]);
  rmSync(outputDir, { recursive: true });
  await pass();
  expect(errors).toHaveLength(1);
});
