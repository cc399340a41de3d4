import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ThreadConverter } from '../../src/convert/converter.js';
import { withFolder } from '../support/rendering.js';

const input = fileURLToPath(new URL('../cases/B134/input.ofd', import.meta.url));

/** The nice value of each thread of this process (field 19 of its stat line, counted after the name in brackets). */
function niceValues(): readonly number[] {
  return readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

/** How many threads have the nice value more while conversions have a thread. */
function addedThreads(niceness: number): Promise<number> {
  return withFolder(async (folder) => {
    const count = (): number => niceValues().filter((nice) => nice === niceness).length;
    const before = count();
    const converter = new ThreadConverter({ maxThreads: 1, fontDirs: [] });
    mkdirSync(join(folder, 'out'));
    const task = {
      engine: 'ofd',
      inputPath: input,
      from: 'ofd',
      to: 'txt',
      options: {},
      outputDirectory: join(folder, 'out'),
      scratchDirectory: folder,
      baseName: undefined,
    } as const;
    await converter.run(task, { signal: new AbortController().signal });
    const added = count() - before;
    await converter.close();
    return added;
  });
}

/** As a service that was started with this nice value has it. */
async function addedAt(own: number, niceness: number): Promise<number> {
  const before = getPriority();
  setPriority(own);
  try {
    return await addedThreads(niceness);
  } finally {
    setPriority(before);
  }
}

const isLinux = process.platform === 'linux';

it.runIf(isLinux)('conversions give way to the thread that answers requests', async () => {
  expect(await addedAt(0, 10)).toBe(1);
});

it.runIf(isLinux)('a service that was started nicer than that converts as it was started', async () => {
  expect(await addedAt(15, 10)).toBe(0);
});
