/** Sink `dir` on real folders: its rules, and that a product appears whole, once, or not at all. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import type { Delivery, SinkFile } from '../../src/transfer/sink.js';
import { directorySink, prepareOutputDir } from '../../src/transfer/sinks/directory.js';
import { temporaryFolder } from '../support/jobs.js';

const JOB = 'dn8h75g98u8d';
const OWN = join('8d', 'dn8h75g98u');

let folder: ReturnType<typeof temporaryFolder>;
let outputDir: string;
let workspace: string;
let outside: string;

beforeEach(() => {
  folder = temporaryFolder('sink');
  for (const name of ['out', 'work', 'outside']) mkdirSync(join(folder.path, name));
  outputDir = join(folder.path, 'out');
  workspace = join(folder.path, 'work');
  outside = join(folder.path, 'outside');
});

afterEach(() => folder.remove());

function made(name: string, content: string | Buffer): SinkFile {
  const path = join(workspace, name);
  writeFileSync(path, content, { mode: 0o600 });
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { name, path, sizeBytes: Buffer.byteLength(content), sha256 };
}

interface Options {
  readonly dir?: string | undefined;
  readonly attempt?: number;
  readonly signal?: AbortSignal;
}

function deliver(files: SinkFile[], { dir, attempt = 1, signal }: Options = {}): Promise<Delivery> {
  const sink = directorySink.open({ jobId: JOB, attempt }, { dir }, { outputDir });
  return sink.deliver(files, signal ?? new AbortController().signal, () => undefined);
}

/** Every file and folder below a folder, folders with a slash behind. */
function tree(path: string): string[] {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .map((entry) => `${join(entry.parentPath, entry.name).slice(path.length + 1)}${entry.isDirectory() ? '/' : ''}`)
    .sort();
}

describe('the place', () => {
  it("is a folder of the job's own, cut at the end of its id", async () => {
    const file = made('output.pdf', '%PDF-');
    expect(await deliver([file])).toEqual({
      output: { kind: 'dir', path: join(outputDir, OWN), sizeBytes: 5 },
      receipts: [
        {
          name: 'output.pdf',
          sizeBytes: 5,
          sha256: file.sha256,
          location: join(outputDir, OWN, 'output.pdf'),
          reused: false,
          deliveredAtMs: expect.closeTo(Date.now(), -5),
        },
      ],
    });
    expect(tree(outputDir)).toEqual(['8d/', '8d/dn8h75g98u/', '8d/dn8h75g98u/output.pdf']);
    expect(readFileSync(join(outputDir, OWN, 'output.pdf'), 'utf8')).toBe('%PDF-');
  });

  it.each([
    ['a/b', 'a/b'],
    ['a//b/./c/', 'a/b/c'],
    ['.', ''],
    ['2026/发票/v1.2..x', '2026/发票/v1.2..x'],
    ['a b', 'a b'],
  ])('may be named by the request: %j', async (dir, expected) => {
    const { output } = await deliver([made('x.txt', 'x')], { dir });
    expect(output.path).toBe(join(outputDir, expected));
    expect(existsSync(join(outputDir, expected, 'x.txt'))).toBe(true);
  });

  it('may be named from the root, where it lies inside', async () => {
    for (const dir of [`${outputDir}/abs`, `${outputDir}//abs/./deep/`, outputDir, `${outputDir}/`]) {
      const { receipts } = await deliver([made('x.txt', dir)], { dir });
      expect(receipts[0]?.location.startsWith(`${outputDir}/`)).toBe(true);
      rmSync(receipts[0]?.location ?? '');
    }
    expect(tree(outputDir)).toEqual(['abs/', 'abs/deep/']);
  });

  it.each([
    ['a ".." component', '../x'],
    ['a ".." component', 'a/../b'],
    ['a ".." component', 'a/..'],
    ['a ".." component', '..'],
    ['a backslash', 'a\\b'],
    ['control characters', 'a\nb'],
    ['control characters', 'a\0b'],
    ['control characters', 'a\u007f'],
    ['control characters', 'a\u0085'],
    ['control characters', 'a\ud800'],
    ['at most 400 bytes', `${'a/'.repeat(200)}b`],
    ['at most 400 bytes', '汉/'.repeat(101)],
    ['more than 255 bytes', 'a'.repeat(256)],
    ['inside it', '/etc'],
    ['inside it', '/'],
  ])('is refused for %s: %j', (rule, dir) => {
    const check = (): void => directorySink.check({ dir }, { outputDir });
    expect(check).toThrow(ServiceError);
    expect(check).toThrow(rule);
    expect(() => directorySink.open({ jobId: JOB, attempt: 1 }, { dir }, { outputDir })).toThrow(rule);
  });

  it('is refused where it only begins like output_dir', () => {
    expect(() => directorySink.check({ dir: `${outputDir}-2/x` }, { outputDir })).toThrow('inside it');
    expect(() => directorySink.check({ dir: `${outputDir}/x` }, { outputDir })).not.toThrow();
    expect(() => directorySink.check({}, { outputDir })).not.toThrow();
  });
});

