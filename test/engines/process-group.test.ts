// A program as one process group: drained, watched, ended whole (contract R3, R5, L2).
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findIsolation } from '../../src/convert/processes/isolation.js';
import { endStrays, ProcessGroup, type ProcessGroupOptions } from '../../src/convert/processes/process-group.js';
import { temporaryFolder } from '../support/jobs.js';

let folder: { path: string; remove(): void };
let printed: Uint8Array[];

beforeEach(() => {
  folder = temporaryFolder('process-group');
  printed = [];
});
afterEach(() => folder.remove());

const output = (): string => Buffer.concat(printed).toString();

/** Runs a shell script, which may leave the ids of its processes in the file `pids`. */
function start(script: string, changes: Partial<ProcessGroupOptions> = {}): ProcessGroup {
  return new ProcessGroup({
    name: 'fake',
    command: '/bin/bash',
    args: ['-c', script],
    workingDirectory: folder.path,
    environment: { PATH: '/usr/bin:/bin' },
    owner: 'test',
    log: (bytes) => printed.push(bytes),
    ...changes,
  });
}

async function pids(count: number): Promise<number[]> {
  for (;;) {
    try {
      const found = readFileSync(join(folder.path, 'pids'), 'utf8').trim().split('\n').map(Number);
      if (found.length >= count) return found;
    } catch {
      // Not written yet.
    }
    await sleep(20);
  }
}

function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

describe('a program', () => {
  it('runs where it is told, with the environment that it is given and no other', async () => {
    process.env.OFD_TEST_SECRET = 'secret';
    const end = await start('pwd; env; echo told >&2; exit 3', { environment: { PATH: '/usr/bin:/bin', A: 'b' } })
      .ended;
    delete process.env.OFD_TEST_SECRET;
    expect(end).toMatchObject({ exitCode: 3, signal: undefined, cause: 'exited' });
    expect(output()).toMatch(/^\[ofd-server\] fake: started, process \d+\n/);
    expect(output()).toContain(`${folder.path}\n`);
    expect(output()).toContain('A=b\n');
    expect(output()).toContain('told\n');
    expect(output()).not.toContain('secret');
    expect(output()).toMatch(/\[ofd-server\] fake: exited with code 3 after \d+\.\d s, \d+ MiB at most\n$/);
  });

  it('that floods its pipes is drained to the end', async () => {
    const end = await start('head -c 20000000 /dev/zero >&2; head -c 20000000 /dev/zero; exit 0').ended;
    expect(end.exitCode).toBe(0);
    expect(output().length).toBeGreaterThan(40_000_000);
  });

  it('that is not there rejects', async () => {
    await expect(start('', { command: '/no/such/program' }).ended).rejects.toThrow(/ENOENT/);
  });

  it('takes what processor time it used for a sign of life', async () => {
    let alive = 0;
    await start('for i in $(seq 300000); do :; done', { onAlive: () => alive++ }).ended;
    expect(alive).toBeGreaterThan(0);
    let idle = 0;
    const group = start('sleep 60', { onAlive: () => idle++ });
    await sleep(1500);
    const early = idle;
    await sleep(1000);
    expect(idle).toBe(early);
    await group.stop();
  });

  it('is ended when its processes hold too much memory', async () => {
    const script = 'head -c 200000000 /dev/zero | tail';
    const end = await start(script, { maxResidentBytes: 100_000_000 }).ended;
    expect(end.cause).toBe('memory');
    expect(end.peakResidentBytes).toBeGreaterThan(100_000_000);
  });

  it('has pipes of its own beside the standard ones', async () => {
    const group = start('read line <&3; echo "got $line" >&4', { extraPipes: 2 });
    const [, , , to, from] = group.child.stdio as unknown as [
      null,
      null,
      null,
      NodeJS.WritableStream,
      AsyncIterable<Buffer>,
    ];
    to.write('word\n');
    let text = '';
    for await (const piece of from) text += piece.toString();
    expect(text).toBe('got word\n');
    await group.ended;
  });
});

describe('is ended whole', () => {
  // Deaf to every signal that can be ignored, and loud.
  const HOSTILE = `
    trap '' TERM INT HUP QUIT
    echo $$ >> pids
    (trap '' TERM INT HUP; echo $BASHPID >> pids; while :; do echo flood >&2; done) &
    (setsid bash -c 'trap "" TERM HUP; echo $$ >> pids; sleep 600; sleep 600' &)
    while :; do sleep 600; done`;

  it('within two seconds: a program that ignores signals, floods, forks and leaves its group', async () => {
    const group = start(HOSTILE);
    const found = await pids(3);
    expect(found.map(isRunning)).toEqual([true, true, true]);
    const startedAt = performance.now();
    const end = await group.stop();
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(end.cause).toBe('stopped');
    expect(found.map(isRunning)).toEqual([false, false, false]);
  });

  it('where the first process has ended by itself and left others', async () => {
    const end = await start(`(sleep 600 & echo $! >> pids); (setsid sleep 601 & echo $! >> pids); exit 0`).ended;
    expect(end).toMatchObject({ exitCode: 0, cause: 'exited' });
    expect((await pids(2)).map(isRunning)).toEqual([false, false]);
  });

  it('a child that left the group and its environment, seen while its parent lived', async () => {
    const group = start(`setsid env -i /bin/bash -c 'echo $$ >> pids; sleep 600; :' & wait`);
    const found = await pids(1);
    await sleep(1000);
    await group.stop();
    expect(found.map(isRunning)).toEqual([false]);
  });

  it('what an earlier process of the same owner left, and nobody else', async () => {
    const mine = start('echo $$ >> pids; sleep 600; :', { owner: 'one' });
    const [first] = await pids(1);
    const other = start('echo $$ >> pids; sleep 600; :', { owner: 'one-more' });
    const [, second] = await pids(2);
    expect(await endStrays('one')).toBeGreaterThanOrEqual(1);
    await mine.ended;
    expect([isRunning(first as number), isRunning(second as number)]).toEqual([false, true]);
    await other.stop();
  });

  it('in a process namespace, where the kernel has them: also what hides', async () => {
    const { prefix, hasOwnProcesses } = await findIsolation();
    if (!hasOwnProcesses) return;
    const [command = '', ...args] = prefix;
    const marker = `ofd-server-test-${process.pid}`;
    writeFileSync(
      join(folder.path, 'hide.sh'),
      `(setsid env -i /bin/bash -c 'exec -a ${marker} sleep 600' &) ; sleep 0.2; exit 0`,
    );
    const group = start('', { command, args: [...args, '/bin/bash', 'hide.sh'] });
    expect(await group.ended).toMatchObject({ exitCode: 0 });
    await sleep(200);
    const commands = readdirSync('/proc').map((name) => {
      try {
        return /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, 'latin1') : '';
      } catch {
        return '';
      }
    });
    expect(commands.filter((text) => text.includes(marker) && !text.includes('setsid'))).toEqual([]);
  });
});

it('the isolation sees no network where it says so', async () => {
  const { prefix, hasNoNetwork } = await findIsolation();
  const [command = '', ...args] = [...prefix, '/bin/bash'];
  mkdirSync(join(folder.path, 'x'));
  await start('', { command, args: [...args, '-c', 'cat /proc/net/dev; ulimit -c'] }).ended;
  const interfaces = [...output().matchAll(/^\s*(\w+):/gm)].map(([, name]) => name);
  if (hasNoNetwork) expect(interfaces).toEqual(['lo']);
  expect(output()).toMatch(/^0$/m);
});
