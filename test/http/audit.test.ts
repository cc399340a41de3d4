// One line for each request, however it ends: who, from where, which route, and how (issue of an audit).
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KEY, startTestService, submission, type TestService, until } from '../support/service.js';

interface Line {
  readonly msg: string;
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly key?: string;
  readonly from?: string;
  readonly isCutOff?: boolean;
}

let service: TestService;
beforeEach(async () => {
  const api_keys = {
    reader: { key: 'key-of-the-reader-0123', scopes: ['read'], requests_per_minute: 2 },
  };
  service = await startTestService({ max_upload_bytes: 10_000, api_keys });
});
afterEach(() => service.close());

const lines = (): Line[] =>
  readFileSync(join(service.folder, 'log/ofd-server.log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => msg === 'request');

const untilLines = (count: number): Promise<number> =>
  until(
    async () => lines().length,
    (found) => found >= count,
  );

/** The lines when there are so many, and no more come. */
async function linesWhen(count: number): Promise<Line[]> {
  await untilLines(count);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(lines()).toHaveLength(count);
  return lines();
}

/** Sends text as it is, reads the answer, and closes; without waiting for an answer where `isHasty`. */
function raw(text: string, isHasty = false): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(service.service.port, '127.0.0.1', () => {
      socket.write(text);
      if (isHasty) setTimeout(() => socket.destroy(), 200);
    });
    socket.on('data', () => socket.end());
    socket.on('close', () => resolve()).on('error', () => undefined);
  });
}

const head = (line: string, ...headers: string[]): string => [line, 'Host: a', ...headers, '', ''].join('\r\n');
const KEY_LINE = `Authorization: Bearer ${KEY}`;

it('a request that is served, and each way to refuse one', async () => {
  const from = '127.0.0.1';
  const asked: [() => Promise<unknown>, Partial<Line>][] = [
    [() => service.convert(submission()), { method: 'POST', route: '/v1/convert', status: 200, key: 'api_key' }],
    [() => service.convert('{'), { method: 'POST', route: '/v1/convert', status: 400, key: 'api_key' }],
    [() => service.convert('x'.repeat(20_000)), { route: '/v1/convert', status: 413, key: 'api_key' }],
    [() => fetch(`${service.url}/v1/jobs`), { method: 'GET', route: '/v1/jobs', status: 401 }],
    [
      () => fetch(`${service.url}/v1/convert`, { method: 'POST', body: '{}', headers: { 'x-ofd-api-key': 'no' } }),
      { method: 'POST', route: '/v1/convert', status: 401 },
    ],
    [() => reader('/v1/jobs/x/cancel', 'POST'), { route: '/v1/jobs/:id/cancel', status: 403 }],
    [() => reader('/v1/jobs'), { route: '/v1/jobs', status: 200, key: 'reader' }],
    [() => reader('/v1/jobs'), { route: '/v1/jobs', status: 200, key: 'reader' }],
    [() => reader('/v1/jobs'), { route: '/v1/jobs', status: 429 }],
    [() => service.call('/v1/nothing'), { method: 'GET', status: 404, key: 'api_key' }],
    [() => service.call('/v1/stats', { method: 'DELETE' }), { method: 'DELETE', status: 405, key: 'api_key' }],
    [() => raw(head('GET /v1/jobs/%zz HTTP/1.1', KEY_LINE)), { method: 'GET', status: 400 }],
    [() => raw('nonsense\r\n\r\n'), { status: 400 }],
  ];
  for (const [index, [ask]] of asked.entries()) {
    await ask();
    // An answer may be read before its line is written.
    await untilLines(index + 1);
  }
  const found = await linesWhen(asked.length);
  for (const [index, [, line]] of asked.entries()) {
    expect(found[index], JSON.stringify(line)).toMatchObject({ from, ...line });
    if (line.key === undefined && line.status === 401) expect(found[index]).not.toHaveProperty('key');
  }
});

const reader = (path: string, method = 'GET'): Promise<Response> =>
  fetch(service.url + path, { method, headers: { authorization: 'Bearer key-of-the-reader-0123' } });

it('a stream whose client goes away, and an upload that breaks off', async () => {
  service.converter.hold();
  const body = JSON.stringify(submission());
  await raw(head('POST /v1/convert HTTP/1.1', KEY_LINE, `Content-Length: ${body.length}`) + body, true);
  await raw(`${head('POST /v1/convert HTTP/1.1', KEY_LINE, 'Content-Length: 5000')}{"input"`, true);
  const found = await linesWhen(2);
  for (const line of found) {
    expect(line).toMatchObject({
      method: 'POST',
      route: '/v1/convert',
      key: 'api_key',
      from: '127.0.0.1',
      isCutOff: true,
    });
  }
});

it('one whose request is made on the same connection as another', async () => {
  const twice = head('GET /v1/stats HTTP/1.1', KEY_LINE) + head('GET /v1/jobs HTTP/1.1', KEY_LINE, 'Connection: close');
  await new Promise<void>((resolve) => {
    const socket = connect(service.service.port, '127.0.0.1', () => socket.write(twice));
    socket.resume().on('close', () => resolve());
  });
  const found = await linesWhen(2);
  expect(found.map(({ route, status }) => [route, status])).toEqual([
    ['/v1/stats', 200],
    ['/v1/jobs', 200],
  ]);
});
