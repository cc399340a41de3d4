// Synchronous conversions (contract A4): headers, slots, disconnect, limits, errors, the job's record.
import { readdirSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import {
  type JobAnswer,
  json,
  KEY,
  startTestService,
  submission,
  type TestService,
  until,
  workspacesIn,
} from '../support/service.js';

let service: TestService;

beforeEach(async () => {
  service = await startTestService({ fast_workers: 4 });
});
afterEach(() => service.close());

const jobOf = (response: Response): Promise<JobAnswer> =>
  json<JobAnswer>(service.call(`/v1/jobs/${response.headers.get('x-ofd-job-id')}`));

it('answers with the bytes and tells what they are', async () => {
  const response = await service.convert(submission({ output: { file_name: '发票 "1" 号' } }));
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('product');
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/pdf',
    'content-length': '7',
    'content-disposition': `attachment; filename="__ _1_ _.pdf"; filename*=UTF-8''%E5%8F%91%E7%A5%A8%20%221%22%20%E5%8F%B7.pdf`,
    'x-ofd-job-id': expect.stringMatching(/^[0-9a-z]{12}$/),
    'x-ofd-took-ms': expect.stringMatching(/^\d+$/),
    'x-ofd-warnings': '0',
  });
  expect(response.headers.get('server')).toBeNull();
  expect(await jobOf(response)).toMatchObject({
    state: 'succeeded',
    from_actual: 'ofd',
    output: { kind: 'stream', size: 7, files: ['发票 "1" 号.pdf'] },
  });
});

it('tells how many warnings its job has', async () => {
  service.converter.warnings = [
    { code: 'font_substituted', message: 'SimSun is missing', page: 1 },
    { code: 'glyph_missing', message: 'No face draws U+20BB7', page: 2 },
  ];
  const response = await service.convert(submission());
  expect(response.headers.get('x-ofd-warnings')).toBe('2');
  expect(await jobOf(response)).toMatchObject({ warnings: service.converter.warnings });
});

it('leaves nothing in temp_dir and output_dir', async () => {
  await (await service.convert(submission())).arrayBuffer();
  const leftovers = await until(
    async () => workspacesIn(service.tempDir),
    (names) => names.length === 0,
  );
  expect(leftovers).toEqual([]);
  expect(readdirSync(service.outputDir)).toEqual([]);
});

it('text formats carry their charset', async () => {
  const response = await service.convert(submission({ output: { format: 'txt' } }));
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
});

describe('slots', () => {
  it('are as many as fast_workers: of 50 at once, 46 are turned away at once', async () => {
    service.converter.hold();
    const started = Date.now();
    const all = Array.from({ length: 50 }, () => service.convert(submission()));
    const refused: Response[] = [];
    for (const pending of all) void pending.then((response) => response.status === 503 && refused.push(response));
    await until(
      async () => refused.length,
      (count) => count === 46,
    );
    expect(Date.now() - started).toBeLessThan(5000);
    service.converter.release();
    const responses = await Promise.all(all);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await json(refused[0] as Response)).toMatchObject({ code: 'server_busy' });
    expect(service.converter.tasks).toHaveLength(4);
  });

  it('are apart from the asynchronous workers', async () => {
    service.converter.hold();
    const jobs = await Promise.all(
      Array.from({ length: 6 }, () => json<JobAnswer>(service.convert(submission({ output: { kind: 'dir' } })))),
    );
    await until(
      async () => service.converter.tasks.length,
      (count) => count === 4,
    );
    const stream = service.convert(submission());
    await until(
      async () => service.converter.tasks.length,
      (count) => count === 5,
    );
    service.converter.release();
    expect((await stream).status).toBe(200);
    for (const { id } of jobs) expect((await service.ended(id)).state).toBe('succeeded');
  });

  it('are free again after a failure', async () => {
    service.converter.failure = new ServiceError('conversion_failed', 'It is cut', { reason: 'corrupt' });
    for (let i = 0; i < 6; i++) expect((await service.convert(submission())).status).toBe(422);
  });
});

