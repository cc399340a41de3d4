// Servers that answer without end, which takes neither memory nor time, or otherwise than the libraries think.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { RemoteHarness } from './remote-harness.js';
import { failureOf } from './remote-suite.js';

const MEBIBYTE = 1024 * 1024;
/** What the kernel and the libraries hold on its way, beside what may be read. */
const SENT_AT_MOST = 32 * MEBIBYTE;

let server: Server;
let box: RemoteHarness;
afterEach(() => {
  box.close();
  server.closeAllConnections();
  server.close();
});

async function open(
  kind: string,
  keys: (port: number) => object,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<void> {
  server = createServer((request, response) => {
    request.resume().on('error', () => undefined);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  box = await RemoteHarness.open(kind, { timeout_seconds: 5, ...keys((server.address() as AddressInfo).port) });
}

/** Sends until the line is cut; counts. */
function endless(response: ServerResponse, count: (bytes: number) => void): void {
  const piece = Buffer.alloc(MEBIBYTE, ' ');
  const send = (): void => {
    while (!response.destroyed) {
      count(piece.length);
      if (!response.write(piece)) return;
    }
  };
  response.on('drain', send).on('error', () => undefined);
  response.write('<?xml version="1.0"?>');
  send();
}

const webdav = (port: number): object => ({ endpoint: `http://127.0.0.1:${port}` });
const s3 = (port: number): object => ({
  ...{ endpoint: `127.0.0.1:${port}`, path_style: true, bucket: 'box' },
  ...{ access_key: 'id', secret_key: 'secret' },
});

it.each([
  ['WebDAV, asked for a name', 'webdav', webdav, 'PROPFIND', 207],
  ['S3, that refuses an object', 's3', s3, 'PUT', 403],
] as const)('%s: is cut off', async (_what, kind, keys, method, status) => {
  let sentBytes = 0;
  await open(kind, keys, (request, response) => {
    if (request.method !== method) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(status, { 'content-type': 'application/xml' });
    endless(response, (bytes) => {
      sentBytes += bytes;
    });
  });
  const failure = await failureOf(box.deliver([box.made('a.pdf', 'x')]));
  expect([failure.code, failure.message]).toEqual([
    'sink_refused',
    expect.stringMatching(/answers with more than \d+ bytes/),
  ]);
  expect(sentBytes).toBeLessThan(SENT_AT_MOST);
});

it('WebDAV that refuses the login by Digest is not taken for one that is away', async () => {
  await open(
    'webdav',
    (port) => ({ ...webdav(port), user: 'u', password: 'wrong' }),
    (_request, response) => {
      response.writeHead(401, { 'www-authenticate': 'Digest realm="r", nonce="n", qop="auth"' }).end();
    },
  );
  const { code } = await failureOf(box.deliver([box.made('a.pdf', 'x')]));
  expect(code).toBe('sink_refused');
});

it('S3 that is out of order is told by the job, and by no line beside the log', async () => {
  const warn = vi.spyOn(console, 'warn');
  await open('s3', s3, ({ method }, response) => void response.writeHead(method === 'HEAD' ? 404 : 500).end());
  expect((await failureOf(box.deliver([box.made('a.pdf', 'x')]))).code).toBe('sink_unreachable');
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});
