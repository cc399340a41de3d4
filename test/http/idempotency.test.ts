// Submissions sent again (contract X2), and many at once.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type JobAnswer,
  json,
  OFD_BASE64,
  startTestService,
  submission,
  type TestService,
  until,
} from '../support/service.js';

let service: TestService;

beforeEach(async () => {
  service = await startTestService({ notify_targets: { erp: { url: 'http://127.0.0.1:9/x' } } });
});
afterEach(() => service.close());

type Changes = Parameters<typeof submission>[0];
const body = (changes: Changes = {}): Record<string, unknown> =>
  submission({ ...changes, output: { kind: 'dir', ...changes?.output } });
const send = (changes: Changes = {}, key?: string): Promise<Response> =>
  service.convert(body(changes), key === undefined ? {} : { headers: { 'idempotency-key': key } });
const jobCount = async (): Promise<number> =>
  (await json<{ jobs: readonly JobAnswer[] }>(service.call('/v1/jobs?limit=200'))).jobs.length;

describe('the same key and request', () => {
  it('find the first job, as it is now', async () => {
    const first = await send({}, 'order-4711');
    expect([first.status, first.headers.get('idempotent-replay')]).toEqual([202, null]);
    const { id } = await json<JobAnswer>(first);
    await service.ended(id);
    const again = await send({}, 'order-4711');
    expect([again.status, again.headers.get('idempotent-replay')]).toEqual([202, 'true']);
    expect(await json(again)).toMatchObject({ id, state: 'succeeded', status_url: `/v1/jobs/${id}` });
    expect([await jobCount(), service.converter.tasks.length]).toEqual([1, 1]);
  });

  it('in the body, in the header, in both', async () => {
    const { id } = await json<JobAnswer>(send({ idempotency_key: 'k' }));
    for (const response of [await send({}, 'k'), await send({ idempotency_key: 'k' }, 'k')]) {
      expect(await json(response)).toMatchObject({ id });
    }
  });

  it('survive a restart', async () => {
    const { id } = await json<JobAnswer>(send({}, 'k'));
    await service.restart();
    expect(await json(send({}, 'k'))).toMatchObject({ id });
  });

  it('mean the same however they are written', async () => {
    const { id } = await json<JobAnswer>(send({ output: { format: 'jpeg', options: { dpi: 150 } } }, 'k'));
    const others: Changes[] = [
      { output: { format: ' JPG', kind: ' Dir', dir: '', options: { dpi: 150, pages: null } }, notify: null },
      { input: { kind: 'UPLOAD', url: null }, output: { format: 'jpeg', options: { dpi: 150 } }, high_priority: false },
    ];
    for (const changes of others) expect(await json(send(changes, 'k'))).toMatchObject({ id });
  });

  it.each([
    [undefined, ['*'], [], null],
    [
      ['succeeded', 'failed'],
      ['failed', 'succeeded', 'failed'],
    ],
  ] as const)('mean the same whatever the order and form of a list: %j', async (...lists) => {
    const sent = lists.map((events) => json<JobAnswer>(send({ notify: { target: 'erp', events } }, 'k')));
    expect(new Set((await Promise.all(sent)).map(({ id }) => id)).size).toBe(1);
    expect((await send({ notify: { target: 'erp', events: ['failed'] } }, 'k')).status).toBe(409);
  });

  it('leave no second input behind', async () => {
    const bytes = Buffer.concat([Buffer.from(OFD_BASE64, 'base64'), Buffer.alloc(200_000, 1)]).toString('base64');
    service.converter.hold();
    const inputs = async (): Promise<number> => readdirSync(join(service.folder, 'data', 'inputs')).length;
    for (let i = 0; i < 5; i++) await send({ input: { bytes } }, 'k');
    // An upload may go after its answer.
    await until(inputs, (count) => count === 1);
    service.converter.release();
  });
});

