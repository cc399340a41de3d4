// Downloads from real servers on loopback: what is dialled, followed, limited and refused (contract U2).
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer, type Server as PlainServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Download, downloadInput, type UrlSourceSettings } from '../../src/transfer/sources/url.js';
import { UrlHosts } from '../../src/transfer/url-hosts.js';
import { temporaryFolder } from '../support/jobs.js';
import { selfSigned } from './servers/machine.js';

let folder: { path: string; remove(): void };
let servers: (Server | PlainServer)[];
let requests: IncomingMessage[];
/** Addresses of ours that were dialled. */
let dialled: (string | undefined)[];
let answer: RequestListener;
/** Addresses of each name, one answer after the other; the last one stays. */
let names: Record<string, string[][]>;
let asked: string[];

beforeEach(() => {
  folder = temporaryFolder('url');
  servers = [];
  requests = [];
  dialled = [];
  asked = [];
  names = { 'files.example.com': [['127.0.0.1']], 'other.example.com': [['127.0.0.2']] };
  answer = (_request, response) => response.end('the document');
});
afterEach(() => {
  for (const server of servers) server.close();
  folder.remove();
});

const path = (): string => join(folder.path, 'download');

async function listen(host: string, server: Server | PlainServer = createServer(onRequest), port = 0): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return (server.address() as AddressInfo).port;
}

function onRequest(request: IncomingMessage, response: ServerResponse): void {
  requests.push(request);
  dialled.push(request.socket.localAddress);
  answer(request, response);
}

async function resolve(name: string): Promise<{ address: string; family: number }[]> {
  asked.push(name);
  const answers = names[name] ?? [[]];
  const addresses = (answers.length > 1 ? answers.shift() : answers[0]) as string[];
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

function download(url: string, changes: Partial<UrlSourceSettings> = {}, signal?: AbortSignal): Promise<Download> {
  const settings: UrlSourceSettings = {
    hosts: new UrlHosts(['*.example.com', '127.0.0.1']),
    timeoutMs: 5000,
    maxBytes: 1000,
    followsRedirects: false,
    resolve,
    ...changes,
  };
  rmSync(path(), { force: true });
  const hooks = { signal: signal ?? new AbortController().signal, onAlive: () => undefined };
  return downloadInput(url, path(), settings, hooks);
}

async function codeOf(url: string, changes: Partial<UrlSourceSettings> = {}): Promise<string> {
  try {
    await download(url, changes);
    return 'downloaded';
  } catch (error) {
    expect(existsSync(path())).toBe(false);
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
}

describe('a download', () => {
  it('is what the server sent, asked for as the client wrote it', async () => {
    const port = await listen('127.0.0.1');
    answer = (_request, response) =>
      response
        .setHeader('content-disposition', `attachment; filename="a.ofd"; filename*=UTF-8''%E5%8F%91.ofd`)
        .setHeader('content-type', 'application/ofd')
        .end('the document');
    const found = await download(`http://Files.example.com:${port}/a%2Fb/../%7e?x=%20+&y=1#part`);
    expect(found).toEqual({
      sizeBytes: 12,
      fileNames: ['a.ofd', "UTF-8''%E5%8F%91.ofd", '~'],
      contentType: 'application/ofd',
    });
    expect(readFileSync(path(), 'utf8')).toBe('the document');
    const [request] = requests;
    expect(request?.url).toBe('/a%2Fb/../%7e?x=%20+&y=1');
    expect(request?.headers).toEqual({
      host: `files.example.com:${port}`,
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'ofd-server',
      connection: 'close',
    });
  });

  it('takes a chunked answer', async () => {
    const port = await listen('127.0.0.1');
    answer = (_request, response) => {
      response.write('the ');
      setTimeout(() => response.end('document'), 20);
    };
    expect((await download(`http://127.0.0.1:${port}/`)).sizeBytes).toBe(12);
  });

  it.each([
    [404, 'source_refused: input.url: the server answers 404 in place of the document'],
    [401, 'source_refused: input.url: the server answers 401'],
    [204, 'source_refused: input.url: the server answers 204'],
    [206, 'source_refused: input.url: the server answers 206'],
    [500, 'source_unreachable: input.url: the server answers 500'],
    [503, 'source_unreachable: input.url: the server answers 503'],
    [429, 'source_unreachable: input.url: the server answers 429'],
  ])('fails where the server answers %i', async (status, message) => {
    const port = await listen('127.0.0.1');
    answer = (_request, response) => response.writeHead(status).end(status === 204 ? undefined : 'sorry');
    expect(await codeOf(`http://127.0.0.1:${port}/`)).toContain(message);
  });

  it('fails where the answer is compressed, empty, broken off or no HTTP', async () => {
    const port = await listen('127.0.0.1');
    answer = (_request, response) => response.setHeader('content-encoding', 'gzip').end('x');
    expect(await codeOf(`http://127.0.0.1:${port}/`)).toMatch(/^source_refused: .*compresses the document \(gzip\)/);
    answer = (_request, response) => response.end();
    expect(await codeOf(`http://127.0.0.1:${port}/`)).toMatch(/^source_refused: .*empty document/);
    answer = (_request, response) => {
      response.setHeader('content-length', 100).write('half');
      setTimeout(() => response.destroy(), 20);
    };
    expect(await codeOf(`http://127.0.0.1:${port}/`)).toMatch(/^source_unreachable: .*127\.0\.0\.1 cannot be read/);
    const plain = await listen(
      '127.0.0.1',
      createPlainServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n')),
    );
    expect(await codeOf(`http://127.0.0.1:${plain}/`)).toMatch(/^source_refused: .*HPE_/);
    expect(await codeOf('http://127.0.0.1:1/')).toMatch(/^source_unreachable: .*ECONNREFUSED/);
    expect(await codeOf('http://nobody.example.com/')).toMatch(/^source_unreachable: .*has no address/);
  });

  it('is as large as allowed, and no larger: by what is announced, and by what comes', async () => {
    const port = await listen('127.0.0.1');
    answer = (_request, response) => response.end(Buffer.alloc(1000));
    expect((await download(`http://127.0.0.1:${port}/`)).sizeBytes).toBe(1000);
    answer = (_request, response) => response.setHeader('content-length', 1001).write(Buffer.alloc(10));
    expect(await codeOf(`http://127.0.0.1:${port}/`)).toMatch(/^payload_too_large: .*max_upload_bytes \(1000\)/);
    let sent = 0;
    answer = (_request, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(100)) && sent++, 5);
      response.on('close', () => clearInterval(timer));
    };
    expect(await codeOf(`http://127.0.0.1:${port}/`)).toMatch(/^payload_too_large/);
    expect(sent).toBeLessThan(100);
  });

  it('ends at url_timeout, before the answer and in the middle of it', async () => {
    const port = await listen('127.0.0.1');
    const silent = await listen(
      '127.0.0.1',
      createPlainServer(() => undefined),
    );
    answer = (_request, response) => void response.write('the ');
    const started = performance.now();
    for (const place of [port, silent]) {
      expect(await codeOf(`http://127.0.0.1:${place}/`, { timeoutMs: 300 })).toMatch(/^conversion_timeout: /);
    }
    names['slow.example.com'] = [];
    const never = (): Promise<never> => new Promise(() => undefined);
    expect(await codeOf('http://slow.example.com/', { timeoutMs: 300, resolve: never })).toMatch(/^conversion_timeout/);
    expect(performance.now() - started).toBeLessThan(3000);
  });

  it('stops with the job, with its reason', async () => {
    const port = await listen('127.0.0.1');
    answer = (_request, response) => void response.write('the ');
    const job = new AbortController();
    const reason = new Error('nobody wants it');
    setTimeout(() => job.abort(reason), 100);
    await expect(download(`http://127.0.0.1:${port}/`, {}, job.signal)).rejects.toBe(reason);
    expect(existsSync(path())).toBe(false);
  });
});

