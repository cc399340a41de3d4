// Batches (contract X5): items in order, each with a fate of its own, told once, cancelled, found again.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import {
  type JobAnswer,
  json,
  OFD_BASE64,
  startTestService,
  submission,
  type TestService,
  until,
} from '../support/service.js';
import { Webhook } from '../support/webhook.js';

interface Item {
  readonly index: number;
  readonly job_id?: string;
  readonly state: string;
  readonly error?: string;
  readonly error_code?: string;
}

interface BatchAnswer {
  readonly id: string;
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly items: readonly Item[];
  readonly status_url?: string;
}

let service: TestService;
afterEach(() => service.close());

type Changes = Parameters<typeof submission>[0];
const item = (changes: Changes = {}): Record<string, unknown> =>
  submission({ ...changes, output: { kind: 'dir', ...changes?.output } });
const send = (body: unknown, init: RequestInit = {}): Promise<Response> =>
  service.call('/v1/batches', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });
const get = (id: string): Promise<BatchAnswer> => json<BatchAnswer>(service.call(`/v1/batches/${id}`));
const completed = (id: string): Promise<BatchAnswer> =>
  until(
    () => get(id),
    ({ state }) => state === 'completed',
  );
const jobs = async (): Promise<readonly JobAnswer[]> =>
  (await json<{ jobs: readonly JobAnswer[] }>(service.call('/v1/jobs?limit=200'))).jobs;

async function withWebhook(changes: Record<string, unknown> = {}, target: object = {}): Promise<Webhook> {
  const webhook = new Webhook();
  await webhook.start();
  onTestFinished(() => webhook.stop());
  service = await startTestService({
    notify_retry_backoff: '5ms',
    notify_targets: { erp: { url: webhook.url, ...target } },
    ...changes,
  });
  return webhook;
}

const NOTIFY = { target: 'erp', events: ['batch_completed'] };

it('has a job for each item, in the order of the request', async () => {
  service = await startTestService();
  const response = await send({ items: ['a', 'b', 'c'].map((name) => item({ output: { file_name: name } })) });
  expect(response.status).toBe(202);
  const accepted = await json<BatchAnswer>(response);
  expect(accepted).toEqual({
    id: expect.stringMatching(/^[0-9a-z]{12}$/),
    state: 'running',
    total: 3,
    status_url: `/v1/batches/${accepted.id}`,
  });
  const batch = await completed(accepted.id);
  expect(batch).toMatchObject({ total: 3, done: 3, succeeded: 3, failed: 0, cancelled: 0 });
  expect(batch).toMatchObject({ created_at: expect.any(String), finished_at: expect.any(String) });
  expect(batch.items.map(({ index, state }) => [index, state])).toEqual([0, 1, 2].map((n) => [n, 'succeeded']));
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    const job = await service.ended(batch.items[index]?.job_id ?? '');
    expect(job.output.files).toEqual([`${name}.pdf`]);
  }
});

it('tells its progress while it runs', async () => {
  service = await startTestService({ fast_workers: 1 });
  service.converter.hold();
  const { id } = await json<BatchAnswer>(send({ items: [item(), item(), { output: {} }] }));
  const batch = await until(
    () => get(id),
    ({ items }) => items[0]?.state === 'running',
  );
  expect(batch).toMatchObject({ state: 'running', total: 3, done: 1, failed: 1, succeeded: 0 });
  expect(batch.items.map(({ state }) => state)).toEqual(['running', 'queued', 'failed']);
  service.converter.release();
  expect(await completed(id)).toMatchObject({ done: 3, succeeded: 2, failed: 1 });
});

