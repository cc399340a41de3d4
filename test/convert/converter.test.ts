/** Conversions in worker threads: the same bytes whatever the concurrency, threads that end, and memory (contract R2, X1). */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ThreadConverter, type ThreadConverterOptions, type ThreadEnd } from '../../src/convert/converter.js';
import type { ConversionHooks, ConversionResult } from '../../src/convert/converter-types.js';
import { MemoryWatch } from '../../src/convert/memory-watch.js';
import { ServiceError } from '../../src/errors.js';
import type { FormatId } from '../../src/formats.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';

let folder: ReturnType<typeof temporaryFolder>;
let converters: ThreadConverter[];
let ends: ThreadEnd[];
let count: number;

beforeEach(() => {
  folder = temporaryFolder('converter');
  converters = [];
  ends = [];
  count = 0;
});

afterEach(async () => {
  for (const converter of converters) await converter.close();
  folder.remove();
});

function startConverter(changes: Partial<ThreadConverterOptions> = {}): ThreadConverter {
  const converter = new ThreadConverter({
    maxThreads: 2,
    fontDirs: [],
    onThreadEnd: (reason) => ends.push(reason),
    ...changes,
  });
  converters.push(converter);
  return converter;
}

const FONTS = '<ofd:Fonts><ofd:Font ID="1" FontName="宋体"/></ofd:Fonts>';

/** Documents that differ in pages, text and lines. */
const DOCUMENTS: readonly Uint8Array[] = Array.from({ length: 3 }, (_, index) =>
  buildOfd({
    publicRes: FONTS,
    pages: Array.from(
      { length: index + 1 },
      (_, page) =>
        textXml(`第${index}份第${page}页 invoice ${index * page}`) +
        `<ofd:PathObject ID="9" Boundary="20 40 100 100" LineWidth="0.5"><ofd:StrokeColor Value="${index * 60} 0 90"/>` +
        `<ofd:AbbreviatedData>M 0 0 B 10 ${page * 9} 40 20 90 90 L 0 90 C</ofd:AbbreviatedData></ofd:PathObject>`,
    ),
  }),
);

function convert(
  converter: ThreadConverter,
  bytes: Uint8Array,
  to: FormatId,
  hooks: Partial<ConversionHooks> = {},
): Promise<ConversionResult> {
  count += 1;
  const work = join(folder.path, String(count));
  const outputDirectory = join(work, 'out');
  mkdirSync(outputDirectory, { recursive: true });
  const inputPath = join(work, 'input.ofd');
  writeFileSync(inputPath, bytes);
  return converter.run(
    {
      engine: 'ofd',
      inputPath,
      from: 'ofd',
      to,
      options: {},
      outputDirectory,
      scratchDirectory: work,
      baseName: undefined,
    },
    { signal: new AbortController().signal, ...hooks },
  );
}

const TARGETS: readonly FormatId[] = ['pdf', 'html', 'json', 'png', 'jpeg', 'webp', 'svg', 'txt', 'md'];

describe('the same input', () => {
  it('gives the same bytes from one, two and four threads, and from another process', {
    timeout: 120_000,
  }, async () => {
    const digests: string[] = [];
    // Another order each time, so that what a thread did before differs too.
    for (const { maxThreads, step } of [
      { maxThreads: 1, step: 1 },
      { maxThreads: 2, step: 5 },
      { maxThreads: 4, step: 11 },
    ]) {
      const converter = startConverter({ maxThreads });
      const work = DOCUMENTS.flatMap((bytes) => TARGETS.map((to) => ({ bytes, to })));
      const order = [...work.keys()].map((index) => (index * step) % work.length);
      const results = new Map<number, string>();
      await Promise.all(
        order.map(async (index) => {
          const { bytes, to } = work[index] as (typeof work)[number];
          const { files } = await convert(converter, bytes, to);
          results.set(index, files.map(({ name, sha256 }) => `${name} ${sha256}`).join());
        }),
      );
      expect(results.size).toBe(work.length);
      digests.push([...work.keys()].map((index) => results.get(index)).join('\n'));
      await converter.close();
    }
    expect(digests[1]).toBe(digests[0]);
    expect(digests[2]).toBe(digests[0]);

    const input = join(folder.path, 'input.ofd');
    writeFileSync(input, DOCUMENTS[2] as Uint8Array);
    for (const to of ['pdf', 'png', 'txt'] as const) {
      const target = join(folder.path, `process-${to}`);
      const output = to === 'png' ? target : `${target}.${to}`;
      const { status, stderr } = spawnSync(process.execPath, [
        'dist/main.js',
        'convert',
        input,
        '--to',
        to,
        '-o',
        output,
      ]);
      expect(status, stderr.toString()).toBe(0);
      const files = output === target ? readdirSync(target).map((name) => join(target, name)) : [output];
      for (const file of files) expect(digests[0]).toContain(sha256Of(file));
    }
  });
});

function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

