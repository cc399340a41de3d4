/** The embedded store: its contract, its lock, what survives kill -9, and how submissions share a flush. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { SqliteStore } from '../../src/jobs/sqlite-store.js';
import { newJob, succeeded, temporaryFolder } from '../support/jobs.js';
import { describeStoreOperations } from './operations-contract.js';
import { describeOutbox } from './outbox-contract.js';
import { describeJobStore } from './store-contract.js';
import { describeTargets } from './targets-contract.js';

const CHILD = fileURLToPath(new URL('../support/bin/store-child.mjs', import.meta.url));

const open = (folder: string): Promise<SqliteStore> =>
  SqliteStore.open({ path: join(folder, 'jobs.db'), targetEvents: { erp: [], failures: ['failed'] } });

describeJobStore('SqliteStore', open);
describeStoreOperations('SqliteStore', open);
describeOutbox('SqliteStore', open);
describeTargets('SqliteStore', open);

function databaseFolder(): string {
  const folder = temporaryFolder('sqlite');
  onTestFinished(folder.remove);
  return folder.path;
}

async function openStore(path: string): Promise<SqliteStore> {
  const store = await SqliteStore.open({ path });
  onTestFinished(() => store.close());
  return store;
}

/** A process that works on the store as fast as it can and prints a line for every promise it was given. */
function startChild(path: string): { process: ChildProcess; lines: string[]; ended: Promise<number | null> } {
  const child = spawn(process.execPath, [CHILD, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const read = new Promise<void>((resolve) => reader.once('close', () => resolve()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return { process: child, lines, ended: read.then(() => exited) };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

it('loses nothing of what it promised when the process is killed at any instant', async () => {
  const path = join(databaseFolder(), 'jobs.db');
  const submitted: string[] = [];
  const succeededIds: string[] = [];
  for (let round = 0; round < 6; round += 1) {
    const child = startChild(path);
    await until(() => child.lines.some((line) => line.endsWith(' large')));
    await new Promise((resolve) => setTimeout(resolve, round * 17));
    child.process.kill('SIGKILL');
    await child.ended;
    for (const line of child.lines) {
      const [word = '', id = ''] = line.split(' ');
      if (word === 'submitted') submitted.push(id);
      if (word === 'succeeded') succeededIds.push(id);
    }
  }
  const store = await openStore(path);
  await store.recover({ nowMs: Date.now(), maxJobCrashes: 0 });
  let ended = 0;
  for (const id of submitted) {
    const job = await store.get(id);
    expect(['queued', 'succeeded']).toContain(job?.state);
    if (job?.state === 'succeeded') ended += 1;
    else expect(await store.input(id)).toBeDefined();
  }
  for (const id of succeededIds) expect((await store.get(id))?.state).toBe('succeeded');
  for (let attempt = await store.claim('fast', Date.now()); attempt; attempt = await store.claim('fast', Date.now())) {
    expect(await store.settle(attempt, succeeded(), Date.now())).toBe(true);
    if (submitted.includes(attempt.job.id)) ended += 1;
  }
  expect(ended).toBe(submitted.length);
  const { conversions, queue } = await store.snapshot();
  const rows = await store.prune(Number.MAX_SAFE_INTEGER, 1_000_000);
  expect(conversions).toEqual([{ from: 'ofd', to: 'pdf', state: 'succeeded', count: rows }]);
  expect(queue).toEqual({ queued: 0, running: 0 });
  expect(readdirSync(join(path, '..', 'inputs'))).toEqual([]);
});

it('is held by one process: a second is refused at once, and welcome when the first was killed', async () => {
  const path = join(databaseFolder(), 'jobs.db');
  const holder = startChild(path);
  await until(() => holder.lines.length > 0);
  const start = performance.now();
  await expect(SqliteStore.open({ path })).rejects.toMatchObject({ name: 'StoreOpenError', fault: 'held' });
  expect(performance.now() - start).toBeLessThan(2000);
  const second = startChild(path);
  expect(await second.ended).toBe(3);
  expect(second.lines.at(-1)).toContain(`db_path ${path} is held by another running process`);
  holder.process.kill('SIGKILL');
  await holder.ended;
  await openStore(path);
});

it('names what keeps it from opening', async () => {
  const folder = databaseFolder();
  const damaged = join(folder, 'damaged.db');
  writeFileSync(damaged, 'This is no database. '.repeat(100));
  await expect(SqliteStore.open({ path: damaged })).rejects.toMatchObject({ fault: 'damaged' });

  const newer = join(folder, 'newer.db');
  const database = new Sqlite(newer);
  database.pragma('user_version = 999');
  database.close();
  await expect(SqliteStore.open({ path: newer })).rejects.toMatchObject({ fault: 'newer' });

  mkdirSync(join(folder, 'folder.db'));
  await expect(SqliteStore.open({ path: join(folder, 'folder.db') })).rejects.toMatchObject({ fault: 'unreachable' });
  await expect(SqliteStore.open({ path: join(damaged, 'jobs.db') })).rejects.toMatchObject({ fault: 'unreachable' });
});

it('makes missing folders, and files that only their owner reads', async () => {
  const path = join(databaseFolder(), 'new', 'deep', 'jobs.db');
  const store = await openStore(path);
  await store.submit(newJob(), { bytes: Buffer.alloc(100_000) });
  const [input = ''] = readdirSync(join(path, '..', 'inputs'));
  for (const file of [path, `${path}-wal`, join(path, '..', 'inputs', input)]) {
    expect(statSync(file).mode & 0o077, file).toBe(0);
  }
});

it('runs nothing that it refused for want of an answer, but for what a key will find again', async () => {
  const path = join(databaseFolder(), 'jobs.db');
  const impatient = await SqliteStore.open({ path, deadlineMs: 10 });
  // Enough at a time to keep the thread longer than that.
  const numbers = Array.from({ length: 1500 }, (_, number) => number);
  const bytes = Buffer.alloc(20_000);
  const keyed = (number: number) => newJob({ idempotency: { key: `key ${number}`, requestHash: 'same' } });
  const plain = await Promise.allSettled(numbers.map(() => impatient.submit(newJob({ to: 'txt' }), { bytes })));
  const answered = await Promise.allSettled(numbers.map((number) => impatient.submit(keyed(number), { bytes })));
  const taken = plain.filter(({ status }) => status === 'fulfilled').length;
  expect([...plain, ...answered].some(({ status }) => status === 'rejected')).toBe(true);
  const isIdle = (): Promise<boolean> =>
    impatient.ping().then(
      () => true,
      () => false,
    );
  while (!(await isIdle()));
  // Closing may take longer than this store waits for.
  await impatient.close().catch(() => undefined);
  const store = await openWhenFree(path);
  const again = await Promise.all(numbers.map((number) => store.submit(keyed(number), { bytes })));
  expect(again.every(({ job }) => job.state === 'queued')).toBe(true);
  for (const [number, answer] of answered.entries()) {
    if (answer.status === 'fulfilled') expect(again[number]?.job.id).toBe(answer.value.job.id);
  }
  expect((await store.snapshot()).queue.queued).toBe(taken + numbers.length);
  expect((await store.list({ to: 'txt', state: 'queued' }, 2000, undefined)).items).toHaveLength(taken);
});

async function openWhenFree(path: string): Promise<SqliteStore> {
  for (;;) {
    const store = await openStore(path).catch(() => undefined);
    if (store) return store;
  }
}

it('removes inputs that a crash left without a job', async () => {
  const path = join(databaseFolder(), 'jobs.db');
  const first = await openStore(path);
  const { job } = await first.submit(newJob(), { bytes: Buffer.alloc(100_000) });
  await first.close();
  const orphan = join(path, '..', 'inputs', 'orphan');
  writeFileSync(orphan, 'left over');
  const store = await openStore(path);
  expect(await store.recover({ nowMs: 1, maxJobCrashes: 3 })).toMatchObject({ orphanInputs: 1 });
  expect(existsSync(orphan)).toBe(false);
  expect(await store.input(job.id)).toBeDefined();
});

it('lets submissions that wait at the same time share flushes', async () => {
  const store = await openStore(join(databaseFolder(), 'jobs.db'));
  const bytes = Buffer.alloc(1024);
  const rate = async (count: number, atATime: number): Promise<number> => {
    const start = performance.now();
    for (let done = 0; done < count; done += atATime) {
      await Promise.all(Array.from({ length: atATime }, () => store.submit(newJob(), { bytes })));
    }
    return (count / (performance.now() - start)) * 1000;
  };
  const single = await rate(200, 1);
  const shared = await rate(4000, 200);
  console.log(`submissions a second: ${single.toFixed(0)} one by one, ${shared.toFixed(0)} with 200 waiting`);
  expect(shared).toBeGreaterThan(single);
});

it('answers the counters quickly over many ended jobs', async () => {
  const store = await openStore(join(databaseFolder(), 'jobs.db'));
  await Promise.all(Array.from({ length: 20_000 }, () => store.submit(newJob(), undefined)));
  const settleOne = async (): Promise<void> => {
    const attempt = await store.claim('fast', Date.now());
    if (attempt) await store.settle(attempt, succeeded(), Date.now());
  };
  for (let done = 0; done < 20_000; done += 1000) await Promise.all(Array.from({ length: 1000 }, settleOne));
  const times: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const start = performance.now();
    expect((await store.snapshot()).conversions[0]?.count).toBe(20_000);
    times.push(performance.now() - start);
  }
  console.log(`snapshot over 20,000 ended jobs: ${Math.min(...times).toFixed(1)} ms`);
  expect(Math.min(...times)).toBeLessThan(20);
});
