// Notifications over HTTP: none falls silent, all can be looked at and sent again (contract N3).
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { temporaryFolder } from '../support/jobs.js';
import { type JobAnswer, json, startTestService, submission, type TestService, until } from '../support/service.js';
import { Webhook } from '../support/webhook.js';

interface Item {
  readonly id: string;
  readonly job_id: string;
  readonly target: string;
  readonly event: string;
  readonly state: string;
  readonly attempts: number;
  readonly last_status?: number;
  readonly last_error?: string;
  readonly next_attempt_at?: string;
  readonly delivered_at?: string;
}

interface List {
  readonly notifications: readonly Item[];
  readonly next_cursor?: string;
}

let webhook: Webhook;
let service: TestService;

beforeEach(async () => {
  webhook = new Webhook();
  await webhook.start();
});
afterEach(async () => {
  await service.close();
  await webhook.stop();
});

const keys = (target: object = {}): Record<string, unknown> => ({
  notify_retry_backoff: '5ms',
  notify_slow_retry: '150ms',
  notify_targets: { erp: { url: webhook.url, max_attempts: 2, ...target } },
});
const start = async (target: object = {}, changes: object = {}): Promise<void> => {
  service = await startTestService({ ...keys(target), ...changes });
};
const submit = async (target = 'erp'): Promise<string> =>
  (await json<JobAnswer>(service.convert(submission({ output: { kind: 'dir' }, notify: { target } })))).id;
const list = (query = ''): Promise<List> => json<List>(service.call(`/v1/notifications?limit=200${query}`));
const redeliver = (id: string): Promise<Response> =>
  service.call(`/v1/notifications/${id}/redeliver`, { method: 'POST' });
/** The list when as many are in that state. */
const reached = (state: string, count: number): Promise<List> =>
  until(
    () => list(`&state=${state}`),
    ({ notifications }) => notifications.length === count,
  );
