// Object stores: s3rver and moto.
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { faultSuite } from './fault-suite.js';
import { noise, RemoteHarness } from './remote-harness.js';
import { BOX, failureOf, remoteSuite } from './remote-suite.js';
import { FaultProxy } from './servers/fault-proxy.js';
import { startMoto, startS3rver } from './servers/s3.js';
import type { TestServer } from './servers/server.js';

remoteSuite('s3rver', startS3rver);
remoteSuite('moto', startMoto);
faultSuite('s3rver', startS3rver, true);
faultSuite('moto', startMoto);

describe('an object store', () => {
  let server: TestServer;
  let box: RemoteHarness;

  beforeAll(async () => {
    server = await startMoto();
  });
  afterAll(() => server.close());
  beforeEach(() => server.empty());
  afterEach(() => box.close());

  it('that knows conditional writes keeps what came into being after the probe', async () => {
    box = await RemoteHarness.open('s3', server.target());
    const file = box.made('a.pdf', 'ours');
    // Planning comes after the probe and before the upload.
    const plan = box.ledger.plan.bind(box.ledger);
    box.ledger.plan = async (jobId, files) => {
      await plan(jobId, files);
      await server.write(`${BOX}/a.pdf`, 'theirs');
    };
    expect((await failureOf(box.deliver([file]))).code).toBe('conflict');
    expect((await server.read(`${BOX}/a.pdf`))?.toString()).toBe('theirs');
    await server.empty();
    const large = box.made('a.pdf', noise(17 * 1024 * 1024));
    expect((await failureOf(box.deliver([large], { jobId: 'large' }))).code).toBe('conflict');
    expect((await server.read(`${BOX}/a.pdf`))?.toString()).toBe('theirs');
  });

  it('gets no bucket from us', async () => {
    box = await RemoteHarness.open('s3', { ...server.target(), bucket: 'no-such-bucket' });
    const { code, message } = await failureOf(box.deliver([box.made('a.pdf', 'x')]));
    expect([code, message]).toEqual(['sink_refused', expect.stringContaining('NoSuchBucket')]);
  });

  it.each([
    [412, 'PreconditionFailed'],
    [404, 'NoSuchUpload'],
  ])('has taken an upload whose answer got lost, though it answers %i to the second question', async (status, code) => {
    // Passes everything on, but for the answer to what completes an upload; to the second one it answers by itself.
    let questions = 0;
    const proxy = createServer((request, response) => {
      const { method, url: path, headers } = request;
      const isCompleting = method === 'POST' && path?.includes('uploadId=');
      if (isCompleting && ++questions > 1) {
        request.resume().once('end', () => response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`));
        return;
      }
      const onward = httpRequest({ host: '127.0.0.1', port: server.ports[0], method, path, headers }, (answer) => {
        if (isCompleting) return void answer.resume().once('end', () => request.socket.destroy());
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const endpoint = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    box = await RemoteHarness.open('s3', { ...server.target(), endpoint });
    const file = box.made('a.pdf', noise(17 * 1024 * 1024));
    const { receipts } = await box.deliver([file]);
    expect([questions, receipts]).toMatchObject([2, [{ sha256: file.sha256, reused: false }]]);
    expect((await server.read(`${BOX}/a.pdf`))?.length).toBe(file.sizeBytes);
    proxy.close();
    proxy.closeAllConnections();
  });

  it('is left no parts of an upload that broke off', async () => {
    const proxy = await FaultProxy.start(server.ports);
    box = await RemoteHarness.open('s3', { ...server.target(proxy.host), timeout_seconds: 5 });
    await proxy.set({ kind: 'cut', afterBytes: 20 * 1024 * 1024 });
    const file = box.made('a.pdf', noise(33 * 1024 * 1024));
    expect((await failureOf(box.deliver([file]))).code).toBe('sink_unreachable');
    await proxy.set({ kind: 'none' });
    await box.deliver([file], { attempt: 2 });
    expect((await server.read(`${BOX}/a.pdf`))?.length).toBe(file.sizeBytes);
    const { endpoint } = server.target();
    const uploads = await fetch(`http://${String(endpoint)}/products?uploads`);
    expect(await uploads.text()).not.toContain('<UploadId>');
    await proxy.close();
  });
});