it('refuses an item alone, whatever is wrong with it, and says what a submission of its own is told', async () => {
  service = await startTestService();
  const long = 'A'.repeat(100_000);
  const wrong: [unknown, string, RegExp][] = [
    [item({ output: { format: 'nonsense' } }), 'invalid_request', /output\.format: "nonsense"/],
    [item({ output: { kind: 'stream' } }), 'invalid_request', /output\.kind.*no stream/],
    [submission({ output: { kind: null } }), 'invalid_request', /output\.kind.*no stream/],
    [item({ output: { format: 'docx' } }), 'unsupported_conversion', /docx/],
    [item({ output: { kind: 's3', remote: { target: 'x' } } }), 'unknown_remote_target', /x/],
    [item({ notify: { target: 'nobody' } }), 'unknown_notify_target', /nobody/],
    [item({ lane: 'fast' }), 'invalid_request', /^lane: the server decides/],
    [item({ input: { bytes: '!' } }), 'invalid_request', /^input\.bytes: character 1/],
    [item({ input: { bytes: `${long}!AAA` } }), 'invalid_request', /^input\.bytes: character 100001/],
    [item({ output: { file_name: long } }), 'invalid_request', /long text stands outside of input\.bytes/],
    [item({ input: { bytes: '' } }), 'invalid_request', /input\.bytes is required/],
    ['text', 'invalid_request', /items\[11\] is no object/],
    [null, 'invalid_request', /items\[12\] is no object/],
    [[], 'invalid_request', /items\[13\] is no object/],
    [{}, 'invalid_request', /input is required|output is required/],
    [item({ idempotency_key: 'with space' }), 'invalid_request', /idempotency_key/],
    [
      item({ input: { kind: 'url', url: 'https://a.example/x', bytes: null, file_name: null } }),
      'url_input_disabled',
      /./,
    ],
  ];
  const response = await send({ items: [...wrong.map(([body]) => body), item()] });
  expect(response.status).toBe(202);
  const batch = await completed((await json<BatchAnswer>(response)).id);
  for (const [index, [, code, says]] of wrong.entries()) {
    expect(batch.items[index]).toEqual({
      index,
      state: 'failed',
      error_code: code,
      error: expect.stringMatching(says),
      ...(code === 'unsupported_conversion' && { reason: 'unsupported' }),
    });
  }
  expect(batch.items.at(-1)).toMatchObject({ state: 'succeeded', job_id: expect.any(String) });
  expect(batch).toMatchObject({ total: wrong.length + 1, failed: wrong.length, succeeded: 1 });
  expect(await jobs()).toHaveLength(1);
});

it('goes on when an item fails, and shows why', async () => {
  service = await startTestService({ fast_workers: 1 });
  service.converter.hold();
  const { id } = await json<BatchAnswer>(send({ items: [item(), item()] }));
  service.converter.failure = new ServiceError('conversion_failed', 'The ZIP is cut', { reason: 'corrupt' });
  service.converter.release();
  const batch = await completed(id);
  expect(batch.items[1]).toMatchObject({
    state: 'failed',
    error: 'The ZIP is cut',
    error_code: 'conversion_failed',
    reason: 'corrupt',
  });
});

it('takes large files beside small ones, and keeps none of them', async () => {
  service = await startTestService();
  const bytes = Buffer.concat([Buffer.from(OFD_BASE64, 'base64'), Buffer.alloc(300_000, 1)]);
  const large = item({ input: { bytes: bytes.toString('base64') } });
  service.converter.hold();
  const { id } = await json<BatchAnswer>(send({ items: [large, item(), large, { ...large, lane: 'x' }] }));
  const inputs = (): string[] => readdirSync(join(service.folder, 'data', 'inputs'));
  expect(inputs()).toHaveLength(2);
  service.converter.release();
  expect(await completed(id)).toMatchObject({ succeeded: 3, failed: 1 });
  expect(inputs()).toEqual([]);
  expect(readdirSync(service.tempDir, { recursive: true }).filter((name) => String(name).includes('upload'))).toEqual(
    [],
  );
  expect(new Set(service.converter.inputs).size).toBe(2);
});

