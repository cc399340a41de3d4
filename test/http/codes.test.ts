// Every code of the error table, produced by a request over HTTP, with its status and its shape (contract A2).
import { renameSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { ERROR_CODES, type ErrorCode, ServiceError } from '../../src/errors.js';
import { type JobAnswer, json, startTestService, submission, type TestService, until } from '../support/service.js';

let service: TestService;
afterEach(() => service.close());

const dir = (changes: object = {}): Record<string, unknown> => submission({ output: { kind: 'dir', ...changes } });
const submit = async (changes: object = {}): Promise<string> =>
  (await json<JobAnswer>(service.convert(dir(changes)))).id;
const get = (path: string): Promise<Response> => service.call(path);
const post = (path: string): Promise<Response> => service.call(path, { method: 'POST' });

/** A job that runs, or a stream, and does not end by itself. */
async function running(): Promise<string> {
  service.converter.hold();
  const id = await submit();
  await until(
    () => json<JobAnswer>(get(`/v1/jobs/${id}`)),
    ({ progress }) => progress !== undefined,
  );
  return id;
}

async function stream(failure: unknown): Promise<Response> {
  service.converter.failure = failure as ServiceError;
  return service.convert(submission());
}

const fromUrl = (url: string): Promise<Response> =>
  service.convert({ input: { kind: 'url', url }, output: { format: 'pdf' } });

const OTHER_KEY = 'another-key-with-fewer-rights';

interface Case {
  readonly config?: Record<string, unknown>;
  readonly engine?: 'real';
  readonly produce: () => Promise<Response>;
  /** What the message names. */
  readonly says: RegExp;
  readonly reason?: string;
}

const CASES: Readonly<Partial<Record<ErrorCode, Case>>> = {
  invalid_request: { produce: () => service.convert('{'), says: /character 1/ },
  forbidden: {
    config: { api_keys: { viewer: { key: OTHER_KEY, scopes: ['read'] } } },
    produce: () => fetch(`${service.url}/v1/convert`, { method: 'POST', headers: { 'x-ofd-api-key': OTHER_KEY } }),
    says: /"viewer" .* "convert" .* read/,
  },
  rate_limited: {
    config: { api_keys: { viewer: { key: OTHER_KEY, scopes: ['read'], requests_per_minute: 1 } } },
    produce: async () => {
      const ask = (): Promise<Response> =>
        fetch(`${service.url}/v1/stats`, { headers: { 'x-ofd-api-key': OTHER_KEY } });
      await ask();
      return ask();
    },
    says: /"viewer" .* this minute/,
  },
  unauthorized: { produce: () => fetch(`${service.url}/v1/stats`), says: /Authorization: Bearer KEY/ },
  url_input_disabled: {
    produce: () => service.convert({ input: { kind: 'url', url: 'https://a.example/' }, output: { format: 'pdf' } }),
    says: /allow_input_url_hosts/,
  },
  url_not_allowed: {
    config: { allow_input_url_hosts: ['*.example.com'] },
    produce: () => service.convert({ input: { kind: 'url', url: 'https://a.example/' }, output: { format: 'pdf' } }),
    says: /a\.example is not among allow_input_url_hosts/,
  },
  source_refused: {
    config: { allow_input_url_hosts: ['127.0.0.1'] },
    produce: () => fromUrl(`${service.url}/v1/nothing`),
    says: /the server answers 401/,
    reason: 'internal',
  },
  source_unreachable: {
    config: { allow_input_url_hosts: ['127.0.0.1'] },
    produce: () => fromUrl('http://127.0.0.1:1/a.ofd'),
    says: /127\.0\.0\.1 cannot be read: ECONNREFUSED/,
    reason: 'internal',
  },
  unknown_notify_target: {
    produce: () => service.convert({ ...dir(), notify: { target: 'nobody' } }),
    says: /notify\.target: "nobody"/,
  },
  unknown_remote_target: {
    produce: () => service.convert(submission({ output: { kind: 's3', remote: { target: 'nowhere' } } })),
    says: /output\.remote\.target: "nowhere"/,
  },
  unsupported_conversion: {
    produce: () => service.convert(submission({ output: { format: 'docx' } })),
    says: /docx from ofd/,
    reason: 'unsupported',
  },
  payload_too_large: {
    config: { max_upload_bytes: 1000 },
    produce: () => service.convert(' '.repeat(1001)),
    says: /1000 bytes; max_upload_bytes/,
  },
  not_found: { produce: () => get('/v1/nothing'), says: /GET \/v1\/nothing/ },
  job_not_found: { produce: () => get('/v1/jobs/x'), says: /job "x"/ },
  log_not_found: {
    produce: async () => {
      const id = await submit();
      await service.ended(id);
      return get(`/v1/jobs/${id}/log`);
    },
    says: /no log of run 1/,
  },
  content_not_found: {
    produce: async () => {
      const id = await submit();
      await service.ended(id);
      return get(`/v1/jobs/${id}/content?name=other.pdf`);
    },
    says: /name: "other\.pdf"/,
  },
  batch_not_found: { produce: () => get('/v1/batches/x'), says: /batch "x"/ },
  notification_not_found: { produce: () => post('/v1/notifications/x/redeliver'), says: /notification "x"/ },
  method_not_allowed: { produce: () => post('/v1/stats'), says: /GET, HEAD, not POST/ },
  not_cancellable: { produce: async () => post(`/v1/jobs/${await running()}/cancel`), says: /\?force=true stops it/ },
  not_retryable: { produce: async () => post(`/v1/jobs/${await running()}/retry`), says: /only a failed job/ },
  job_not_finished: { produce: async () => get(`/v1/jobs/${await running()}/content`), says: /is running/ },
  content_not_available: {
    produce: async () => {
      service.converter.failure = new ServiceError('conversion_failed', 'no', { reason: 'corrupt' });
      const id = await submit();
      await service.ended(id);
      return get(`/v1/jobs/${id}/content`);
    },
    says: /is failed/,
  },
  conflict: {
    produce: async () => {
      const send = (format: string): Promise<Response> =>
        service.convert(dir({ format }), { headers: { 'idempotency-key': 'k' } });
      await send('pdf');
      return send('txt');
    },
    says: /idempotency key belongs to job/,
  },
  cancelled: {
    produce: async () => {
      service.converter.hold();
      const pending = service.convert(submission());
      const { jobs } = await until(
        () => json<{ jobs: readonly JobAnswer[] }>(get('/v1/jobs?state=running')),
        (list) => list.jobs.length > 0,
      );
      await post(`/v1/jobs/${jobs[0]?.id}/cancel?force=true`);
      return pending;
    },
    says: /cancelled/,
  },
  conversion_failed: {
    engine: 'real',
    produce: () => service.convert(submission({ input: { bytes: Buffer.from('nonsense').toString('base64') } })),
    says: /\w{3}/,
    reason: 'not_ofd',
  },
  output_too_large: {
    config: { max_stream_bytes: 6 },
    produce: () => stream(undefined),
    says: /too large/,
    reason: 'too_large',
  },
  internal_error: { produce: () => stream(new TypeError('a detail')), says: /log names/, reason: 'internal' },
  engine_crashed: {
    produce: () => stream(new ServiceError('engine_crashed', 'It died', { reason: 'internal' })),
    says: /It died/,
    reason: 'internal',
  },
  checksum_mismatch: {
    produce: () => {
      service.converter.isTampering = true;
      return service.convert(submission());
    },
    says: /output\.pdf changed/,
    reason: 'internal',
  },
  // Of deliveries, which no answer waits for: here as any fault of a run, in jobs as error_code.
  sink_refused: { produce: () => stream(new ServiceError('sink_refused', 'No login')), says: /No/, reason: 'internal' },
  sink_unreachable: {
    produce: () => stream(new ServiceError('sink_unreachable', 'Nobody listens')),
    says: /Nobody/,
    reason: 'internal',
  },
  server_busy: {
    config: { fast_workers: 1 },
    produce: async () => {
      service.converter.hold();
      void service.convert(submission()).catch(() => undefined);
      await until(
        async () => service.converter.tasks.length,
        (count) => count > 0,
      );
      return service.convert(submission());
    },
    says: /1 slots.*"dir"/,
  },
  shutting_down: {
    produce: async () => {
      await running();
      void service.service.shutDown();
      return service.convert(submission());
    },
    says: /shutting down/,
  },
  not_ready: {
    produce: async () => {
      renameSync(service.outputDir, `${service.outputDir}-away`);
      return until(
        () => get('/readyz'),
        ({ status }) => status === 503,
      );
    },
    says: /output_dir/,
  },
  unavailable: {
    produce: async () => {
      service.converter.isDeaf = true;
      return post(`/v1/jobs/${await running()}/cancel?force=true`);
    },
    says: /not stopped within 10 s/,
  },
  insufficient_storage: {
    produce: () => stream(Object.assign(new Error('full'), { code: 'ENOSPC' })),
    says: /temp_dir/,
    reason: 'internal',
  },
  conversion_timeout: {
    config: { job_timeout: '100ms' },
    produce: () => {
      service.converter.hold();
      return service.convert(submission());
    },
    says: /job_timeout/,
    reason: 'timeout',
  },
};

describe('code', () => {
  it.each(Object.entries(CASES) as [ErrorCode, Case][])(
    '%s',
    async (code, { config, engine, produce, says, reason }) => {
      service = await startTestService(config, engine);
      const response = await produce();
      const answer = await json<{ code: string; message: string; reason?: string; reasons?: unknown }>(response);
      expect([answer.code, response.status]).toEqual([code, ERROR_CODES[code].status]);
      expect(answer.message).toMatch(says);
      expect(answer.reason).toBe(reason);
      expect(Object.keys(answer).filter((key) => !['code', 'message', 'reason', 'reasons'].includes(key))).toEqual([]);
      const isLater = (response.status === 503 && code !== 'not_ready') || response.status === 429;
      expect(response.headers.get('retry-after') !== null).toBe(isLater);
    },
  );

  it('every one of them', async () => {
    service = await startTestService();
    expect(Object.keys(CASES).sort()).toEqual(Object.keys(ERROR_CODES).sort());
  });
});