describe('a name', () => {
  it('is resolved once, and what was checked is what is dialled', async () => {
    const port = await listen('127.0.0.1');
    const canary = await listen('127.0.0.2', createServer(onRequest), port);
    expect(canary).toBe(port);
    // The check sees the first answer; whoever asks again is led elsewhere.
    names['files.example.com'] = [['127.0.0.1'], ['127.0.0.2']];
    await download(`http://files.example.com:${port}/`);
    expect(asked).toEqual(['files.example.com']);
    expect(dialled).toEqual(['127.0.0.1']);
    expect(await codeOf(`http://files.example.com:${port}/`)).toMatch(
      /^url_not_allowed: .*files\.example\.com leads to 127\.0\.0\.2, which is not public/,
    );
    expect(requests.length).toBe(1);
  });

  it.each([
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::'],
    ['0.0.0.0'],
    ['127.0.0.1', '127.0.0.2'],
    ['8.8.8.8', '192.168.0.1'],
  ])('that leads to %s %s is not dialled', async (...addresses) => {
    names['files.example.com'] = [addresses.filter((address) => address !== undefined)];
    expect(await codeOf('http://files.example.com:1/')).toMatch(/^url_not_allowed/);
  });

  it('that is not listed is not even resolved', async () => {
    expect(await codeOf('http://elsewhere.example.org/')).toMatch(/^url_not_allowed: .*elsewhere\.example\.org/);
    expect(asked).toEqual([]);
  });

  it('is resolved by the machine where nobody else does', async () => {
    const port = await listen('127.0.0.1');
    const { resolve: _injected, ...settings } = {
      hosts: new UrlHosts(['localhost', '127.0.0.0/8', '::1']),
      timeoutMs: 5000,
      maxBytes: 1000,
      followsRedirects: false,
      resolve,
    };
    const hooks = { signal: new AbortController().signal, onAlive: () => undefined };
    expect((await downloadInput(`http://localhost:${port}/`, path(), settings, hooks)).sizeBytes).toBe(12);
  });
});

