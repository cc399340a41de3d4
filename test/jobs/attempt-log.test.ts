// What engines print, one bounded file for each run (contract L1, L2).
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AttemptLogs, attemptLogName, logsDirectory } from '../../src/jobs/attempt-log.js';
import { type RunsOfJob, sweepAttemptLogs } from '../../src/jobs/attempt-log-files.js';
import { SqliteStore } from '../../src/jobs/sqlite-store.js';
import { newJob, succeeded, temporaryFolder } from '../support/jobs.js';
import { until } from '../support/service.js';

let folder: { path: string; remove(): void };
let directory: string;
let faults: unknown[];
let logs: AttemptLogs;

beforeEach(() => {
  folder = temporaryFolder('attempt-log');
  directory = join(folder.path, 'logs');
  faults = [];
  logs = new AttemptLogs({ directory, maxBytes: 100, onError: (error) => faults.push(error) });
});
afterEach(() => folder.remove());

const pathOf = (job: string, attempt: number): string => join(directory, attemptLogName(job, attempt));
const read = (job: string, attempt: number): string => readFileSync(pathOf(job, attempt), 'utf8');
const modeOf = (path: string): number => statSync(path).mode & 0o777;

async function written(...pieces: readonly string[]): Promise<void> {
  const log = logs.start('job', 1);
  for (const piece of pieces) log.write(Buffer.from(piece));
  await log.close();
}

describe('the log of a run', () => {
  it("has a name that tells nothing, and is nobody else's to read", async () => {
    const job = 'dn8h75g98u8d';
    const log = logs.start(job, 2);
    log.write(Buffer.from('words'));
    await log.close();
    const name = attemptLogName(job, 2);
    expect(name).toMatch(/^([0-9a-f]{2})\/\1[0-9a-f]{38}\.log$/);
    expect(new Set([name, attemptLogName(job, 1), attemptLogName('another', 2)]).size).toBe(3);
    expect([directory, dirname(pathOf(job, 2)), pathOf(job, 2)].map(modeOf)).toEqual([0o700, 0o700, 0o600]);
    expect(read(job, 2)).toBe('words');
  });

  it('keeps pieces in their order, and the first bytes alone, and says so', async () => {
    await written('a'.repeat(60), 'b'.repeat(60), 'c'.repeat(60));
    expect(read('job', 1)).toBe(
      `${'a'.repeat(60)}${'b'.repeat(40)}\n[ofd-server] truncated: the first 100 bytes are kept\n`,
    );
    expect(faults).toEqual([]);
  });

  it('that fits to the byte is not truncated', async () => {
    await written('a'.repeat(100));
    expect(read('job', 1)).toBe('a'.repeat(100));
  });

  it('of an engine that prints nothing is no file', async () => {
    await written();
    expect(existsSync(directory)).toBe(false);
    expect(await logs.read('job', 1)).toBeUndefined();
  });

  it('takes a copy: the piece may be used again', async () => {
    const log = logs.start('job', 1);
    const piece = Buffer.from('first');
    log.write(piece);
    piece.write('other');
    await log.close();
    log.write(Buffer.from('too late'));
    expect(read('job', 1)).toBe('first');
  });

  it('can be read while it grows', async () => {
    const log = logs.start('job', 1);
    log.write(Buffer.from('half'));
    await expect.poll(async () => (await logs.read('job', 1))?.readFile({ encoding: 'utf8' })).toBe('half');
    await log.close();
  });
});

