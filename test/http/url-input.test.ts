// input.kind "url" over HTTP: admission at submission, the download as part of the job, the format by name and content.
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JobAnswer, json, OFD_BASE64, startTestService, type TestService, until } from '../support/service.js';

const OFD = Buffer.from(OFD_BASE64, 'base64');

let service: TestService;
let server: Server;
let origin: string;
let hits: string[];
let answer: RequestListener;

beforeEach(async () => {
  hits = [];
  answer = (_request, response) => response.end(OFD);
  server = createServer((request, response) => {
    hits.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  service = await startTestService({ allow_input_url_hosts: ['127.0.0.1', 'files.example.com'], url_timeout: '2s' });
});
afterEach(async () => {
  await service.close();
  server.closeAllConnections();
  server.close();
});

const body = (url: string, changes: { input?: object; output?: object } = {}): object => ({
  input: { kind: 'url', url, ...changes.input },
  output: { kind: 'dir', format: 'pdf', ...changes.output },
});

async function ended(url: string, changes: { input?: object; output?: object } = {}): Promise<JobAnswer> {
  const response = await service.convert(body(url, changes));
  expect(response.status).toBe(202);
  return service.ended((await json<JobAnswer>(response)).id);
}

async function refusal(request: object): Promise<readonly [number, string, string]> {
  const response = await service.convert(request);
  const { code, message } = await json<{ code: string; message: string }>(response);
  return [response.status, code, message];
}

describe('a document from a URL', () => {
  it('is downloaded by its job, in the heavy lane', async () => {
    const accepted = await json<JobAnswer>(service.convert(body(`${origin}/a/b.ofd?c=%20d`)));
    expect(accepted).toMatchObject({ lane: 'heavy', state: 'queued', to: 'pdf' });
    const job = await service.ended(accepted.id);
    expect(job).toMatchObject({ state: 'succeeded', from: 'ofd', from_actual: 'ofd', input_bytes: OFD.length });
    expect(hits).toEqual(['/a/b.ofd?c=%20d']);
    expect(service.converter.tasks[0]?.inputPath).toMatch(/\/input\.ofd$/);
    expect(JSON.stringify(job)).not.toContain(origin);
  });

  it('is streamed', async () => {
    const response = await service.convert(body(`${origin}/a.ofd`, { output: { kind: 'stream' } }));
    expect([response.status, await response.text()]).toEqual([200, 'product']);
    const job = await json<JobAnswer>(service.call(`/v1/jobs/${response.headers.get('x-ofd-job-id')}`));
    expect(job).toMatchObject({ lane: 'heavy', state: 'succeeded', input_bytes: OFD.length });
  });

  it.each([
    ['the content', '/download', {}, OFD, undefined, 'ofd'],
    ['the path', '/a.html', {}, Buffer.from('<p>words'), undefined, 'html'],
    ['the path, decoded', '/%E5%8F%91.md?x=.ofd', {}, Buffer.from('# words'), undefined, 'md'],
    ['the name', '/download?id=7', { 'content-disposition': 'attachment; filename="a.md"' }, '# x', undefined, 'md'],
    ['the type', '/page', { 'content-type': 'text/html; charset=gb2312' }, '<p>words', undefined, 'html'],
    ['the client', '/page', { 'content-type': 'text/html' }, '# words', 'md', 'md'],
    ['the content before the name', '/a.html', {}, OFD, undefined, 'ofd'],
  ])('has the format that %s tells', async (_what, path, headers, bytes, format, wanted) => {
    answer = (_request, response) => response.writeHead(200, headers as Record<string, string>).end(bytes);
    const job = await ended(`${origin}${path}`, { input: { format } });
    expect(job.state).toBe('succeeded');
    expect(service.converter.tasks[0]).toMatchObject({ from: wanted });
  });

  it.each([
    ['that is another one than was said', { format: 'pdf' }, OFD, 'contradicts the content, which is OFD'],
    ['that nothing tells', {}, Buffer.from('words'), 'the content does not tell the format'],
  ])('fails with a format %s', async (_what, input, bytes, message) => {
    answer = (_request, response) => response.setHeader('content-type', 'text/plain').end(bytes);
    const job = await ended(`${origin}/download`, { input });
    expect(job).toMatchObject({ state: 'failed', error_code: 'invalid_request', input_bytes: bytes.length });
    expect(job.error).toContain(message);
  });

  it('fails with an option that its format has no use for', async () => {
    const job = await ended(`${origin}/download`, { output: { options: { paper: 'A4' } } });
    expect(job).toMatchObject({ state: 'failed', error_code: 'invalid_request' });
    expect(job.error).toContain('output.options.paper is of no use for ofd');
  });

  it('fails where it cannot be had: no bytes were read', async () => {
    answer = (_request, response) => response.writeHead(404).end();
    const job = await ended(`${origin}/a.ofd`);
    expect(job).toMatchObject({ state: 'failed', error_code: 'source_refused', reason: 'internal', input_bytes: 0 });
  });

  it('fails where it takes too long, as a timeout', async () => {
    answer = () => undefined;
    const job = await ended(`${origin}/a.ofd`);
    expect(job).toMatchObject({ state: 'failed', error_code: 'conversion_timeout', reason: 'timeout' });
  });

  it('is left alone when its stream is no longer wanted', async () => {
    let isClosed = false;
    answer = (_request, response) => {
      response.write('x');
      response.on('close', () => {
        isClosed = true;
      });
    };
    const client = new AbortController();
    const pending = service.convert(body(`${origin}/a.ofd`, { output: { kind: 'stream' } }), { signal: client.signal });
    await until(
      async () => hits.length,
      (count) => count === 1,
    );
    client.abort();
    await expect(pending).rejects.toThrow();
    await until(
      async () => isClosed,
      (closed) => closed,
    );
    const { jobs } = await until(
      () => json<{ jobs: readonly JobAnswer[] }>(service.call('/v1/jobs')),
      (list) => list.jobs[0]?.state === 'cancelled',
    );
    expect(jobs.length).toBe(1);
  });

  it('is tried again where another attempt may pass', async () => {
    await service.restart({ max_job_attempts: 2, job_retry_backoff: '10ms' });
    answer = (_request, response) => (hits.length === 1 ? response.writeHead(503).end() : response.end(OFD));
    expect(await ended(`${origin}/a.ofd`)).toMatchObject({ state: 'succeeded', attempt: 2 });
  });

  it('is the same submission by its address', async () => {
    const send = (path: string): Promise<Response> =>
      service.convert(body(`${origin}${path}`), { headers: { 'idempotency-key': 'k' } });
    const first = await json<JobAnswer>(send('/a.ofd'));
    const again = await send('/a.ofd');
    expect(again.headers.get('idempotent-replay')).toBe('true');
    expect((await json<JobAnswer>(again)).id).toBe(first.id);
    expect((await send('/b.ofd')).status).toBe(409);
  });

  it('is an item of a batch', async () => {
    const response = await service.call('/v1/batches', {
      method: 'POST',
      body: JSON.stringify({ items: [body(`${origin}/a.ofd`), body('http://10.0.0.1/a.ofd')] }),
    });
    expect(response.status).toBe(202);
    const { id } = await json<{ id: string }>(response);
    const batch = await until(
      () => json<{ state: string; items: { state: string; error_code?: string }[] }>(service.call(`/v1/batches/${id}`)),
      ({ state }) => state === 'completed',
    );
    expect(batch.items).toMatchObject([{ state: 'succeeded' }, { error_code: 'url_not_allowed' }]);
  });

  it('leaves nothing behind', async () => {
    await ended(`${origin}/a.ofd`);
    answer = (_request, response) => response.writeHead(404).end();
    await ended(`${origin}/a.ofd`);
    const log = readFileSync(`${service.folder}/log/ofd-server.log`, 'utf8');
    expect(log).not.toContain(origin);
  });
});

describe('an address is refused at submission', () => {
  it.each([
    ['http://10.0.0.1/a.ofd', 403, 'url_not_allowed', 'the address 10.0.0.1'],
    ['http://2130706434/a.ofd', 403, 'url_not_allowed', 'the address 127.0.0.2'],
    ['http://[::ffff:127.0.0.1]/', 403, 'url_not_allowed', 'the address ::ffff:7f00:1'],
    ['https://example.com/a.ofd', 403, 'url_not_allowed', 'the host example.com'],
    ['http://user@127.0.0.1/', 400, 'invalid_request', 'user name'],
    ['ftp://127.0.0.1/', 400, 'invalid_request', 'http or https'],
  ])('%s', async (url, status, code, text) => {
    const [foundStatus, foundCode, message] = await refusal(body(url));
    expect([foundStatus, foundCode]).toEqual([status, code]);
    expect(message).toContain(`input.url: `);
    expect(message).toContain(text);
  });

  it('with a format that nothing is made of, or an option that the format has no use for', async () => {
    expect(await refusal(body(`${origin}/a`, { input: { format: 'docy' } }))).toEqual([
      400,
      'invalid_request',
      expect.stringContaining('"docy" is no format'),
    ]);
    expect(await refusal(body(`${origin}/a`, { input: { format: 'ofd' }, output: { format: 'docx' } }))).toEqual([
      400,
      'unsupported_conversion',
      expect.stringContaining('docx from ofd'),
    ]);
    const [, , message] = await refusal(
      body(`${origin}/a`, { input: { format: 'ofd' }, output: { options: { landscape: true } } }),
    );
    expect(message).toContain('output.options.landscape is of no use for ofd');
    expect(hits).toEqual([]);
  });

  it('with fields of an upload', async () => {
    for (const input of [{ bytes: OFD_BASE64 }, { file_name: 'a.ofd' }]) {
      const [status, , message] = await refusal(body(`${origin}/a`, { input }));
      expect(status).toBe(400);
      expect(message).toMatch(/input\.(?:bytes|file_name) belongs to input\.kind "upload"/);
    }
  });

  it('where URL input is off', async () => {
    await service.restart({ allow_input_url_hosts: [] });
    expect(await refusal(body(`${origin}/a`))).toEqual([
      403,
      'url_input_disabled',
      expect.stringContaining('allow_input_url_hosts is not configured'),
    ]);
  });
});