describe('as a whole', () => {
  it.each([
    ['{', /no valid JSON/],
    ['{"items":[]}', /items is empty/],
    ['{}', /items is required/],
    ['[]', /body/],
    ['{"items":{}}', /items: .*list/],
    ['{"items":[{}],"mode":1}', /mode: unknown field/],
    ['{"items":[{"a" 1}]}', /items\[0\] is no valid JSON/],
    ['{"\\u0069tems":[{}]}', /items.*(escapes|whole number)/],
    ['{"items":[{}],"notify":{}}', /notify\.target is required/],
    ['{"items":[{}],"notify":{"target":"erp"}}', /notify\.events: write \["batch_completed"\]/],
    ['{"items":[{}],"notify":{"target":"erp","events":["succeeded"]}}', /notify\.events/],
    ['{"items":[{}],"notify":{"target":"erp","events":["batch_completed","done"]}}', /"done" is no event/],
  ])('%s is refused', async (body, says) => {
    await withWebhook();
    const response = await send(body);
    expect([response.status, await json(response)]).toEqual([
      400,
      { code: 'invalid_request', message: expect.stringMatching(says) },
    ]);
    expect(await jobs()).toEqual([]);
  });

  it('is refused for a target that nobody knows, a body that is too large, and an unknown id', async () => {
    service = await startTestService({ max_upload_bytes: 10_000 });
    const code = async (response: Promise<Response>): Promise<unknown> => (await json(response)).code;
    expect(await code(send({ items: [item()], notify: NOTIFY }))).toBe('unknown_notify_target');
    expect(await code(send({ items: Array.from({ length: 200 }, () => item()) }))).toBe('payload_too_large');
    expect(await code(service.call('/v1/batches/nothing'))).toBe('batch_not_found');
    expect(await code(service.call('/v1/batches/nothing/cancel', { method: 'POST' }))).toBe('batch_not_found');
    expect(await code(service.call('/v1/batches?x=1', { method: 'POST', body: '{}' }))).toBe('invalid_request');
    expect(await jobs()).toEqual([]);
  });

  it('takes a thousand items, and no more', async () => {
    service = await startTestService();
    service.converter.hold();
    const tooMany = await send(`{"items":[${'{},'.repeat(1000)}{}]}`);
    expect([tooMany.status, (await json(tooMany)).message]).toEqual([400, expect.stringMatching(/more than 1000/)]);
    const startMs = performance.now();
    const response = await send({ items: Array.from({ length: 1000 }, () => item()) });
    console.log(`a batch of 1,000 was taken in ${Math.round(performance.now() - startMs)} ms`);
    expect(response.status).toBe(202);
    const { id } = await json<BatchAnswer>(response);
    const cancelled = await service.call(`/v1/batches/${id}/cancel?force=true`, { method: 'POST' });
    expect(await json(cancelled)).toMatchObject({ state: 'completed', total: 1000, cancelled: 1000 });
  });
});