describe('symbolic links', () => {
  it('never lead out of output_dir, on the way or at its end', async () => {
    symlinkSync(outside, join(outputDir, 'link'));
    symlinkSync('/', join(outputDir, 'root'));
    mkdirSync(join(outputDir, '8d'));
    symlinkSync(outside, join(outputDir, OWN));
    for (const dir of ['link', 'link/deeper', 'root/tmp', undefined]) {
      await expect(deliver([made('x.txt', 'x')], { dir })).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('symbolic link'),
      });
    }
    expect(tree(outside)).toEqual([]);
  });

  it('may lead to another place inside, and output_dir may be one', async () => {
    mkdirSync(join(outputDir, 'real'));
    symlinkSync('real', join(outputDir, 'alias'));
    symlinkSync(outputDir, join(folder.path, 'mount'));
    outputDir = join(folder.path, 'mount');
    const { receipts } = await deliver([made('x.txt', 'x')], { dir: 'alias' });
    expect(receipts[0]?.location).toBe(join(outputDir, 'alias', 'x.txt'));
    expect(existsSync(join(outputDir, 'real', 'x.txt'))).toBe(true);
  });

  it('that lead nowhere, in a ring, or to a file are no folders', async () => {
    symlinkSync('nowhere', join(outputDir, 'dangling'));
    symlinkSync('ring', join(outputDir, 'ring'));
    writeFileSync(join(outputDir, 'file'), 'x');
    for (const dir of ['dangling', 'ring', 'file', 'file/deeper']) {
      await expect(deliver([made('x.txt', 'x')], { dir })).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('not a folder'),
      });
    }
    expect(existsSync(join(outputDir, 'nowhere'))).toBe(false);
  });

  it('under the name of the product are a conflict, not a way', async () => {
    mkdirSync(join(outputDir, 'd'));
    symlinkSync(join(outside, 'x.txt'), join(outputDir, 'd', 'x.txt'));
    await expect(deliver([made('x.txt', 'x')], { dir: 'd' })).rejects.toMatchObject({ code: 'conflict' });
    expect(tree(outside)).toEqual([]);
    expect(readlinkSync(join(outputDir, 'd', 'x.txt'))).toBe(join(outside, 'x.txt'));
  });
});

