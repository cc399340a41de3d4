// WebDAV on Apache and rclone.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { faultSuite } from './fault-suite.js';
import { RemoteHarness } from './remote-harness.js';
import { BOX, failureOf, remoteSuite } from './remote-suite.js';
import { startApache, startRclone } from './servers/webdav.js';

remoteSuite('Apache', startApache);
remoteSuite('rclone', startRclone);
faultSuite('Apache', startApache);
faultSuite('rclone', startRclone);

describe('a server', () => {
  it('may ask for the password by Digest', async () => {
    const server = await startApache('Digest');
    const box = await RemoteHarness.open('webdav', server.target());
    await box.deliver([box.made('a.pdf', 'x')]);
    expect(await server.list()).toEqual([`${BOX}/a.pdf`]);
    box.close();
    await server.close();
  });

  it('may lead elsewhere, and is not followed', async () => {
    let visits = 0;
    const elsewhere = createServer((_request, response) => {
      visits += 1;
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const server = createServer((_request, response) => {
      const { port } = elsewhere.address() as { port: number };
      response.writeHead(301, { location: `http://127.0.0.1:${port}/` }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const box = await RemoteHarness.open('webdav', { endpoint: `http://127.0.0.1:${port}` });
    const { code, message } = await failureOf(box.deliver([box.made('a.pdf', 'x')]));
    expect([code, message]).toEqual(['sink_refused', expect.stringContaining('not followed')]);
    expect(visits).toBe(0);
    box.close();
    server.close();
    elsewhere.close();
  });

  it('may put the half of a broken request there late: it is taken away all the same', async () => {
    const there = new Set<string>();
    const server = createServer((request, response) => {
      const path = request.url ?? '';
      const answer = (status: number): unknown => response.writeHead(status).end();
      if (request.method === 'PROPFIND') return answer(404);
      if (request.method === 'MKCOL') return answer(201);
      if (request.method === 'DELETE') return answer(there.delete(path) ? 204 : 404);
      request.resume().once('close', () => setTimeout(() => there.add(path), 600));
      return request.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const box = await RemoteHarness.open('webdav', { endpoint: `http://127.0.0.1:${port}` });
    const file = box.made('a.pdf', 'right bytes');
    writeFileSync(file.path, 'right');
    expect((await failureOf(box.deliver([file]))).code).toBe('checksum_mismatch');
    await sleep(1000);
    expect([...there]).toEqual([]);
    box.close();
    server.closeAllConnections();
    server.close();
  });

  it.each([
    [507, 'insufficient_storage'],
    [503, 'sink_unreachable'],
    [423, 'sink_unreachable'],
    [403, 'sink_refused'],
    [413, 'sink_refused'],
    [301, 'sink_refused'],
  ])('may answer %i', async (status, code) => {
    const server = createServer((request, response) => {
      request.resume();
      const isQuestion = request.method === 'PROPFIND';
      response.writeHead(isQuestion ? 404 : status, { location: 'http://127.0.0.1:1/' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const box = await RemoteHarness.open('webdav', { endpoint: `http://127.0.0.1:${port}` });
    const failure = await failureOf(box.deliver([box.made('a.pdf', 'x')]));
    expect([failure.code, failure.message]).toEqual([code, expect.stringContaining('Target "box"')]);
    box.close();
    server.closeAllConnections();
    server.close();
  });
});
