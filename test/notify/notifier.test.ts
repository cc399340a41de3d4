/** Notifications over real HTTP: signature, classes of answers, waits, fairness between targets, restart and shutdown. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/key.js';
import type { DeliveryResult } from '../../src/jobs/notification.js';
import { SqliteStore } from '../../src/jobs/sqlite-store.js';
import { type NotifyTarget, resultOf } from '../../src/notify/delivery.js';
import { Notifier, type NotifierOptions } from '../../src/notify/notifier.js';
import { failed, newJob, succeeded, temporaryFolder } from '../support/jobs.js';

interface Call {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const SECRET = 'a secret of the receiver';

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;
let receiver: Server;
let calls: Call[];
let answer: (call: Call, response: ServerResponse) => void;
let notifiers: Notifier[];
let errors: unknown[];
let results: DeliveryResult[];

beforeEach(async () => {
  folder = temporaryFolder('notify');
  store = await SqliteStore.open({ path: join(folder.path, 'jobs.db') });
  calls = [];
  notifiers = [];
  errors = [];
  results = [];
  answer = (_, response) => response.writeHead(204).end();
  receiver = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const call = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
    calls.push(call);
    answer(call, response);
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  for (const notifier of notifiers) await notifier.close();
  await store.close();
  receiver.closeAllConnections();
  receiver.close();
  folder.remove();
  expect(errors).toEqual([]);
});

function target(path: string, changes: Partial<NotifyTarget> = {}): NotifyTarget {
  const { port } = receiver.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    secret: new Secret(SECRET),
    events: [],
    timeoutSeconds: 1,
    maxAttempts: 3,
    ...changes,
  };
}

function startNotifier(targets: Record<string, NotifyTarget>, changes: Partial<NotifierOptions> = {}): Notifier {
  const notifier = new Notifier({
    outbox: store,
    targets: new Map(Object.entries(targets)),
    workers: 4,
    backoffMs: 50,
    slowRetryMs: 60_000,
    now: Date.now,
    pollMs: 10,
    onAttempt: (_, result) => results.push(result),
    onError: (error) => errors.push(error),
    ...changes,
  });
  notifiers.push(notifier);
  notifier.start();
  return notifier;
}

/** A job that has ended and is to be told of. */
async function endedJob(name = 'erp', outcome: Parameters<typeof store.settle>[1] = succeeded()): Promise<string> {
  const { request } = newJob();
  const { job } = await store.submit(newJob({ request: { ...request, notify: { target: name } } }), undefined);
  const attempt = await store.claim('fast', Date.now());
  if (attempt) await store.settle(attempt, outcome, Date.now());
  return job.id;
}

