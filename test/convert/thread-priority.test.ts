import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
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

it.runIf(process.platform === 'linux')('conversions give way to the thread that answers requests', () =>
  withFolder(async (folder) => {
    const before = niceValues().filter((nice) => nice === 10).length;
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
    expect(niceValues().filter((nice) => nice === 10).length).toBe(before + 1);
    await converter.close();
  }),
);
