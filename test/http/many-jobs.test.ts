// How quick the numbers and the lists are over a table that a year has filled (contract A10, A13).
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { idAt } from '../../src/jobs/job.js';
import { json, startTestService, submission, type TestService } from '../support/service.js';

const JOBS = 20_000;
const LIMIT_MS = 20;
const CALLS = 21;
/** A machine that is busy with something else gets another chance. */
const SERIES = 10;

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ notify_targets: { erp: { url: 'http://127.0.0.1:9', max_attempts: 1 } } });
  await jobsOfEachKind();
  await service.service.shutDown();
  multiply(join(service.folder, 'data', 'jobs.db'));
  await service.restart();
}, 60_000);
afterAll(() => service.close());

/** One that succeeded, one whose page images are many, one that failed, a dead letter, a stream. */
async function jobsOfEachKind(): Promise<void> {
  const run = async (format: string): Promise<void> => {
    const body = submission({ output: { kind: 'dir', format }, notify: { target: 'erp' } });
    await service.ended((await json<{ id: string }>(service.convert(body))).id);
  };
  await run('pdf');
  service.converter.pages = 20;
  await run('png');
  service.converter.failure = new ServiceError('conversion_failed', 'no', { reason: 'corrupt' });
  await run('pdf');
  service.converter.failure = new ServiceError('engine_crashed', 'no', { reason: 'internal' });
  await run('txt');
  service.converter.failure = undefined;
  await (await service.convert(submission())).arrayBuffer();
}

/** Fills the table with copies of what is there, and of their notifications. */
function multiply(path: string): void {
  const database = new Sqlite(path);
  const jobs = database.prepare('SELECT * FROM jobs ORDER BY id').all() as Record<string, unknown>[];
  const columns = Object.keys(jobs[0] as object);
  const addJob = database.prepare(
    `INSERT INTO jobs (${columns.join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')})`,
  );
  const addNotification = database.prepare(
    `INSERT INTO notifications (id, job_id, target, event, body, state, attempts, created_at_ms)
     VALUES (@id || ':succeeded', @id, 'erp', 'succeeded', '{}', 'delivered', 1, @created_at_ms)`,
  );
  database.transaction(() => {
    for (let index = jobs.length; index < JOBS; index += 1) {
      const id = idAt(1_700_000_000_000_000_000n + BigInt(index));
      const job = jobs[index % jobs.length] as Record<string, unknown>;
      addJob.run({ ...job, id });
      addNotification.run({ id, created_at_ms: job.created_at_ms });
    }
  })();
  expect(database.prepare(`SELECT count(*) FROM jobs WHERE finished_at_ms IS NOT NULL`).pluck().get()).toBe(JOBS);
  database.close();
}

/** Milliseconds of the middle one of several calls, the answer read to its end. */
async function medianMs(path: string): Promise<number> {
  const times: number[] = [];
  for (let call = -3; call < CALLS; call += 1) {
    const started = performance.now();
    const response = await service.call(path);
    expect(response.status).toBe(200);
    await response.text();
    if (call >= 0) times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[Math.floor(CALLS / 2)] as number;
}

it.each([
  '/v1/stats',
  '/metrics',
  '/v1/jobs',
  '/v1/jobs?state=failed&limit=50',
  '/v1/jobs?to=txt&limit=10',
  '/v1/dead-letters',
])(`with ${JOBS} ended jobs, %s answers in less than ${LIMIT_MS} ms`, async (path) => {
  let ms = Number.POSITIVE_INFINITY;
  for (let series = 0; series < SERIES && ms >= LIMIT_MS; series += 1) ms = Math.min(ms, await medianMs(path));
  console.log(`${path}: ${ms.toFixed(1)} ms`);
  expect(ms).toBeLessThan(LIMIT_MS);
});

it('the lists are whole', async () => {
  const { jobs } = await json<{ jobs: unknown[] }>(service.call('/v1/dead-letters?limit=200'));
  expect(jobs).toHaveLength(200);
  let count = 0;
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page: { jobs: unknown[]; next_cursor?: string } = await json(
      service.call(`/v1/jobs?limit=200${cursor && `&cursor=${cursor}`}`),
    );
    count += page.jobs.length;
    cursor = page.next_cursor;
  }
  expect(count).toBe(JOBS);
});