async function until(isRight: () => boolean): Promise<void> {
  while (!isRight()) await pause(5);
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it('signs what it sends, and sends it once where it is taken', async () => {
  const id = await endedJob();
  startNotifier({ erp: target('/hook?tenant=1') });
  await until(() => results.length === 1);
  await pause(60);
  expect(calls).toHaveLength(1);
  const [call] = calls as [Call];
  const timestamp = call.headers['x-ofd-timestamp'] as string;
  expect(call.path).toBe('/hook?tenant=1');
  expect(call.headers).toMatchObject({
    'content-type': 'application/json',
    'x-ofd-delivery': `${id}:succeeded`,
    'x-ofd-event': 'succeeded',
    'x-ofd-job': id,
    'x-ofd-signature': `v1=${createHmac('sha256', SECRET).update(`v1.${timestamp}.${call.body}`).digest('hex')}`,
  });
  expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(5);
  expect(JSON.parse(call.body)).toMatchObject({ job_id: id, state: 'succeeded', event: 'succeeded', attempt: 1 });
  expect((await store.snapshot()).notifications).toEqual([{ outcome: 'delivered', count: 1 }]);
});

it('has no signature where the target has no secret', async () => {
  await endedJob();
  startNotifier({ erp: target('/', { secret: undefined }) });
  await until(() => calls.length === 1);
  expect(calls[0]?.headers['x-ofd-signature']).toBeUndefined();
});

it('sends again what may pass, the same bytes under the same id, until it is taken', async () => {
  const statuses = [500, 429, 200];
  const times: number[] = [];
  answer = (_, response) => {
    times.push(performance.now());
    response.writeHead(statuses[calls.length - 1] ?? 200).end('later');
  };
  const id = await endedJob('erp', failed());
  startNotifier({ erp: target('/') });
  await until(() => results.length === 3);
  expect(calls.map(({ headers }) => headers['x-ofd-delivery'])).toEqual(Array(3).fill(`${id}:failed`));
  expect(new Set(calls.map(({ body }) => body)).size).toBe(1);
  expect(results.map(({ state }) => state)).toEqual(['pending', 'pending', 'delivered']);
  const [first = 0, second = 0, third = 0] = times;
  expect(second - first).toBeGreaterThanOrEqual(49);
  expect(third - second).toBeGreaterThanOrEqual(99);
});

it('abandons what was tried often enough, and keeps it in sight', async () => {
  answer = (_, response) => response.writeHead(503).end();
  await endedJob();
  startNotifier({ erp: target('/', { maxAttempts: 2 }) }, { backoffMs: 1 });
  await until(() => results.length === 2);
  await pause(50);
  expect(calls).toHaveLength(2);
  expect(await store.snapshot()).toMatchObject({
    notifications: [{ outcome: 'abandoned', count: 1 }],
    pendingNotifications: [
      { state: 'pending', count: 0 },
      { state: 'abandoned', count: 1 },
    ],
  });
});

it.each([301, 302, 307, 400, 404, 410])('takes %i for a refusal, and follows no redirect', async (status) => {
  answer = (_, response) => response.writeHead(status, { location: '/elsewhere' }).end();
  await endedJob();
  startNotifier({ erp: target('/') });
  await until(() => results.length === 1);
  expect(results).toEqual([{ state: 'dead', status, error: `the receiver answered ${status}` }]);
  await pause(80);
  expect(calls).toHaveLength(1);
});

it('gives up on a receiver that does not answer, or is not there', async () => {
  answer = () => undefined;
  await endedJob();
  await endedJob('gone');
  const closed = createServer().listen(0);
  const { port } = closed.address() as AddressInfo;
  closed.close();
  startNotifier(
    {
      erp: target('/', { maxAttempts: 1 }),
      gone: target('/', { maxAttempts: 1, url: `http://127.0.0.1:${port}/?token=hidden` }),
    },
    { workers: 2 },
  );
  await until(() => results.length === 2);
  expect(results.map(({ error }) => error).sort()).toEqual([
    'no answer within timeout_seconds (1 s)',
    'no answer: ECONNREFUSED',
  ]);
});

it('is dead at once where the target is no longer configured', async () => {
  await endedJob('vanished');
  startNotifier({});
  await until(() => results.length === 1);
  expect(results[0]).toMatchObject({ state: 'dead', error: expect.stringContaining('"vanished" is not configured') });
});

it('lets no receiver that hangs keep the others waiting', async () => {
  answer = ({ path }, response) => {
    if (path === '/ok') response.writeHead(200).end();
  };
  for (let index = 0; index < 20; index += 1) await endedJob('hangs');
  startNotifier({ hangs: target('/hangs', { maxAttempts: 9 }), erp: target('/ok') }, { workers: 2, backoffMs: 60_000 });
  await until(() => results.length >= 1);
  const ids = [await endedJob(), await endedJob(), await endedJob()];
  const start = performance.now();
  await until(() => calls.filter(({ path }) => path === '/ok').length === 3);
  expect(performance.now() - start).toBeLessThan(1500);
  expect(calls.filter(({ path }) => path === '/ok').map(({ headers }) => headers['x-ofd-job'])).toEqual(ids);
});

it('sends after a restart what was on its way, and counts it once', async () => {
  answer = () => undefined;
  const id = await endedJob();
  const first = startNotifier({ erp: target('/', { timeoutSeconds: 60 }) });
  await until(() => calls.length === 1);
  const start = performance.now();
  await first.close();
  expect(performance.now() - start).toBeLessThan(4000);
  expect(results).toEqual([]);
  await store.close();
  store = await SqliteStore.open({ path: join(folder.path, 'jobs.db') });
  await store.recover({ nowMs: Date.now(), maxJobCrashes: 3 });
  answer = (_, response) => response.writeHead(200).end();
  startNotifier({ erp: target('/') });
  await until(() => results.length === 1);
  expect(calls.map(({ headers }) => headers['x-ofd-delivery'])).toEqual([`${id}:succeeded`, `${id}:succeeded`]);
  expect((await store.snapshot()).notifications).toEqual([{ outcome: 'delivered', count: 1 }]);
});

it('delivers a thousand, each once', async () => {
  const ids = new Set<string>();
  for (let index = 0; index < 1000; index += 1) ids.add(await endedJob());
  const notifier = startNotifier({ erp: target('/') }, { workers: 8 });
  const start = performance.now();
  await until(() => results.length === 1000);
  console.log(`1,000 notifications in ${Math.round(performance.now() - start)} ms`);
  await notifier.close();
  expect(new Set(calls.map(({ headers }) => headers['x-ofd-job']))).toEqual(ids);
  expect(calls).toHaveLength(1000);
});

describe('resultOf', () => {
  const notification = { attempts: 0, earlierAttempts: 0 };
  const policy = { maxAttempts: 20, backoffMs: 5000, slowRetryMs: 3_600_000 };
  const waitMs = (attempts: number, retryAfterMs?: number): number =>
    (resultOf({ status: 429, retryAfterMs }, { ...notification, attempts }, policy, 1000).nextAttemptAtMs ?? 0) - 1000;

  it('doubles the wait up to ten minutes', () => {
    expect([0, 1, 2, 3].map((attempts) => waitMs(attempts))).toEqual([5000, 10_000, 20_000, 40_000]);
    expect(waitMs(15)).toBe(600_000);
  });

  it('waits longer where the receiver asks for it, at most an hour, and never shorter', () => {
    expect(waitMs(0, 90_000)).toBe(90_000);
    expect(waitMs(0, 1000)).toBe(5000);
    expect(waitMs(0, 1e9)).toBe(3_600_000);
  });
});