describe('publishing', () => {
  it('counts the same bytes that are there already as delivered', async () => {
    await deliver([made('x.txt', 'same')], { dir: 'd' });
    const path = join(outputDir, 'd/x.txt');
    const { ino } = statSync(path);
    utimesSync(path, 0, 0);
    const { receipts } = await deliver([made('x.txt', 'same')], { dir: 'd', attempt: 2 });
    expect(receipts[0]?.reused).toBe(true);
    expect(statSync(path).ino).toBe(ino);
    // What removes old products goes by this time.
    expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(60_000);
    expect(tree(outputDir)).toEqual(['d/', 'd/x.txt']);
  });

  it.each(['same size', 'other'])('never replaces other bytes: %s', async (content) => {
    mkdirSync(join(outputDir, 'd'));
    writeFileSync(join(outputDir, 'd/x.txt'), content);
    await expect(deliver([made('x.txt', 'SAME SIZE')], { dir: 'd' })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(join(outputDir, 'd/x.txt')),
    });
    expect(readFileSync(join(outputDir, 'd/x.txt'), 'utf8')).toBe(content);
    expect(tree(outputDir)).toEqual(['d/', 'd/x.txt']);
  });

  it('takes a folder or a pipe under the name as a conflict and does not wait for it', async () => {
    mkdirSync(join(outputDir, 'd/folder'), { recursive: true });
    execFileSync('mkfifo', [join(outputDir, 'd/pipe')]);
    for (const name of ['folder', 'pipe']) {
      await expect(deliver([made(name, '')], { dir: 'd' })).rejects.toMatchObject({ code: 'conflict' });
    }
  });

  it('delivers all files of a job or none', async () => {
    mkdirSync(join(outputDir, 'd'));
    writeFileSync(join(outputDir, 'd/page-0001.png'), 'one');
    writeFileSync(join(outputDir, 'd/page-0003.png'), 'not ours');
    const pages = ['one', 'two', 'three'].map((text, index) => made(`page-000${index + 1}.png`, text));
    await expect(deliver(pages, { dir: 'd' })).rejects.toMatchObject({ code: 'conflict' });
    expect(tree(outputDir)).toEqual(['d/', 'd/page-0001.png', 'd/page-0003.png']);
    rmSync(join(outputDir, 'd/page-0003.png'));
    const { receipts, output } = await deliver(pages, { dir: 'd' });
    expect(receipts.map((receipt) => receipt.reused)).toEqual([true, false, false]);
    expect(output.sizeBytes).toBe(11);
  });

  it('gives one of many jobs that want one name at once its way', async () => {
    const contents = Array.from({ length: 8 }, (_, index) => `content ${index}`);
    const results = await Promise.allSettled(
      contents.map((content, index) => {
        const file = { ...made(`work-${index}`, content), name: 'x.txt' };
        const sink = directorySink.open({ jobId: `job${index}`, attempt: 1 }, { dir: 'd' }, { outputDir });
        return sink.deliver([file], new AbortController().signal, () => undefined);
      }),
    );
    const won = results.findIndex((result) => result.status === 'fulfilled');
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    expect(readFileSync(join(outputDir, 'd/x.txt'), 'utf8')).toBe(contents[won]);
    expect(tree(outputDir)).toEqual(['d/', 'd/x.txt']);
  });

  it('notices bytes that changed since they were made', async () => {
    const file = made('x.txt', 'right');
    writeFileSync(file.path, 'wrong');
    const longer = made('y.txt', 'right');
    writeFileSync(longer.path, 'right and more');
    for (const changed of [file, longer]) {
      await expect(deliver([changed])).rejects.toMatchObject({ code: 'checksum_mismatch' });
    }
    expect(tree(outputDir)).toEqual(['8d/']);
  });

  it('stops when it is told to, with the reason it was given, and leaves nothing', async () => {
    const controller = new AbortController();
    const reason = new ServiceError('conversion_timeout', 'too long');
    const large = made('large.bin', Buffer.alloc(30_000_000));
    const delivery = deliver([made('small.bin', 'x'), large], { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 5);
    await expect(delivery).rejects.toBe(reason);
    expect(tree(outputDir)).toEqual(['8d/']);
  });

  it('clears away what an earlier run of the job left when its process was killed', async () => {
    mkdirSync(join(outputDir, OWN), { recursive: true });
    writeFileSync(join(outputDir, OWN, `.${JOB}-1-0.part`), 'half');
    writeFileSync(join(outputDir, OWN, `.${JOB}-2-0.part`), 'half');
    await deliver([made('x.txt', 'x')], { attempt: 3 });
    expect(readdirSync(join(outputDir, OWN))).toEqual(['x.txt']);
  });

  it('leaves files that others may read as far as the umask allows', async () => {
    const { receipts } = await deliver([made('x.txt', 'x')]);
    expect(statSync(receipts[0]?.location ?? '').mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it('copies between volumes', async () => {
    const memory = '/dev/shm';
    if (statSync(memory).dev === statSync(workspace).dev) throw new Error(`${memory} is on the same volume`);
    outputDir = join(memory, `ofd-server-sink-${process.pid}`);
    mkdirSync(outputDir);
    try {
      await deliver([made('x.txt', 'x')]);
      expect(readdirSync(join(outputDir, OWN))).toEqual(['x.txt']);
    } finally {
      rmSync(outputDir, { recursive: true });
    }
  });

  it('does not make output_dir: a volume that is not mounted is a fault, not an empty folder', async () => {
    outputDir = join(folder.path, 'gone');
    await expect(deliver([made('x.txt', 'x')])).rejects.toMatchObject({ code: 'unavailable' });
    expect(existsSync(outputDir)).toBe(false);
  });
});

describe('prepareOutputDir', () => {
  it('makes the folder, tries it, and leaves nothing', async () => {
    const path = join(folder.path, 'new/deep');
    await prepareOutputDir(path);
    await prepareOutputDir(path);
    expect(readdirSync(path)).toEqual([]);
  });

  it('names the path and what is wrong', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    await expect(prepareOutputDir(join(file, 'x'))).rejects.toThrow(`output_dir ${file}/x cannot be made (ENOTDIR)`);
    await expect(prepareOutputDir('/proc/self')).rejects.toThrow('output_dir /proc/self cannot be written to');
  });
});