describe('its notification', () => {
  it('comes once, when the last item has ended; items have their own', async () => {
    const webhook = await withWebhook();
    const { id } = await json<BatchAnswer>(
      send({ items: [item({ notify: { target: 'erp' } }), item(), { output: {} }], notify: NOTIFY }),
    );
    const batch = await completed(id);
    await until(
      async () => webhook.calls.length,
      (count) => count === 2,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([...webhook.counts()].sort()).toEqual(
      [
        [`${batch.items[0]?.job_id}:succeeded`, 1],
        [`${id}:batch_completed`, 1],
      ].sort(),
    );
    const call = webhook.calls.find(({ id: delivery }) => delivery === `${id}:batch_completed`);
    expect(call?.headers).toMatchObject({ 'x-ofd-event': 'batch_completed', 'x-ofd-batch': id });
    expect(call?.headers['x-ofd-job']).toBeUndefined();
    expect(JSON.parse(call?.body ?? '')).toEqual({
      batch_id: id,
      state: 'completed',
      event: 'batch_completed',
      total: 3,
      done: 3,
      succeeded: 2,
      failed: 1,
      cancelled: 0,
      created_at: expect.any(String),
      finished_at: expect.any(String),
      status_url: `/v1/batches/${id}`,
    });
    const list = await json<{ notifications: object[] }>(service.call(`/v1/notifications?job=${id}`));
    expect(list.notifications).toMatchObject([{ id: `${id}:batch_completed`, batch_id: id, state: 'delivered' }]);
  });

  it('comes also where no item was right, and not to a target that wants to hear of other things', async () => {
    const webhook = await withWebhook();
    const { id, state } = await json<BatchAnswer>(send({ items: [{}], notify: NOTIFY }));
    expect(state).toBe('completed');
    await until(
      async () => webhook.calls,
      (calls) => calls[0]?.id === `${id}:batch_completed`,
    );
    await service.close();
    const other = await withWebhook({}, { events: ['failed', 'succeeded'] });
    await send({ items: [{}], notify: NOTIFY });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(other.calls).toEqual([]);
  });

  it.each([['batch_completed'], ['*']])('comes to a target whose own events are %s', async (event) => {
    const webhook = await withWebhook({}, { events: [event] });
    const { id } = await json<BatchAnswer>(send({ items: [{}], notify: NOTIFY }));
    await until(
      async () => webhook.calls,
      (calls) => calls[0]?.id === `${id}:batch_completed`,
    );
  });

  it.each([[['succeeded', 'batch_completed']], [['*']]])('comes once where it is asked for by %j', async (events) => {
    const webhook = await withWebhook();
    const { id } = await json<BatchAnswer>(send({ items: [item()], notify: { target: 'erp', events } }));
    await completed(id);
    await until(
      async () => webhook.calls.length,
      (count) => count > 0,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([...webhook.counts()]).toEqual([[`${id}:batch_completed`, 1]]);
  });

  it('is nothing for a single job to ask for', async () => {
    await withWebhook();
    const response = await service.convert(item({ notify: NOTIFY }));
    expect([response.status, (await json(response)).message]).toEqual([400, expect.stringMatching(/batch_completed/)]);
    const batch = await completed((await json<BatchAnswer>(send({ items: [item({ notify: NOTIFY })] }))).id);
    expect(batch.items[0]).toMatchObject({ state: 'failed', error_code: 'invalid_request' });
  });

  it('comes again where a dead letter among the items was tried again by hand', async () => {
    const webhook = await withWebhook();
    service.converter.failure = new ServiceError('engine_crashed', 'It died');
    const { id } = await json<BatchAnswer>(send({ items: [item()], notify: NOTIFY }));
    const jobId = (await completed(id)).items[0]?.job_id;
    service.converter.failure = undefined;
    service.converter.hold();
    expect((await service.call(`/v1/jobs/${jobId}/retry`, { method: 'POST' })).status).toBe(202);
    expect(await get(id)).toMatchObject({ state: 'running', done: 0, failed: 0 });
    service.converter.release();
    expect(await completed(id)).toMatchObject({ done: 1, succeeded: 1, failed: 0 });
    await until(
      async () => webhook.calls.map((call) => call.id),
      (ids) => ids.length === 2 && ids[1] === `${id}:batch_completed:2`,
    );
  });
});

describe('cancel', () => {
  const cancel = (id: string, query = ''): Promise<Response> =>
    service.call(`/v1/batches/${id}/cancel${query}`, { method: 'POST' });

  it('ends what is queued, and by force what runs', async () => {
    const webhook = await withWebhook({ fast_workers: 1 });
    service.converter.hold();
    const { id } = await json<BatchAnswer>(send({ items: [item(), item(), item()], notify: NOTIFY }));
    await until(
      () => get(id),
      ({ items }) => items[0]?.state === 'running',
    );
    const first = await cancel(id);
    expect(first.status).toBe(200);
    expect(await json(first)).toMatchObject({ state: 'running', done: 2, cancelled: 2 });
    const forced = await cancel(id, '?force=true');
    expect(await json(forced)).toMatchObject({ state: 'completed', done: 3, cancelled: 3, succeeded: 0 });
    expect((await json<BatchAnswer>(service.call(`/v1/batches/${id}`))).items[0]).toMatchObject({
      state: 'cancelled',
      error_code: 'cancelled',
    });
    const again = await cancel(id);
    expect([again.status, (await json(again)).code]).toEqual([409, 'not_cancellable']);
    await until(
      async () => webhook.calls.map((call) => call.id),
      (ids) => ids.length === 1 && ids[0] === `${id}:batch_completed`,
    );
  });

  it('leaves a job that an item only found by its key', async () => {
    service = await startTestService({ fast_workers: 1 });
    service.converter.hold();
    await service.convert(item());
    const { id: earlier } = await json<JobAnswer>(service.convert(item({ idempotency_key: 'k' })));
    const { id } = await json<BatchAnswer>(send({ items: [item({ idempotency_key: 'k' }), item()] }));
    const batch = await json<BatchAnswer>(cancel(id));
    expect(batch.items).toMatchObject([{ job_id: earlier, state: 'queued' }, { state: 'cancelled' }]);
    service.converter.release();
    expect((await completed(id)).items).toMatchObject([{ state: 'succeeded' }, { state: 'cancelled' }]);
  });
});

describe('a key', () => {
  const keyed = (body: unknown, key = 'b-1'): Promise<Response> => send(body, { headers: { 'idempotency-key': key } });

  it('finds the first batch, as it is now, also over a restart', async () => {
    await withWebhook();
    const body = { items: [item(), { output: {} }], notify: NOTIFY };
    const first = await keyed(body);
    expect(first.headers.get('idempotent-replay')).toBeNull();
    const { id } = await json<BatchAnswer>(first);
    await completed(id);
    await service.restart();
    for (const again of [await keyed(body), await send({ ...body, idempotency_key: 'b-1' })]) {
      expect([again.status, again.headers.get('idempotent-replay')]).toEqual([202, 'true']);
      expect(await json(again)).toMatchObject({ id, state: 'completed', total: 2 });
    }
    expect(await jobs()).toHaveLength(1);
  });

  it('makes one batch of many at a time', async () => {
    service = await startTestService();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        keyed({ items: [item(), item()] }).then((response) => json<BatchAnswer>(response)),
      ),
    );
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await jobs()).toHaveLength(2);
  });

  it('belongs to one request: another batch, or a single job, is a conflict', async () => {
    service = await startTestService();
    await keyed({ items: [item()] });
    await json(service.convert(item(), { headers: { 'idempotency-key': 'j-1' } }));
    for (const response of [
      await keyed({ items: [item(), item()] }),
      await keyed({ items: [item({ output: { format: 'txt' } })] }),
      await keyed({ items: [item({ input: { bytes: `${OFD_BASE64.slice(0, -4)}AAAA` } })] }),
      await keyed({ items: [item()] }, 'j-1'),
      await service.convert(item(), { headers: { 'idempotency-key': 'b-1' } }),
    ]) {
      expect([response.status, (await json(response)).code]).toEqual([409, 'conflict']);
    }
    expect(await jobs()).toHaveLength(2);
  });

  it('of an item finds that job; one that is taken fails that item alone', async () => {
    service = await startTestService();
    const { id: earlier } = await json<JobAnswer>(service.convert(item({ idempotency_key: 'k' })));
    await service.ended(earlier);
    const { id } = await json<BatchAnswer>(
      send({
        items: [
          item({ idempotency_key: 'k' }),
          item({ idempotency_key: 'k', output: { format: 'txt' } }),
          item({ idempotency_key: 'n' }),
          item({ idempotency_key: 'n' }),
        ],
      }),
    );
    const { items } = await completed(id);
    expect(items).toMatchObject([
      { job_id: earlier, state: 'succeeded' },
      { state: 'failed', error_code: 'conflict' },
      { state: 'succeeded' },
      { state: 'succeeded' },
    ]);
    expect(items[2]?.job_id).toBe(items[3]?.job_id);
  });
});

it('outlives the records of its jobs, and goes after its own time', async () => {
  service = await startTestService();
  const { id } = await json<BatchAnswer>(send({ items: [item(), {}] }));
  const before = await completed(id);
  await service.restart({ retention: '1ms' });
  await until(
    () => service.call(`/v1/batches/${id}`),
    ({ status }) => status === 404,
  );
  expect((await service.call(`/v1/jobs/${before.items[0]?.job_id}`)).status).toBe(404);
});
