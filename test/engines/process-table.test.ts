// What is read of the processes of the machine, and that looking costs no descriptors: engines are looked at all the time.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { isAlive, readProcess, readProcesses } from '../../src/convert/processes/process-table.js';
import { temporaryFolder } from '../support/jobs.js';

function start(command: string, args: readonly string[]): ChildProcess & { readonly pid: number } {
  const child = spawn(command, args, { stdio: 'ignore', detached: true });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child as ChildProcess & { readonly pid: number };
}

/** Descriptors of this process that lead into /proc. */
function descriptorsIntoProc(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`);
      return /^\/proc\/\d+\/stat$/.test(path) ? [path] : [];
    } catch {
      return [];
    }
  });
}

it('tells parent, group and state, whatever the program is called', async () => {
  const folder = temporaryFolder('processes');
  onTestFinished(folder.remove);
  const program = join(folder.path, 'a) Z 1 (b');
  copyFileSync('/bin/sleep', program);
  const child = start(program, ['60']);
  const facts = (await readProcesses()).find(({ pid }) => pid === child.pid);
  expect(facts).toMatchObject({ pid: child.pid, parentPid: process.pid, groupId: child.pid });
  expect(isAlive(facts!)).toBe(true);
  expect(await readProcess(child.pid)).toMatchObject({ startTicks: facts?.startTicks, parentPid: process.pid });
});

it('sees processor time grow, and leaves out what has ended', async () => {
  const child = start('sh', ['-c', 'while :; do :; done']);
  const ticks = async (): Promise<number> => (await readProcess(child.pid))?.cpuTicks ?? 0;
  while ((await ticks()) < 5) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await readProcess(child.pid)).toBeUndefined();
  expect((await readProcesses()).map(({ pid }) => pid)).not.toContain(child.pid);
});

it('holds no descriptor for each process of the machine', async () => {
  const children = Array.from({ length: 150 }, () => start('sleep', ['60']));
  let isOver = false;
  const looking = readProcesses().finally(() => {
    isOver = true;
  });
  let most = 0;
  let turns = 0;
  for (; !isOver; turns += 1) {
    most = Math.max(most, descriptorsIntoProc().length);
    await nextTurn();
  }
  expect(most).toBeLessThanOrEqual(1);
  // Others had their turn meanwhile.
  expect(turns).toBeGreaterThanOrEqual(3);
  const seen = new Set((await looking).map(({ pid }) => pid));
  expect(children.filter(({ pid }) => !seen.has(pid))).toEqual([]);
});
