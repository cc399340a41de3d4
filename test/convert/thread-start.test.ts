// Threads that are stopped while they start: a client that asks and goes away again and again costs nothing that stays
// (contract A6, R3). A thread that is ended in the middle of reading its modules never closes them.
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ThreadConverter } from '../../src/convert/converter.js';
import { ServiceError } from '../../src/errors.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd } from '../support/ofd-builder.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder('thread-start');
});
afterEach(() => folder.remove());

/** Files of programs that are open in this process. */
function openModules(): string[] {
  const paths = readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
  return paths.filter((path) => /\.(m?js|wasm|node)$/.test(path));
}

async function convertUntil(converter: ThreadConverter, name: string, stopAfterMs: number): Promise<unknown> {
  const work = join(folder.path, name);
  const outputDirectory = join(work, 'out');
  mkdirSync(outputDirectory, { recursive: true });
  const inputPath = join(work, 'input.ofd');
  writeFileSync(inputPath, buildOfd({ pages: Array(50).fill('') }));
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new ServiceError('cancelled', 'stop')), stopAfterMs);
  const files = { inputPath, outputDirectory, scratchDirectory: work, baseName: undefined };
  return converter
    .run({ engine: 'ofd', from: 'ofd', to: 'png', options: {}, ...files }, { signal: stop.signal })
    .catch((error: unknown) => error)
    .finally(() => clearTimeout(timer));
}

describe('tasks that are stopped while their threads start', () => {
  it('leave no file open, and the threads are there for the next', async () => {
    const converter = new ThreadConverter({ maxThreads: 2, fontDirs: [] });
    try {
      for (let stopAfterMs = 0; stopAfterMs < 300; stopAfterMs += 15) {
        const result = await convertUntil(converter, `stopped-${stopAfterMs}`, stopAfterMs);
        if (stopAfterMs === 0) expect(result).toMatchObject({ code: 'cancelled' });
      }
      await converter.warm(2);
      await expect.poll(openModules, { timeout: 5000 }).toEqual([]);
      expect(converter.threadCount).toBe(2);
      expect(await convertUntil(converter, 'whole', 60_000)).toMatchObject({ pages: 50 });
    } finally {
      await converter.close();
    }
  });
});