describe('a log is not kept, and nothing fails for it', () => {
  it.each([
    ['a link in its place', (path: string) => symlinkSync(join(folder.path, 'elsewhere'), path), /ELOOP/],
    [
      'a file with two names',
      (path: string) => {
        writeFileSync(join(folder.path, 'elsewhere'), '');
        linkSync(join(folder.path, 'elsewhere'), path);
      },
      /not the file that this service made/,
    ],
    ['a folder in its place', (path: string) => mkdirSync(path), /EISDIR/],
  ])('%s', async (_name, put, message) => {
    mkdirSync(dirname(pathOf('job', 1)), { recursive: true });
    writeFileSync(join(folder.path, 'elsewhere'), 'untouched');
    put(pathOf('job', 1));
    await written('words', 'more words');
    expect(faults).toHaveLength(1);
    expect(String(faults[0])).toMatch(message);
    expect(readFileSync(join(folder.path, 'elsewhere'), 'utf8')).toMatch(/^(untouched)?$/);
  });

  it('where its folder leads elsewhere', async () => {
    mkdirSync(join(folder.path, 'other'));
    symlinkSync(join(folder.path, 'other'), directory);
    await written('words');
    expect(String(faults[0])).toMatch(/ELOOP|ENOTDIR/);
    expect(readdirSync(join(folder.path, 'other'))).toEqual([]);
  });

  it('where the volume has no room for it: nothing is made there', async () => {
    const greedy = new AttemptLogs({ directory, maxBytes: 2 ** 53, onError: (error) => faults.push(error) });
    const log = greedy.start('job', 1);
    log.write(Buffer.from('words'));
    await log.close();
    expect(String(faults[0])).toMatch(/bytes are free/);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('a folder that others may read is closed to them', async () => {
    mkdirSync(directory);
    chmodSync(directory, 0o755);
    await written('words');
    expect(modeOf(directory)).toBe(0o700);
  });
});

describe('logs go with their jobs', () => {
  it('with the record that retention removes', async () => {
    const dbPath = join(folder.path, 'jobs.db');
    expect(logsDirectory(dbPath)).toBe(directory);
    const store = await SqliteStore.open({ path: dbPath });
    const jobs: string[] = [];
    for (const createdAtMs of [1000, 2000]) {
      const { job } = await store.submit(newJob({ createdAtMs }), { bytes: Buffer.from('x') });
      const attempt = await store.claim('fast', createdAtMs);
      if (!attempt) throw new Error('There is no job');
      const log = logs.start(job.id, attempt.number);
      log.write(Buffer.from(job.id));
      await log.close();
      await store.settle(attempt, succeeded(), createdAtMs);
      jobs.push(job.id);
    }
    const [old = '', recent = ''] = jobs;
    expect(await store.prune(1500, 10)).toBe(1);
    expect(existsSync(pathOf(old, 1))).toBe(false);
    expect(read(recent, 1)).toBe(recent);

    await written('of a job that is not there');
    utimesSync(pathOf('job', 1), 1, 1);
    await store.recover({ nowMs: 3000, maxJobCrashes: 3 });
    await until(
      async () => existsSync(pathOf('job', 1)),
      (isThere) => !isThere,
    );
    expect(read(recent, 1)).toBe(recent);
    await store.close();
  });

  it('no start waits for them, however many jobs there are', async () => {
    const path = join(folder.path, 'jobs.db');
    await (await SqliteStore.open({ path })).close();
    const database = new Sqlite(path);
    database.exec(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 200000)
       INSERT INTO jobs (id, state, lane, is_stream, high_priority, to_format, request, input_bytes, created_at_ms,
         attempt, finished_at_ms)
       SELECT printf('%012d', n), 'succeeded', 'fast', 0, 0, 'pdf', '{}', 1, n, 1, n FROM numbers`,
    );
    database.close();
    await written('of a job that is not there');
    const store = await SqliteStore.open({ path, deadlineMs: 400 });
    await store.recover({ nowMs: 3000, maxJobCrashes: 3 });
    await until(
      async () => existsSync(pathOf('job', 1)),
      (isThere) => !isThere,
    );
    await store.close();
  });

  it('a sweep asks for no job where there is no log, keeps every run of a job, and lets others have their turn', async () => {
    const sweep = (jobs: (id: string) => RunsOfJob[]): { removed: number; steps: number } => {
      const work = sweepAttemptLogs(directory, jobs);
      for (let steps = 0; ; steps++) {
        const { done, value } = work.next();
        if (done) return { removed: value, steps };
      }
    };
    expect(
      sweep(() => {
        throw new Error('asked');
      }),
    ).toEqual({ removed: 0, steps: 0 });
    for (const [job, attempt] of [
      ['a', 1],
      ['a', 2],
      ['a', 3],
      ['b', 1],
    ] as const) {
      const log = logs.start(job, attempt);
      log.write(Buffer.from('x'));
      await log.close();
    }
    const shards = readdirSync(directory).length;
    const known = [
      { id: 'a', attempts: 2 },
      { id: 'b', attempts: 1 },
    ];
    expect(sweep((after) => known.filter(({ id }) => id > after).slice(0, 1))).toEqual({
      removed: 1,
      steps: shards + known.length,
    });
    expect([1, 2, 3].map((attempt) => existsSync(pathOf('a', attempt)))).toEqual([true, true, false]);
    expect(existsSync(pathOf('b', 1))).toBe(true);
  });
});