/** Sends a request and gives the means to break the connection. */
function sendAndHold(body: unknown): { destroy(): void } {
  const outgoing = request(`${service.url}/v1/convert`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
  });
  outgoing.on('error', () => undefined);
  outgoing.end(JSON.stringify(body));
  return outgoing;
}

it('a client that goes away cancels its conversion: the job ends cancelled, not failed', async () => {
  service.converter.hold();
  const outgoing = sendAndHold(submission());
  await until(
    async () => service.converter.tasks.length,
    (count) => count === 1,
  );
  const id = /([0-9a-z]{12})-1/.exec(service.converter.tasks[0]?.outputDirectory ?? '')?.[1] as string;
  expect((await json<JobAnswer>(service.call(`/v1/jobs/${id}`))).state).toBe('running');
  const left = Date.now();
  outgoing.destroy();
  expect((await service.reached(id, 'cancelled')).error).toMatch(/client/);
  expect(Date.now() - left).toBeLessThan(2000);
  const stats = await json<{ totals: { conversions: number; failed: number } }>(service.call('/v1/stats'));
  expect(stats.totals).toMatchObject({ conversions: 0, failed: 0 });
});

it('stops the engine itself within two seconds, and leaves nothing of it', async () => {
  await service.close();
  service = await startTestService({}, 'real');
  const line = textXml('电子发票 0123456789', 'ID="3" Boundary="10 10 100 10" Font="1" Size="4"');
  const fonts = '<ofd:Fonts><ofd:Font ID="1" FontName="SimSun"/></ofd:Fonts>';
  const document = buildOfd({ publicRes: fonts, pages: Array.from({ length: 400 }, () => line.repeat(800)) });
  const outgoing = sendAndHold(submission({ input: { bytes: Buffer.from(document).toString('base64') } }));
  const { jobs } = await until(
    () => json<{ jobs: readonly JobAnswer[] }>(service.call('/v1/jobs?state=running')),
    (list) => list.jobs[0]?.progress !== undefined,
  );
  const { id } = jobs[0] as JobAnswer;
  const left = Date.now();
  outgoing.destroy();
  const job = await json<JobAnswer>(service.call(`/v1/jobs/${id}?wait=10s`));
  expect(Date.now() - left).toBeLessThan(2000);
  expect(job).toMatchObject({ state: 'cancelled', from_actual: 'ofd' });
  expect(await (await service.call('/metrics')).text()).toContain('ofd_streams_active{lane="fast"} 0');
  await until(
    async () => workspacesIn(service.tempDir).length,
    (count) => count === 0,
  );
});

it('a conversion error is answered with code and reason, and the job says the same', async () => {
  service.converter.failure = new ServiceError('conversion_failed', 'a.ofd is no OFD package', { reason: 'not_ofd' });
  const response = await service.convert(submission());
  expect(response.status).toBe(422);
  expect(await json(response)).toEqual({
    code: 'conversion_failed',
    message: 'a.ofd is no OFD package',
    reason: 'not_ofd',
  });
  expect(await jobOf(response)).toMatchObject({
    state: 'failed',
    error: 'a.ofd is no OFD package',
    error_code: 'conversion_failed',
    reason: 'not_ofd',
  });
});

it('an error that nobody foresaw is a 500 without its text, and the service lives on', async () => {
  service.converter.failure = new TypeError('secret detail') as unknown as ServiceError;
  const response = await service.convert(submission());
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('secret detail');
  service.converter.failure = undefined;
  expect((await service.convert(submission())).status).toBe(200);
});

it('a product over max_stream_bytes is refused', async () => {
  await service.close();
  service = await startTestService({ max_stream_bytes: 6 });
  const response = await service.convert(submission());
  expect(response.status).toBe(422);
  expect(await json(response)).toMatchObject({ code: 'output_too_large' });
});

