// GET /v1/jobs/{id} and cancel (contract A7, A9).
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { type JobAnswer, json, startTestService, submission, type TestService, until } from '../support/service.js';

let service: TestService;

beforeEach(async () => {
  service = await startTestService({ fast_workers: 1, max_job_attempts: 2, job_retry_backoff: '1h' });
});
afterEach(() => service.close());

const dir = { kind: 'dir' };
const submit = (changes: Parameters<typeof submission>[0] = {}): Promise<JobAnswer> =>
  json<JobAnswer>(service.convert(submission({ output: dir, ...changes })));
const get = (id: string): Promise<JobAnswer> => json<JobAnswer>(service.call(`/v1/jobs/${id}`));

it('a succeeded job has the fields of the seed and those beyond it', async () => {
  service.converter.warnings = [
    { code: 'font_substituted', message: 'SimSun is missing', page: 1, objectId: '7', characters: '票' },
  ];
  const { id } = await submit();
  await service.ended(id);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const path = `${service.outputDir}/${id.slice(-2)}/${id.slice(0, -2)}`;
  expect(await get(id)).toEqual({
    id,
    state: 'succeeded',
    lane: 'fast',
    from: 'ofd',
    to: 'pdf',
    attempt: 1,
    created_at: time,
    started_at: time,
    finished_at: time,
    from_actual: 'ofd',
    input_bytes: 43,
    output: {
      kind: 'dir',
      path,
      size: 7,
      files: ['output.pdf'],
      products: [
        {
          name: 'output.pdf',
          size: 7,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          location: `${path}/output.pdf`,
          reused: false,
          delivered_at: time,
        },
      ],
    },
    pages: 2,
    warnings: [{ code: 'font_substituted', message: 'SimSun is missing', page: 1, object_id: '7', characters: '票' }],
  });
});

it('queued and running jobs have no output, a running one its progress', async () => {
  service.converter.hold();
  const first = await submit();
  const second = await submit();
  expect(await service.reached(first.id, 'running')).toMatchObject({ attempt: 1 });
  const running = await until(
    () => get(first.id),
    ({ progress }) => progress !== undefined,
  );
  expect(running.progress).toEqual({ done: 1, total: 2, unit: 'page' });
  const queued = await get(second.id);
  expect(queued).toMatchObject({ state: 'queued', attempt: 0, input_bytes: 43 });
  for (const job of [running, queued]) {
    expect(
      Object.keys(job).filter((key) =>
        ['output', 'error', 'warnings', 'finished_at', 'bytes', 'request'].includes(key),
      ),
    ).toEqual([]);
  }
});

it('a failed job has error, code and reason, and no output', async () => {
  service.converter.failure = new ServiceError('conversion_failed', 'The package is cut', { reason: 'corrupt' });
  const { id } = await submit();
  const job = await service.ended(id);
  expect(job).toMatchObject({
    state: 'failed',
    error: 'The package is cut',
    error_code: 'conversion_failed',
    reason: 'corrupt',
  });
  expect(job.output).toBeUndefined();
});

it('a job that waits for its retry says so, and can be cancelled', async () => {
  service.converter.failure = new ServiceError('engine_crashed', 'The engine crashed', { reason: 'internal' });
  const { id } = await submit();
  const waiting = await until(
    () => get(id) as Promise<JobAnswer & { waiting?: object }>,
    (job) => job.waiting !== undefined,
  );
  expect(waiting).toMatchObject({
    state: 'queued',
    attempt: 1,
    waiting: { reason: 'retry', since: expect.any(String), next_attempt_at: expect.any(String) },
  });
  const response = await service.call(`/v1/jobs/${id}/cancel`, { method: 'POST' });
  expect([response.status, (await json<JobAnswer>(response)).state]).toEqual([200, 'cancelled']);
});

it('only a queued job can be cancelled, and only once', async () => {
  service.converter.hold();
  const first = await submit();
  const second = await submit();
  await service.reached(first.id, 'running');
  const cancel = (id: string): Promise<Response> => service.call(`/v1/jobs/${id}/cancel`, { method: 'POST' });
  expect((await cancel(second.id)).status).toBe(200);
  for (const [id, state] of [
    [first.id, 'running'],
    [second.id, 'cancelled'],
  ] as const) {
    const response = await cancel(id);
    expect(response.status).toBe(409);
    expect(await json(response)).toEqual({ code: 'not_cancellable', message: expect.stringContaining(state) });
  }
  service.converter.release();
  expect((await service.ended(first.id)).state).toBe('succeeded');
  expect(service.converter.tasks).toHaveLength(1);
});

it('an input larger than 64 KiB comes through whole', async () => {
  const { id } = await submit({
    input: {
      bytes: Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), Buffer.alloc(3_000_000, 7)]).toString('base64'),
    },
  });
  expect(await service.ended(id)).toMatchObject({ state: 'succeeded', input_bytes: 3_000_004 });
});

it('jobs survive a restart', async () => {
  const { id } = await submit();
  await service.ended(id);
  const before = await get(id);
  await service.restart();
  expect(await get(id)).toEqual(before);
});

it('what shutdown interrupts runs again after a restart', async () => {
  service.converter.hold();
  const { id } = await submit();
  await service.reached(id, 'running');
  await service.restart();
  expect(await service.ended(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
});
