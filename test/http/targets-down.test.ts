// A remote target that is down (contract R4): seen everywhere for as long as it lasts, and never the end of a worker.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type JobAnswer, json, startTestService, submission, type TestService, until } from '../support/service.js';
import { Webhook } from '../support/webhook.js';
import { FaultProxy } from '../transfer/servers/fault-proxy.js';
import { startS3rver } from '../transfer/servers/s3.js';
import type { TestServer } from '../transfer/servers/server.js';

type Waiting = JobAnswer & { readonly waiting?: { reason: string; since: string; next_attempt_at: string } };

let server: TestServer;
let proxy: FaultProxy;
let webhook: Webhook;
let service: TestService;

beforeAll(async () => {
  server = await startS3rver();
  proxy = await FaultProxy.start(server.ports, '127.0.0.7');
});
afterAll(async () => {
  await proxy.close();
  await server.close();
});
beforeEach(async () => {
  await server.empty();
  webhook = new Webhook();
  await webhook.start();
});
afterEach(async () => {
  await service.close();
  await webhook.stop();
});

async function start(changes: Record<string, unknown>): Promise<void> {
  service = await startTestService({
    allow_insecure_s3: true,
    s3_targets: { store: { ...server.target(proxy.host), timeout_seconds: 5 } },
    notify_targets: { erp: { url: webhook.url } },
    job_retry_backoff: '40ms',
    fast_workers: 1,
    ...changes,
  });
}

const submit = async (fileName: string): Promise<string> => {
  const output = { kind: 's3', format: 'pdf', file_name: fileName, remote: { target: 'store' } };
  const response = await service.convert(submission({ output, notify: { target: 'erp' } }));
  expect(response.status).toBe(202);
  return (await json<JobAnswer>(response)).id;
};
const get = (id: string): Promise<Waiting> => json<Waiting>(service.call(`/v1/jobs/${id}`));
const waitingFor = (id: string, attempt: number): Promise<Waiting> =>
  until(
    () => get(id),
    (job) => job.waiting !== undefined && job.attempt >= attempt,
  );
const metrics = async (): Promise<string> => (await service.call('/metrics')).text();
const deadLetters = async (): Promise<readonly string[]> =>
  (await json<{ jobs: readonly JobAnswer[] }>(service.call('/v1/dead-letters'))).jobs.map(({ id }) => id);
const told = (): readonly string[] => webhook.calls.map(({ id }) => id);

it('is a failure after the configured runs: a dead letter, told once, delivered by hand when the target is back', async () => {
  await proxy.set({ kind: 'refuse' });
  await start({ max_job_attempts: 2 });
  const id = await submit('a');
  const job = await service.ended(id);
  expect(job).toMatchObject({ state: 'failed', attempt: 2, error_code: 'sink_unreachable' });
  expect(job.error).toMatch(/"store"/);
  expect(await deadLetters()).toEqual([id]);
  expect(await metrics()).toContain('ofd_deliveries_total{kind="s3",outcome="unreachable"} 2');
  await proxy.set({ kind: 'none' });
  expect((await service.call(`/v1/jobs/${id}/retry`, { method: 'POST' })).status).toBe(202);
  expect(await service.ended(id)).toMatchObject({ state: 'succeeded', attempt: 3 });
  expect(await server.list()).toEqual(['in/box/a.pdf']);
  await until(
    async () => told(),
    (ids) => ids.length === 2,
  );
  expect(told()).toEqual([`${id}:failed`, `${id}:succeeded:2`]);
});

it('is waited for on a slow clock with sink_retry_for: in sight, over a restart, with the worker free for others', async () => {
  await proxy.set({ kind: 'refuse' });
  await start({ max_job_attempts: 2, sink_retry_for: '1h', job_retry_backoff: '150ms' });
  const id = await submit('b');
  const first = await waitingFor(id, 1);
  expect(first).toMatchObject({ state: 'queued', waiting: { reason: 'sink_unreachable' } });
  expect(first.error).toBeUndefined();
  const later = await waitingFor(id, 3);
  expect(later.waiting?.since).toBe(first.waiting?.since);
  const stats = await json<{ queue: object }>(service.call('/v1/stats'));
  expect(stats.queue).toMatchObject({ queued: 1, running: 0, waiting: { retry: 0, sink_unreachable: 1 } });
  expect(await metrics()).toContain('ofd_queue_waiting{reason="sink_unreachable"} 1');

  const { id: other } = await json<JobAnswer>(service.convert(submission({ output: { kind: 'dir' } })));
  expect((await service.ended(other)).state).toBe('succeeded');
  expect(['queued', 'running']).toContain((await get(id)).state);

  await service.restart();
  const afterwards = await waitingFor(id, later.attempt);
  expect(afterwards.waiting?.since).toBe(first.waiting?.since);
  expect(told()).toEqual([]);
  await proxy.set({ kind: 'none' });
  expect(await service.ended(id)).toMatchObject({ state: 'succeeded' });
  expect(await server.list()).toEqual(['in/box/b.pdf']);
  await until(
    async () => told(),
    (ids) => ids.length === 1,
  );
  expect(told()).toEqual([`${id}:succeeded`]);
  expect(await deadLetters()).toEqual([]);
  const folder = join(service.folder, 'log');
  const log = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  expect(log).toMatch(new RegExp(`"job":"${id}".*"code":"sink_unreachable".*"waitingFor":"sink_unreachable"`));
});