describe('a redirect', () => {
  const redirecting = (location: string, status = 302): void => {
    answer = (request, response) =>
      request.url === '/start' ? response.writeHead(status, { location }).end('moved') : response.end('the document');
  };

  it('is refused unless it is allowed, and leads nowhere', async () => {
    const port = await listen('127.0.0.1');
    redirecting('/end');
    expect(await codeOf(`http://127.0.0.1:${port}/start`)).toMatch(/^source_refused: .*allow_url_redirects is off/);
    expect(requests.length).toBe(1);
  });

  it.each([301, 302, 303, 307, 308])('of status %i is followed where it is allowed', async (status) => {
    const port = await listen('127.0.0.1');
    redirecting(`http://files.example.com:${port}/a%2fb?c`, status);
    const found = await download(`http://127.0.0.1:${port}/start`, { followsRedirects: true });
    expect(found.fileNames).toEqual(['a/b']);
    expect(requests.map(({ url, headers }) => [url, headers.host])).toEqual([
      ['/start', `127.0.0.1:${port}`],
      ['/a%2fb?c', `files.example.com:${port}`],
    ]);
    expect(requests[1]?.headers.referer).toBeUndefined();
  });

  it.each([
    ['http://elsewhere.example.org/', 'url_not_allowed'],
    ['http://169.254.169.254/latest/meta-data/', 'url_not_allowed'],
    ['http://[::1]:1/', 'url_not_allowed'],
    ['http://2130706434/', 'url_not_allowed'],
    ['http://other.example.com/', 'url_not_allowed: input.url: other.example.com leads to 127.0.0.2'],
    ['//169.254.169.254/', 'url_not_allowed'],
    ['file:///etc/passwd', 'source_refused'],
    ['ftp://files.example.com/', 'source_refused'],
    ['http://user:word@files.example.com/', 'source_refused'],
    ['data:text/plain,x', 'source_refused'],
    ['http://[', 'source_refused'],
  ])('to %s is checked like the address itself: %s', async (location, message) => {
    const port = await listen('127.0.0.1');
    redirecting(location);
    expect(await codeOf(`http://127.0.0.1:${port}/start`, { followsRedirects: true })).toContain(message);
    expect(requests.length).toBe(1);
  });

  it('is followed five times', async () => {
    const port = await listen('127.0.0.1');
    answer = ({ url = '' }, response) => {
      const left = Number(url.slice(1));
      return left === 0 ? response.end('the document') : response.writeHead(302, { location: `/${left - 1}` }).end();
    };
    expect((await download(`http://127.0.0.1:${port}/5`, { followsRedirects: true })).sizeBytes).toBe(12);
    expect(await codeOf(`http://127.0.0.1:${port}/6`, { followsRedirects: true })).toMatch(/more than 5 redirects/);
  });

  it('that does not say where to is refused', async () => {
    const port = await listen('127.0.0.1');
    answer = (_request, response) => response.writeHead(302).end();
    expect(await codeOf(`http://127.0.0.1:${port}/`, { followsRedirects: true })).toMatch(/without saying where to/);
  });
});

describe('https', () => {
  it('checks the certificate and its name; nothing leads from it to http', async () => {
    const { key, certificate } = selfSigned(folder.path);
    const authorities = [readFileSync(certificate, 'utf8')];
    const tls = { key: readFileSync(key), cert: authorities[0] as string };
    const port = await listen('127.0.0.1', createSecureServer(tls, onRequest));
    names['localhost.example.com'] = [['127.0.0.1']];
    const hosts = new UrlHosts(['localhost', 'localhost.example.com', '127.0.0.1']);
    names.localhost = [['127.0.0.1']];
    expect((await download(`https://localhost:${port}/`, { hosts, authorities })).sizeBytes).toBe(12);
    expect((await download(`https://localhost.:${port}/`, { hosts, authorities })).sizeBytes).toBe(12);
    expect((await download(`https://127.0.0.1:${port}/`, { hosts, authorities })).sizeBytes).toBe(12);
    expect(await codeOf(`https://localhost:${port}/`, { hosts })).toMatch(/^source_refused: .*DEPTH_ZERO_SELF_SIGNED/);
    expect(await codeOf(`https://localhost.example.com:${port}/`, { hosts, authorities })).toMatch(
      /^source_refused: .*ERR_TLS_CERT_ALTNAME_INVALID/,
    );
    answer = (_request, response) => response.writeHead(302, { location: `http://127.0.0.1:1/` }).end();
    expect(await codeOf(`https://localhost:${port}/`, { hosts, authorities, followsRedirects: true })).toMatch(
      /^source_refused: .*from https to http/,
    );
  });
});
