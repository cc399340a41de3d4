// FTP and FTPS on vsftpd and pyftpdlib.
import tls from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/transfer/sink.js';
import { faultSuite } from './fault-suite.js';
import { RemoteHarness } from './remote-harness.js';
import { BOX, failureOf, remoteSuite } from './remote-suite.js';
import { FaultProxy } from './servers/fault-proxy.js';
import { startPyftpd, startVsftpd } from './servers/ftp.js';
import type { TestServer } from './servers/server.js';

remoteSuite('vsftpd', startVsftpd);
remoteSuite('pyftpdlib', startPyftpd);
faultSuite('vsftpd', startVsftpd);
faultSuite('pyftpdlib', startPyftpd);

describe('a server', () => {
  const closers: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function started<Server extends TestServer>(server: Promise<Server>): Promise<Server> {
    const running = await server;
    closers.push(() => running.close());
    return running;
  }

  async function opened(keys: Record<string, unknown>): Promise<RemoteHarness> {
    const box = await RemoteHarness.open('ftp', keys);
    closers.push(() => box.close());
    return box;
  }

  async function deliver(keys: Record<string, unknown>): Promise<Delivery> {
    const box = await opened(keys);
    return box.deliver([box.made('a.pdf', 'x'), box.made('b.pdf', '')]);
  }

  it('may speak TLS from the first byte', async () => {
    const server = await started(startVsftpd({ isImplicit: true }));
    await deliver(server.target());
    expect(await server.list()).toEqual([`${BOX}/a.pdf`, `${BOX}/b.pdf`]);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('may speak %s, and wants sessions to go on', async (version) => {
    const { DEFAULT_MIN_VERSION, DEFAULT_MAX_VERSION } = tls;
    Object.assign(tls, { DEFAULT_MIN_VERSION: version, DEFAULT_MAX_VERSION: version });
    closers.push(() => Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_MAX_VERSION }));
    const server = await started(startVsftpd());
    await deliver(server.target());
    expect(await server.list()).toEqual([`${BOX}/a.pdf`, `${BOX}/b.pdf`]);
  });

  it('is not spoken to without TLS, nor with a certificate that nobody vouches for', async () => {
    const plain = await started(startPyftpd());
    const { insecure, ...keys } = plain.target();
    expect(insecure).toBe(true);
    const withoutTls = await failureOf(deliver(keys));
    expect([withoutTls.code, withoutTls.message]).toEqual(['sink_refused', expect.stringContaining('500')]);
    const server = await started(startVsftpd());
    const { code, message } = await failureOf(deliver({ ...server.target(), insecure_skip_verify: false }));
    expect([code, message]).toEqual(['sink_refused', expect.stringContaining('its certificate is not accepted')]);
  });

  it('may point its data connections elsewhere, and they go to it all the same', async () => {
    const server = await started(startPyftpd({ masquerade: '203.0.113.7' }));
    await deliver({ ...server.target(), disable_epsv: true });
    expect(await server.list()).toEqual([`${BOX}/a.pdf`, `${BOX}/b.pdf`]);
  });

  it.each([[['EPSV']], [['SIZE']], [['MLSD', 'MLST']], [['MLSD', 'MLST', 'SIZE']], [['FEAT']]])(
    'may lack commands: %j',
    async (without) => {
      const server = await started(startPyftpd({ without }));
      await server.write(`${BOX}/theirs.pdf`, 'theirs');
      await deliver(server.target());
      expect(await server.list()).toEqual([`${BOX}/a.pdf`, `${BOX}/b.pdf`, `${BOX}/theirs.pdf`]);
      const box = await opened(server.target());
      const names = ['theirs.pdf', 'c.pdf', 'd.pdf', 'e.pdf'];
      const { code } = await failureOf(box.deliver(names.map((name) => box.made(name, 'x'))));
      expect(code).toBe('conflict');
    },
  );

  it('is connected to once for jobs that come one after the other, and again when it has closed the line', async () => {
    const server = await started(startVsftpd());
    const proxy = await FaultProxy.start([server.ports[0]!]);
    closers.push(() => proxy.close());
    const direct = await FaultProxy.start(server.ports.slice(1));
    closers.push(() => direct.close());
    const box = await opened({ ...server.target(proxy.host), timeout_seconds: 10 });
    for (const jobId of ['one', 'two', 'three']) await box.deliver([box.made(`${jobId}.pdf`, jobId)], { jobId });
    expect(proxy.connections).toBe(1);
    await proxy.set({ kind: 'none' });
    await box.deliver([box.made('four.pdf', 'four')], { jobId: 'four' });
    expect(proxy.connections).toBe(1);
    expect(await server.list()).toHaveLength(4);
  });
});