it('fails when the time for it is up, and not before', async () => {
  await proxy.set({ kind: 'refuse' });
  await start({ sink_retry_for: '2500ms' });
  const startMs = performance.now();
  const id = await submit('c');
  const job = await service.ended(id);
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(2500);
  expect(job).toMatchObject({ state: 'failed', error_code: 'sink_unreachable' });
  expect(job.attempt).toBeGreaterThan(2);
  expect(await deadLetters()).toEqual([id]);
  await until(
    async () => told(),
    (ids) => ids.length === 1,
  );
  expect(told()).toEqual([`${id}:failed`]);
});

it('can be waited for no more: cancelled in its wait, and by force in its run', async () => {
  await proxy.set({ kind: 'refuse' });
  await start({ sink_retry_for: '1h', job_retry_backoff: '1m' });
  const id = await submit('d');
  await waitingFor(id, 1);
  expect((await service.call(`/v1/jobs/${id}/retry`, { method: 'POST' })).status).toBe(409);
  expect((await service.call(`/v1/jobs/${id}/cancel`, { method: 'POST' })).status).toBe(200);
  expect(await get(id)).toMatchObject({ state: 'cancelled' });

  await proxy.set({ kind: 'stall', afterBytes: 0 });
  const stalled = await submit('e');
  await service.reached(stalled, 'running');
  expect((await service.call(`/v1/jobs/${stalled}/cancel?force=true`, { method: 'POST' })).status).toBe(200);
  expect(await get(stalled)).toMatchObject({ state: 'cancelled', error_code: 'cancelled' });
  await proxy.set({ kind: 'none' });
  expect(await server.list()).toEqual([]);
  expect(told()).toEqual([]);
});

it('that hangs does not hold the lane: jobs of others pass those that wait for it, which say so', async () => {
  await proxy.set({ kind: 'stall', afterBytes: 0 });
  const slow = { ...server.target(proxy.host), timeout_seconds: 3 };
  await start({ s3_targets: { store: slow, other: server.target() }, max_job_attempts: 3 });
  const held = [await submit('h1'), await submit('h2'), await submit('h3')];
  await service.reached(held[0] ?? '', 'running');
  const others = [{ kind: 'dir' }, { kind: 's3', file_name: 'other', remote: { target: 'other' } }];
  for (const output of others) {
    const { id } = await json<JobAnswer>(service.convert(submission({ output })));
    expect((await service.ended(id)).state).toBe('succeeded');
  }
  // One run has gone to it since, no more.
  const jobs = await Promise.all(held.map(get));
  expect(jobs.reduce((runs, { attempt }) => runs + attempt, 0)).toBe(1);
  expect(jobs[2]).toMatchObject({ state: 'queued', waiting: { reason: 'sink_unreachable' } });
  const list = await json<{ jobs: readonly Waiting[] }>(service.call('/v1/jobs?state=queued'));
  expect(list.jobs.map(({ waiting }) => waiting?.reason)).toEqual(held.map(() => 'sink_unreachable'));
  await proxy.set({ kind: 'none' });
  for (const id of held) expect((await service.ended(id)).state).toBe('succeeded');
  expect((await get(held[2] ?? '')).waiting).toBeUndefined();
});

it('that is no longer configured ends its job as a dead letter, which is delivered when it is back', async () => {
  await proxy.set({ kind: 'refuse' });
  await start({ sink_retry_for: '1h', job_retry_backoff: '300ms' });
  const id = await submit('v');
  await waitingFor(id, 1);
  await service.restart({ s3_targets: {} });
  expect(await service.ended(id)).toMatchObject({ state: 'failed', error_code: 'unknown_remote_target' });
  expect(await deadLetters()).toEqual([id]);
  await proxy.set({ kind: 'none' });
  await service.restart();
  expect((await service.call(`/v1/jobs/${id}/retry`, { method: 'POST' })).status).toBe(202);
  expect(await service.ended(id)).toMatchObject({ state: 'succeeded' });
});

it('shuts down at once while jobs wait or hang, and delivers them after the next start', async () => {
  await proxy.set({ kind: 'stall', afterBytes: 0 });
  await start({ sink_retry_for: '1h', shutdown_grace: '100ms' });
  const ids = [await submit('f'), await submit('g')];
  await service.reached(ids[0] ?? '', 'running');
  const startMs = performance.now();
  await service.service.shutDown();
  expect(performance.now() - startMs).toBeLessThan(5000);
  await proxy.set({ kind: 'none' });
  await service.restart();
  for (const id of ids) expect((await service.ended(id)).state).toBe('succeeded');
  expect(await server.list()).toEqual(['in/box/f.pdf', 'in/box/g.pdf']);
});
