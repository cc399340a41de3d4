// Keys, shapes, methods, limits and broken requests (contract A1, A2) over real HTTP.

import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer } from '../../src/http/server.js';
import type { HttpServices } from '../../src/http/services.js';
import { RunMetrics } from '../../src/metrics/run-metrics.js';
import { json, KEY, startTestService, submission, type TestService, until } from '../support/service.js';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ max_upload_bytes: 200_000 });
});
afterAll(() => service.close());

interface ErrorAnswer {
  readonly code: string;
  readonly message: string;
}

describe('the key', () => {
  const status = async (headers: Record<string, string>, path = '/v1/stats'): Promise<number> =>
    (await fetch(service.url + path, { headers })).status;

  it.each([
    ['Bearer', { authorization: `Bearer ${KEY}` }, 200],
    ['bearer in small letters', { authorization: `bearer ${KEY}` }, 200],
    ['its own header', { 'x-ofd-api-key': KEY }, 200],
    ['a wrong Bearer beside a right header', { authorization: 'Bearer no', 'x-ofd-api-key': KEY }, 200],
    ['nothing', {}, 401],
    ['a wrong key', { authorization: 'Bearer wrong' }, 401],
    ['a key that is longer', { 'x-ofd-api-key': `${KEY}x` }, 401],
    ['a key that is shorter', { 'x-ofd-api-key': KEY.slice(1) }, 401],
    ['an empty Bearer', { authorization: 'Bearer ' }, 401],
    ['Basic', { authorization: `Basic ${KEY}` }, 401],
  ] as [string, Record<string, string>, number][])('as %s', async (_what, headers, wanted) => {
    expect(await status(headers)).toBe(wanted);
  });

  it.each([
    '/v1/stats',
    '/metrics',
    '/v1/jobs/x',
    '/v1/jobs/x/content',
    '/v1/convert',
    '/v1/nothing',
    '/%76%31/stats',
    '/v1',
    '/v1/jobs/%zz',
    `/v1/jobs/${'x'.repeat(3000)}`,
  ])('is needed for %s', async (path) => {
    const response = await fetch(service.url + path);
    expect(response.status).toBe(401);
    expect(await json(response)).toEqual({ code: 'unauthorized', message: expect.stringMatching(/X-OFD-Api-Key/) });
  });

  it.each(['/healthz', '/readyz'])('is not needed for %s', async (path) => expect(await status({}, path)).toBe(200));

  it('is checked before the body is read', async () => {
    const answer = await raw(`POST /v1/convert HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n{`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });
});

/** Sends bytes as they are and gives what comes back until the other side has been silent for a moment. */
function raw(text: string): Promise<string> {
  const { socket, answer } = rawSocket();
  socket.write(text);
  return answer;
}

function rawSocket(): { socket: Socket; answer: Promise<string> } {
  const socket = connect(service.service.port, '127.0.0.1');
  const answer = new Promise<string>((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.setTimeout(1500, () => socket.destroy());
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
  return { socket, answer };
}

describe('one shape', () => {
  it.each([
    ['GET', '/', 404, 'not_found'],
    ['GET', '/v1/nothing', 404, 'not_found'],
    ['GET', '/v1/jobs/', 404, 'job_not_found'],
    ['GET', '/v1/jobs/nope', 404, 'job_not_found'],
    ['GET', `/v1/jobs/${'x'.repeat(9000)}`, 404, 'job_not_found'],
    ['GET', `/v1/${'x'.repeat(9000)}`, 404, 'not_found'],
    ['GET', '/v1/jobs/nope/content', 404, 'job_not_found'],
    ['POST', '/v1/jobs/nope/cancel', 404, 'job_not_found'],
    ['GET', '/v1/jobs/nope?wait=30s', 404, 'job_not_found'],
    ['GET', '/v1/jobs/nope/events', 404, 'job_not_found'],
    ['POST', '/v1/jobs/nope/cancel?force=true', 404, 'job_not_found'],
    ['POST', '/v1/jobs/nope/retry', 404, 'job_not_found'],
    ['GET', '/v1/jobs/nope?wait=30', 400, 'invalid_request'],
    ['GET', '/v1/jobs/nope?after=1', 400, 'invalid_request'],
    ['POST', '/v1/jobs/nope/cancel?force=yes', 400, 'invalid_request'],
    ['POST', '/v1/jobs/nope/retry?force=true', 400, 'invalid_request'],
    ['GET', '/healthz?x=1', 400, 'invalid_request'],
    ['GET', '/readyz?x=1', 400, 'invalid_request'],
    ['GET', '/metrics?x=1', 400, 'invalid_request'],
    ['GET', '/openapi.json?x=1', 400, 'invalid_request'],
    ['GET', '/v1/%', 400, 'invalid_request'],
  ])('%s %s: %i %s', async (method, path, status, code) => {
    const response = await service.call(path, { method });
    const answer = await json<ErrorAnswer>(response);
    expect([response.status, answer.code]).toEqual([status, code]);
    expect(Object.keys(answer)).toEqual(['code', 'message']);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('server')).toBeNull();
  });

  it.each([
    ['GET', '/v1/convert', 'POST'],
    ['DELETE', '/v1/jobs/x', 'GET, HEAD'],
    ['POST', '/v1/jobs/x/content', 'GET, HEAD'],
    ['GET', '/v1/jobs/x/cancel', 'POST'],
    ['PUT', '/v1/stats', 'GET, HEAD'],
    ['PATCH', '/metrics', 'GET, HEAD'],
    ['OPTIONS', '/v1/convert', 'POST'],
    ['PROPFIND', '/v1/stats', 'GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
  ])('%s %s: 405, Allow: %s', async (method, path, allow) => {
    const response = await service.call(path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    if (method !== 'HEAD') expect((await json<ErrorAnswer>(response)).code).toBe('method_not_allowed');
  });

  it.each([
    ['what is not even HTTP', 'nonsense\r\n\r\n', /no valid HTTP/],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01', /no valid HTTP/],
    ['no Host', `GET /v1/stats HTTP/1.1\r\nX-OFD-Api-Key: ${KEY}\r\n\r\n`, /Host/],
    [
      'an unknown expectation',
      'GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: gold\r\n\r\n',
      /Expect: gold.*100-continue/,
    ],
    ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', /no proxy/],
    ['long headers', `GET /healthz HTTP/1.1\r\nHost: a\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`, /longer than 16 KiB/],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', /no valid HTTP/],
  ])('for %s', async (_what, request, message) => {
    const answer = await raw(request);
    const body = /\r\n\r\n(?:[0-9a-f]+\r\n)?(\{.*\})/s.exec(answer)?.[1] ?? answer;
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(body)).toEqual({ code: 'invalid_request', message: expect.stringMatching(message) });
    expect(body.length).toBeLessThan(1200);
  });

  it.each([
    ['/v1/nothing', 404, 'not_found'],
    ['/v1/stats', 405, 'method_not_allowed'],
    ['/v1/jobs/nope/cancel', 413, 'payload_too_large'],
  ])('with a large body to %s: %i %s', async (path, status, code) => {
    const response = await service.call(path, { method: 'POST', body: Buffer.alloc(3_000_000) });
    expect([response.status, (await json<ErrorAnswer>(response)).code]).toEqual([status, code]);
  });

  it('HTTP/1.0 needs no Host', async () => {
    expect(await raw('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("a message holds a client's text cut, however long that is", async () => {
    const long = 'x'.repeat(8000);
    for (const [changes, end] of [
      [{ output: { format: long } }, /is no format; there are pdf/],
      [{ output: { kind: long } }, /is no kind of output/],
      [{ notify: { target: long } }, /notify_targets of the service$/],
    ] as const) {
      const { message } = await json<ErrorAnswer>(service.convert(submission(changes)));
      expect(message.length).toBeLessThan(1100);
      expect(message).toMatch(end);
    }
  });
});

describe('a body', () => {
  const post = async (body: string | Uint8Array): Promise<[number, ErrorAnswer]> => {
    const response = await service.convert(body);
    return [response.status, await json<ErrorAnswer>(response)];
  };
  const long = 'A'.repeat(80_000);

  const options = (given: object): string => JSON.stringify({ input: {}, output: { options: given } });

  it.each([
    ['an empty one', '', /empty/],
    ['a missing comma', '{"input": {} "output": {}}', /character 13: a comma or } was expected/],
    ['a cut one', '{"input": {"kind": "upl', /character 19.*no end|character 23.*closing quotation mark/],
    ['one quotation mark too few', `{"input": {"bytes": "${long}`, /starts at character 20 has no end/],
    ['a fault behind a long text', `{"input": {"bytes": "${long}"} x}`, /character 80024: a comma or } was expected/],
    ['something behind it', '{} {}', /character 3: the end of the text/],
    ['a single quotation mark', "{'input': 1}", /character 1: a name in double quotation marks/],
    ['GBK text', Buffer.from([0x7b, 0x22, 0xb7, 0xa2, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
    ['a long text elsewhere', `{"input": {"url": "${long}"}, "output": {}}`, /outside of input\.bytes/],
    ['a deep one', '['.repeat(60_000), /expected/],
    [
      'a deep one that is whole',
      '['.repeat(60_000) + ']'.repeat(60_000),
      /the body: this value is not allowed; write an object/,
    ],
    [
      'a deep one inside',
      `{"output": {}, "input": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
      /input: this value is not allowed; write an object/,
    ],
    [
      'a field of a length beyond that',
      `{"${'y'.repeat(150_000)}": 1, "input": {}, "output": {}}`,
      /^y{40}…: unknown field/,
    ],
    ['a list', '[1]', /the body: \[1\] is not allowed; write an object/],
    [
      'a field in the wrong place',
      '{"input": {}, "format": "pdf"}',
      /format: .*; write output\.format; and output is req/,
    ],
    [
      'a short name',
      '{"input": {}, "to": "pdf"}',
      /to: unknown field in the body; write output\.format; and output is/,
    ],
    ['a file as a field', '{"output": {}, "file": "x"}', /file: .*; write input\.bytes; and input is required/],
    [
      'an option in the wrong place',
      '{"input": {}, "output": {"dpi": 9}}',
      /output\.dpi: .*; write output\.options\.dpi/,
    ],
    ['a stray field', '{"input": {}, "x": 1}', /x: unknown field.* input, output, .*; and output is required/],
    ['a document', Buffer.from('PK\x03\x04\x00\xff'), /looks like a file \(PK…\).*\?to=FORMAT.*part "file".*base64/],
    ['a large document', Buffer.from('PK\x03\x04"\xff"'.repeat(10_000), 'latin1'), /looks like a file/],
    ['a PDF', '%PDF-1.7', /looks like a file \(%P…\)/],
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]), /looks like a file, for it is not valid UTF-8/],
    ['a urlencoded form', 'to=pdf&file=x', /looks like a urlencoded form.*multipart\/form-data.*\?to=FORMAT/],
    [
      'a dpi of letters',
      options({ dpi: 'abc' }),
      /^output\.options\.dpi: "abc" is not .* whole number from 36 to 600$/,
    ],
    [
      'a fraction of a dpi',
      options({ dpi: 96.5 }),
      /^output\.options\.dpi: 96\.5 is not .* whole number from 36 to 600$/,
    ],
    [
      'pages beyond numbers',
      options({ pages: 1 }).replace('1}', '1e400}'),
      /pages: Infinity is not allowed; write pages such/,
    ],
    [
      'a flag that is a text',
      '{"input":{},"output":{},"high_priority":"yes"}',
      /high_priority: "yes" .* true or false/,
    ],
    ['a field of any length', `{"${'x'.repeat(50_000)}": 1, "input": {}, "output": {}}`, /x…: unknown field/],
  ] as [string, string | Uint8Array, RegExp][])('is refused with its place: %s', async (_what, body, says) => {
    const [status, { code, message }] = await post(body);
    expect([status, code]).toEqual([400, 'invalid_request']);
    expect(message).toMatch(says);
    expect(message.length).toBeLessThan(300);
  });

  it('may be as large as max_upload_bytes', async () => {
    const sized = (characters: number): string =>
      JSON.stringify(submission({ input: { bytes: 'A'.repeat(characters), format: 'ofd' } }));
    const room = 200_000 - sized(0).length;
    const body = sized(room - (room % 4)) + ' '.repeat(room % 4);
    expect([body.length, (await service.convert(body)).status]).toEqual([200_000, 200]);
  });

  it('that is larger is 413, with and without a declared length', async () => {
    const body = Buffer.alloc(200_001, 'A');
    body.write('{"input":{"bytes":"');
    expect(await post(body)).toEqual([
      413,
      { code: 'payload_too_large', message: expect.stringMatching(/200000 bytes/) },
    ]);
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue(body);
        controller.close();
      },
    });
    const response = await service.convert('', { body: stream, duplex: 'half' } as RequestInit);
    expect([response.status, (await json<ErrorAnswer>(response)).code]).toEqual([413, 'payload_too_large']);
  });

  it.each(['Content-Length: 50000000', 'Transfer-Encoding: chunked'])(
    'that is much larger is 413 for a client that sends all of it before it reads, with %s',
    async (header) => {
      const { socket, answer } = rawSocket();
      socket.write(`POST /v1/convert HTTP/1.1\r\nHost: a\r\nX-OFD-Api-Key: ${KEY}\r\n${header}\r\n\r\n`);
      socket.pause();
      if (header.startsWith('T')) socket.write('2faf080\r\n');
      await new Promise<void>((resolve, reject) => {
        const body = Buffer.alloc(50_000_000, 'A');
        body.write('{"input":{"bytes":"');
        socket.write(body, (error) => (error ? reject(error) : resolve()));
      });
      if (header.startsWith('T')) socket.write('\r\n0\r\n\r\n');
      socket.resume();
      expect(await answer).toMatch(/^HTTP\/1\.1 413 .*"payload_too_large"/s);
    },
  );

  it('that is compressed is refused', async () => {
    const response = await service.convert(submission(), { headers: { 'content-encoding': 'gzip' } });
    expect([response.status, (await json<ErrorAnswer>(response)).message]).toEqual([
      400,
      expect.stringMatching(/gzip/),
    ]);
  });

  it('whose client goes away leaves nothing behind', async () => {
    await raw(`POST /v1/convert HTTP/1.1\r\nHost: a\r\nX-OFD-Api-Key: ${KEY}\r\nContent-Length: 1000\r\n\r\n{"input"`);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  });

  it('of a cancel is of no interest', async () => {
    const response = await service.call('/v1/jobs/x/cancel', { method: 'POST', body: 'x' });
    expect(response.status).toBe(404);
  });
});

it('the log names requests and runs, and holds no key, no body, no query', async () => {
  await service.convert(submission({ output: { file_name: 'very-secret-name' } }));
  await service.call('/v1/jobs/x/content?name=very-secret-name');
  const logDir = join(service.folder, 'log');
  const lines = await until(
    async () => readFileSync(join(logDir, 'ofd-server.log'), 'utf8'),
    (text) => text.includes('"route":"/v1/jobs/:id/content"'),
  );
  expect(readdirSync(logDir).sort()).toEqual(['ofd-server.1.log', 'ofd-server.log']);
  for (const line of lines.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ level: expect.any(String) });
  expect(lines).toMatch(/"outcome":"succeeded"/);
  for (const secret of [KEY, 'very-secret-name', 'UEsDB']) expect(lines).not.toContain(secret);
});

it('a client that reads nothing of its answers is cut off', async () => {
  const parts = {
    logger: pino({ level: 'silent' }),
    config: { apiKeys: new Map() },
    metrics: new RunMetrics(),
    startedAtMs: 0,
  };
  const server = createServer(parts as unknown as HttpServices, 300);
  const port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
  const socket = connect(port, '127.0.0.1')
    .pause()
    .on('error', () => undefined);
  // More than the buffers of both sides hold.
  socket.write('GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(400));
  const connections = () =>
    new Promise<number>((resolve) => server.server.getConnections((_error, count) => resolve(count)));
  await until(connections, (count) => count === 1);
  await until(connections, (count) => count === 0);
  socket.destroy();
  await server.close();
});