const metric = async (name: string): Promise<number | undefined> => {
  const text = await (await service.call('/metrics')).text();
  const line = text.split('\n').find((row) => row.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
};

it('a receiver that was down for all fast attempts, and over a restart, gets every one exactly once', async () => {
  await start();
  await webhook.stop();
  const jobs = await Promise.all(Array.from({ length: 25 }, () => submit()));
  const { notifications } = await reached('abandoned', 25);
  for (const item of notifications) {
    expect(item).toMatchObject({ last_error: 'no answer: ECONNREFUSED', next_attempt_at: expect.any(String) });
    expect(item.attempts).toBeGreaterThanOrEqual(2);
    expect(item.last_status).toBeUndefined();
  }
  expect(await metric('ofd_notifications_pending{state="abandoned"}')).toBe(25);
  // Its later attempts count no more.
  await until(
    () => list(),
    ({ notifications: all }) => all.every(({ attempts }) => attempts > 3),
  );
  expect(await metric('ofd_notifications_total{outcome="abandoned"}')).toBe(25);
  await service.restart();
  await webhook.start();
  await reached('delivered', 25);
  expect([...webhook.counts()].sort()).toEqual(jobs.map((id) => [`${id}:succeeded`, 1]).sort());
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(webhook.calls).toHaveLength(25);
  expect(await metric('ofd_notifications_total{outcome="delivered"}')).toBe(25);
  expect(await metric('ofd_notifications_total{outcome="abandoned"}')).toBe(25);
  expect(await metric('ofd_notifications_pending{state="abandoned"}')).toBe(0);
});

it('nothing is sent on the slow clock where that is off', async () => {
  await start({}, { notify_slow_retry: '0s' });
  webhook.answer = () => 500;
  await submit();
  const { notifications } = await reached('abandoned', 1);
  expect(notifications[0]).toMatchObject({ attempts: 2, last_status: 500 });
  expect(notifications[0]?.next_attempt_at).toBeUndefined();
});

it('lists what there is, by state, target, event and job, page by page', async () => {
  await start({}, { notify_targets: { ...keys().notify_targets!, other: { url: webhook.url } } });
  webhook.answer = ({ headers }) => (headers['x-ofd-event'] === 'failed' ? 410 : 204);
  const first = await submit();
  await service.ended(first);
  const second = await submit('other');
  await service.ended(second);
  service.converter.failure = new ServiceError('conversion_failed', 'no', { reason: 'corrupt' });
  const third = await submit();
  await reached('delivered', 2);
  await reached('dead', 1);
  const ids = async (query: string): Promise<string[]> => (await list(query)).notifications.map(({ id }) => id);
  expect(await ids('')).toEqual([`${third}:failed`, `${second}:succeeded`, `${first}:succeeded`]);
  expect(await ids('&target=other')).toEqual([`${second}:succeeded`]);
  expect(await ids(`&job=${first}`)).toEqual([`${first}:succeeded`]);
  expect(await ids('&event=failed')).toEqual([`${third}:failed`]);
  expect(await ids('&state=delivered&target=erp')).toEqual([`${first}:succeeded`]);
  expect(await ids('&target=nobody')).toEqual([]);
  expect((await list('&state=dead')).notifications[0]).toMatchObject({
    job_id: third,
    target: 'erp',
    event: 'failed',
    attempts: 1,
    last_status: 410,
    last_error: 'the receiver answered 410',
  });
  const page = await json<List>(service.call('/v1/notifications?limit=2'));
  expect(page.notifications.map(({ id }) => id)).toEqual([`${third}:failed`, `${second}:succeeded`]);
  const rest = await json<List>(service.call(`/v1/notifications?limit=2&cursor=${page.next_cursor}`));
  expect(rest).toEqual({ notifications: [expect.objectContaining({ id: `${first}:succeeded` })] });
  for (const query of ['?state=lost', '?limit=0', '?cursor=x', '?after=1']) {
    const response = await service.call(`/v1/notifications${query}`);
    expect([response.status, (await json(response)).code]).toEqual([400, 'invalid_request']);
  }
});

it('sends again what was delivered, refused or abandoned, under the same id with the same bytes', async () => {
  await start({}, { notify_slow_retry: '1h' });
  const id = `${await submit()}:succeeded`;
  await reached('delivered', 1);
  const response = await redeliver(encodeURIComponent(id));
  expect(response.status).toBe(202);
  expect(await json(response)).toMatchObject({ id, state: 'pending', attempts: 1 });
  await until(
    () => list(),
    ({ notifications: [item] }) => item?.state === 'delivered' && item.attempts === 2,
  );
  expect(webhook.counts()).toEqual(new Map([[id, 2]]));
  expect(new Set(webhook.calls.map(({ body }) => body)).size).toBe(1);

  webhook.answer = () => 404;
  expect((await redeliver(id)).status).toBe(202);
  await reached('dead', 1);
  webhook.answer = () => 503;
  expect((await redeliver(id)).status).toBe(202);
  // As many fast attempts as a new one has.
  expect((await reached('abandoned', 1)).notifications[0]?.attempts).toBe(5);
  webhook.answer = () => 204;
  expect((await redeliver(id)).status).toBe(202);
  expect((await reached('delivered', 1)).notifications[0]?.attempts).toBe(6);
});

it('refuses to send what is not there, or whose target is gone, and sends it when that is back', async () => {
  await start();
  webhook.answer = () => 500;
  const id = `${await submit()}:succeeded`;
  await reached('abandoned', 1);
  for (const unknown of ['nothing', `${id}:2`, '%00']) {
    const response = await redeliver(unknown);
    expect([response.status, (await json(response)).code]).toEqual([404, 'notification_not_found']);
  }
  await service.restart({ notify_targets: {} });
  const { notifications } = await reached('dead', 1);
  expect(notifications[0]?.last_error).toMatch(/"erp" is not configured/);
  const refused = await redeliver(id);
  expect(refused.status).toBe(400);
  expect(await json(refused)).toMatchObject({
    code: 'unknown_notify_target',
    message: expect.stringMatching(/"erp".*configure it/),
  });
  webhook.answer = () => 204;
  await service.restart(keys());
  expect((await redeliver(id)).status).toBe(202);
  await reached('delivered', 1);
});

it('reads the secret again from its file where a receiver refuses the signature', async () => {
  const folder = temporaryFolder('secret');
  onTestFinished(folder.remove);
  const file = join(folder.path, 'secret');
  writeFileSync(file, 'old\n');
  await start({ secret_file: file });
  const isSignedWith = (secret: string): boolean => {
    const { headers, body } = webhook.calls.at(-1)!;
    const text = `v1.${headers['x-ofd-timestamp']}.${body}`;
    return headers['x-ofd-signature'] === `v1=${createHmac('sha256', secret).update(text).digest('hex')}`;
  };
  await submit();
  await reached('delivered', 1);
  expect(isSignedWith('old')).toBe(true);
  webhook.answer = () => (isSignedWith('new') ? 204 : 401);
  await submit();
  await reached('dead', 1);
  writeFileSync(file, 'new\n');
  await submit();
  await reached('delivered', 2);
  expect(isSignedWith('new')).toBe(true);
});