it('job_timeout holds for streams', async () => {
  await service.close();
  service = await startTestService({ job_timeout: '100ms' });
  service.converter.hold();
  const response = await service.convert(submission());
  expect(response.status).toBe(504);
  expect(await json(response)).toMatchObject({ code: 'conversion_timeout', reason: 'timeout' });
  expect(await jobOf(response)).toMatchObject({ state: 'failed', error_code: 'conversion_timeout' });
});

it('its job cannot be cancelled by name, and has no content to fetch', async () => {
  service.converter.hold();
  const pending = service.convert(submission());
  await until(
    async () => service.converter.tasks.length,
    (count) => count === 1,
  );
  const id = /([0-9a-z]{12})-1/.exec(service.converter.tasks[0]?.outputDirectory ?? '')?.[1] as string;
  const cancel = await service.call(`/v1/jobs/${id}/cancel`, { method: 'POST' });
  expect([cancel.status, (await json(cancel)).code]).toEqual([409, 'not_cancellable']);
  service.converter.release();
  await (await pending).arrayBuffer();
  const content = await service.call(`/v1/jobs/${id}/content`);
  expect([content.status, await json(content)]).toEqual([
    409,
    { code: 'content_not_available', message: expect.stringMatching(/"dir"/) },
  ]);
});

it('shutdown lets it finish within shutdown_grace and refuses new ones', async () => {
  service.converter.hold();
  const pending = service.convert(submission());
  await until(
    async () => service.converter.tasks.length,
    (count) => count === 1,
  );
  const ended = service.service.shutDown();
  const refused = await service.convert(submission());
  expect([refused.status, (await json(refused)).code]).toEqual([503, 'shutting_down']);
  const ready = await fetch(`${service.url}/readyz`);
  expect([ready.status, (await json(ready)).code]).toEqual([503, 'shutting_down']);
  service.converter.release();
  expect([(await pending).status, await (await pending).text()]).toEqual([200, 'product']);
  await ended;
});

it('shutdown stops what takes longer than shutdown_grace, and tells its client', async () => {
  service.converter.hold();
  const pending = service.convert(submission());
  await until(
    async () => service.converter.tasks.length,
    (count) => count === 1,
  );
  await service.service.shutDown();
  const response = await pending;
  expect([response.status, (await json(response)).code]).toEqual([503, 'shutting_down']);
});

it('shutdown refuses a request whose body comes to its end only then', async () => {
  service.converter.hold();
  const running = service.convert(submission());
  await until(
    async () => service.converter.tasks.length,
    (count) => count === 1,
  );
  const body = JSON.stringify(submission());
  const late = request(`${service.url}/v1/convert`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-length': body.length },
  });
  const answer = new Promise<number | undefined>((resolve, reject) => {
    late.once('response', ({ statusCode }) => resolve(statusCode)).once('error', reject);
  });
  late.write(body.slice(0, 20));
  // Its head is there before the end begins.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const ended = service.service.shutDown();
  late.end(body.slice(20));
  expect(await answer).toBe(503);
  expect(service.converter.tasks).toHaveLength(1);
  service.converter.release();
  expect((await running).status).toBe(200);
  await ended;
});

it('shutdown lets a slow client have all of its product within shutdown_grace', async () => {
  await service.restart({ shutdown_grace: '20s' });
  service.converter.content = 'x'.repeat(30_000_000);
  const sent = request(`${service.url}/v1/convert`, { method: 'POST', headers: { authorization: `Bearer ${KEY}` } });
  sent.end(JSON.stringify(submission()));
  const response = await new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
  const ended = service.service.shutDown();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  let sizeBytes = 0;
  for await (const piece of response) sizeBytes += (piece as Buffer).length;
  expect(sizeBytes).toBe(30_000_000);
  const receivedMs = performance.now();
  await ended;
  // The client keeps its connection for five seconds, and nobody waits for that.
  expect(performance.now() - receivedMs).toBeLessThan(3000);
});