describe('the same key with', () => {
  const others: readonly (readonly [string, Changes])[] = [
    ['other bytes', { input: { bytes: `${OFD_BASE64.slice(0, -4)}AAAA` } }],
    ['another name of the file', { input: { file_name: 'b.ofd' } }],
    ['another format', { output: { format: 'txt' } }],
    ['other pages', { output: { options: { pages: '1' } } }],
    ['another place', { output: { dir: 'x' } }],
    ['a notification', { notify: { target: 'erp' } }],
    ['another priority', { high_priority: true }],
  ];

  it.each(others)('%s is a conflict', async (_what, changes) => {
    const { id } = await json<JobAnswer>(send({}, 'k'));
    const response = await send(changes, 'k');
    expect([response.status, await json(response)]).toEqual([
      409,
      { code: 'conflict', message: expect.stringContaining(id) },
    ]);
    expect(await jobCount()).toBe(1);
  });
});

describe('a key is refused', () => {
  it.each([
    [
      'where header and body differ',
      { idempotency_key: 'a' },
      'b',
      /Idempotency-Key and idempotency_key say different/,
    ],
    ['on a stream', { output: { kind: 'stream' } }, 'k', /nothing is kept of a stream/],
    ['on a stream, in the body', { output: { kind: 'stream' }, idempotency_key: 'k' }, undefined, /stream/],
    ['that is empty', {}, '', /Idempotency-Key is empty/],
    ['of 256 characters', {}, 'k'.repeat(256), /256 characters are too many; at most 255/],
    ['of 256 characters, in the body', { idempotency_key: 'k'.repeat(256) }, undefined, /idempotency_key: 256/],
    ['with a space', {}, 'a b', /character 2 is not allowed/],
    ['in Chinese', { idempotency_key: '订单1' }, undefined, /idempotency_key: character 1 is not allowed/],
  ] as [string, Changes, string | undefined, RegExp][])('%s', async (_what, changes, key, says) => {
    const response = await send(changes, key);
    expect([response.status, await json(response)]).toEqual([
      400,
      { code: 'invalid_request', message: expect.stringMatching(says) },
    ]);
    expect(await jobCount()).toBe(0);
  });

  it('may be of 255 characters, or null', async () => {
    expect((await send({ idempotency_key: null }, '~'.repeat(255))).status).toBe(202);
  });
});

describe('many at once', () => {
  it('with one key are one job', async () => {
    const responses = await Promise.all(Array.from({ length: 60 }, () => send({}, 'k')));
    expect(responses.every(({ status }) => status === 202)).toBe(true);
    const ids = await Promise.all(responses.map(async (response) => (await json<JobAnswer>(response)).id));
    expect(new Set(ids).size).toBe(1);
    expect(responses.filter(({ headers }) => headers.get('idempotent-replay') === null)).toHaveLength(1);
    expect(await jobCount()).toBe(1);
  });

  it('with one key and large inputs too', async () => {
    const bytes = Buffer.concat([Buffer.from(OFD_BASE64, 'base64'), Buffer.alloc(300_000, 1)]).toString('base64');
    const responses = await Promise.all(Array.from({ length: 12 }, () => send({ input: { bytes } }, 'k')));
    const ids = await Promise.all(responses.map(async (response) => (await json<JobAnswer>(response)).id));
    expect(new Set(ids).size).toBe(1);
    expect((await service.ended(ids[0] as string)).state).toBe('succeeded');
  });

  it('1,000 submissions are 1,000 jobs, each done once', async () => {
    const ids = new Set<string>();
    const submit = async (): Promise<void> => {
      const response = await send();
      expect(response.status).toBe(202);
      ids.add((await json<JobAnswer>(response)).id);
    };
    await Promise.all(Array.from({ length: 1000 }, submit));
    expect(ids.size).toBe(1000);
    for (const id of ids) expect((await service.ended(id)).state).toBe('succeeded');
    const { totals } = await json<{ totals: object }>(service.call('/v1/stats'));
    expect(totals).toMatchObject({ conversions: 1000, succeeded: 1000, failed: 0 });
    expect(service.converter.tasks).toHaveLength(1000);
  });
});