describe('threads', () => {
  it('are kept between tasks, and retired after so many', async () => {
    const converter = startConverter({ maxThreads: 1, tasksPerThread: 3 });
    for (let task = 0; task < 7; task += 1) await convert(converter, DOCUMENTS[0] as Uint8Array, 'txt');
    expect(ends).toEqual(['recycled', 'recycled']);
  });

  it('are retired where they keep much memory', async () => {
    const converter = startConverter({ maxThreads: 1, idleMemoryBytes: 1000 });
    for (let task = 0; task < 2; task += 1) await convert(converter, DOCUMENTS[0] as Uint8Array, 'txt');
    expect(ends).toEqual(['recycled', 'recycled']);
  });

  it('end when they were idle for long, but for the last one and those that were warmed', async () => {
    const converter = startConverter({ maxThreads: 3, idleMs: 4000 });
    const three = (): Promise<unknown> => Promise.all(DOCUMENTS.map((bytes) => convert(converter, bytes, 'txt')));
    await three();
    expect(converter.threadCount).toBe(3);
    await vi.waitFor(() => expect(converter.threadCount).toBe(1), { timeout: 20_000 });
    expect(ends).toEqual(['recycled', 'recycled']);
    await converter.warm(2);
    await three();
    await vi.waitFor(() => expect(ends).toHaveLength(3), { timeout: 20_000 });
    await pause(5000);
    expect([converter.threadCount, ends.length]).toEqual([2, 3]);
    expect((await convert(converter, DOCUMENTS[0] as Uint8Array, 'txt')).pages).toBe(1);
  });

  it('tell when the input is open and when a page is done, also of a conversion that fails later', async () => {
    const converter = startConverter();
    const seen: string[] = [];
    const hooks: Partial<ConversionHooks> = {
      onOpened: (format) => seen.push(format),
      onProgress: (done, total) => seen.push(`${done} of ${total}`),
    };
    await convert(converter, DOCUMENTS[1] as Uint8Array, 'pdf', hooks);
    expect(seen).toEqual(['ofd', '1 of 2', '2 of 2']);
    await expect(convert(converter, Buffer.from('no package'), 'pdf', hooks)).rejects.toMatchObject({
      code: 'conversion_failed',
      reason: 'not_ofd',
    });
    expect(seen).toHaveLength(3);
  });

  it('stop within two seconds when the task is to stop, and leave the others alone', async () => {
    const converter = startConverter();
    const stop = new AbortController();
    const long = buildOfd({ publicRes: FONTS, pages: Array(3000).fill(textXml('很长的一份文件')) });
    const stopped = convert(converter, long, 'png', { signal: stop.signal });
    const other = convert(converter, DOCUMENTS[0] as Uint8Array, 'pdf');
    await other;
    const start = performance.now();
    stop.abort(new ServiceError('cancelled', 'stop'));
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' });
    expect(performance.now() - start).toBeLessThan(2000);
    // At its next page: the thread lives on.
    expect([ends, converter.threadCount]).toEqual([[], 2]);
    expect((await convert(converter, DOCUMENTS[0] as Uint8Array, 'txt')).pages).toBe(1);
  });

  it('are ended where the next page does not come', async () => {
    const converter = startConverter({ maxThreads: 1 });
    await converter.warm(1);
    const stop = new AbortController();
    const path =
      '<ofd:PathObject ID="9" Boundary="0 0 9 9"><ofd:AbbreviatedData>M 0 0 L 9 9</ofd:AbbreviatedData></ofd:PathObject>';
    let start = 0;
    // The package is open, and its only page takes long.
    const onOpened = (): void => {
      start = performance.now();
      stop.abort(new ServiceError('cancelled', 'stop'));
    };
    const page = buildOfd({ pages: [path.repeat(400_000)] });
    const stopped = convert(converter, page, 'png', { signal: stop.signal, onOpened });
    await expect(stopped).rejects.toMatchObject({ code: 'cancelled' });
    expect(performance.now() - start).toBeLessThan(2000);
    expect(ends).toEqual(['stopped']);
    expect((await convert(converter, DOCUMENTS[0] as Uint8Array, 'txt')).pages).toBe(1);
  });
});

describe('memory', () => {
  it('is given back by idle threads first, then by the largest conversion', async () => {
    // Any process is larger than this: the watch sees too much at every look.
    const converter = startConverter({ maxThreads: 2, maxResidentBytes: 1 });
    const long = buildOfd({ publicRes: FONTS, pages: Array(5000).fill(textXml('很长的一份文件')) });
    await expect(convert(converter, long, 'png')).rejects.toMatchObject({
      code: 'conversion_failed',
      reason: 'too_large',
    });
    expect(ends).toContain('memory');
    // Between two looks, once the new thread has started in time for one.
    const again = (): Promise<ConversionResult> => convert(converter, DOCUMENTS[0] as Uint8Array, 'txt');
    await vi.waitFor(async () => expect((await again()).pages).toBe(1), { timeout: 40_000, interval: 10 });
  });

  it('is called for while it is over the limit, with a pause after each relief', async () => {
    let resident = 50;
    let calls = 0;
    const watch = new MemoryWatch({
      limitBytes: 100,
      read: () => resident,
      everyMs: 5,
      relieve: () => {
        calls += 1;
        return true;
      },
    });
    await pause(40);
    expect(calls).toBe(0);
    resident = 150;
    await pause(12);
    expect(calls).toBe(1);
    await pause(60);
    expect(calls).toBeGreaterThan(1);
    expect(calls).toBeLessThan(6);
    watch.close();
  });
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
