/** What is left at a target, and how the job goes on, when the line between fails at every point of a delivery. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { noise, RemoteHarness } from './remote-harness.js';
import { BOX, failureOf } from './remote-suite.js';
import { type Fault, FaultProxy } from './servers/fault-proxy.js';
import type { TestServer } from './servers/server.js';

/** Where in the bytes that a client sends in a whole delivery the fault strikes. */
const POINTS = [0, 0.02, 0.35, 0.7, 0.97, 0.995, 0.9999];
const LARGE = noise(700_000);

/**
 * @param showsHalf the server shows what it had of a request that broke off, when it notices: later than anybody could look
 *   for it; the next attempt has to see to that
 */
export function faultSuite(name: string, start: () => Promise<TestServer>, showsHalf = false): void {
  describe(`${name}: faults of the line`, () => {
    let server: TestServer;
    let proxy: FaultProxy;
    let box: RemoteHarness;
    let job = 0;

    beforeAll(async () => {
      server = await start();
      proxy = await FaultProxy.start(server.ports);
    });
    afterAll(async () => {
      await proxy?.close();
      await server?.close();
    });
    beforeEach(async () => {
      await server.empty();
      await proxy.set({ kind: 'none' });
      box = await open();
      job += 1;
    });
    afterEach(() => box?.close());

    const open = (keys: object = {}): Promise<RemoteHarness> =>
      RemoteHarness.open(server.kind, { ...server.target(proxy.host), timeout_seconds: 1, ...keys });

    /** Bytes that a client sends in a whole delivery. */
    async function wholeBytes(): Promise<number> {
      const measuring = await open({ timeout_seconds: 20 });
      await measuring.deliver([measuring.made('a.pdf', LARGE), measuring.made('b.pdf', 'small')]);
      const { sentBytes } = proxy;
      measuring.close();
      await server.empty();
      return sentBytes;
    }

    async function whatIsWrong(): Promise<string[]> {
      const wrong: string[] = [];
      const [large, small] = [await server.read(`${BOX}/a.pdf`), await server.read(`${BOX}/b.pdf`)];
      if (large && !large.equals(LARGE)) wrong.push(`a.pdf has ${large.length} bytes`);
      if (small && small.toString() !== 'small') wrong.push(`b.pdf has ${small.length} bytes`);
      return wrong;
    }

    async function strike(fault: Fault): Promise<void> {
      const files = [box.made('a.pdf', LARGE), box.made('b.pdf', 'small')];
      const jobId = `job${job}`;
      await proxy.set(fault);
      const end = await box.deliver(files, { jobId }).catch((error: unknown) => error);
      if (end instanceof Error) {
        expect(end).toBeInstanceOf(ServiceError);
        expect((end as ServiceError).code, String(end)).toMatch(/^(sink_unreachable|checksum_mismatch)$/);
      }
      if (!showsHalf) expect(await whatIsWrong(), 'after the fault').toEqual([]);
      await proxy.set({ kind: 'none' });
      const recovered = await open({ timeout_seconds: 20 });
      await recovered.deliver(files, { jobId, attempt: 2, ledger: box.ledger });
      recovered.close();
      expect(await whatIsWrong(), 'after recovery').toEqual([]);
      expect(await server.list()).toEqual([`${BOX}/a.pdf`, `${BOX}/b.pdf`]);
    }

    it.each(['reset', 'cut', 'stall'] as const)('leave a whole file or none: %s', async (kind) => {
      const total = await wholeBytes();
      for (const point of POINTS) {
        await server.empty();
        box.close();
        box = await open();
        job += 1;
        await strike({ kind, afterBytes: Math.floor(total * point) });
      }
    });

    it('cost little where there are none: one login for many pages, a few round trips each', async () => {
      const { PAGES } = process.env;
      const pages = Number(PAGES ?? 40);
      const patient = await open({ timeout_seconds: 20 });
      const page = noise(30_000);
      const files = Array.from({ length: pages }, (_unused, index) => patient.made(`page-${index}.png`, page));
      await proxy.set({ kind: 'none' });
      const startedAt = performance.now();
      await patient.deliver(files, { path: 'a/b/c/d' });
      const seconds = (performance.now() - startedAt) / 1000;
      const { connections, roundTrips } = proxy;
      if (PAGES !== undefined) console.info(name, { pages, connections, roundTrips, seconds: seconds.toFixed(1) });
      // FTP opens a connection for each file beside that of the login; moto closes each after one answer.
      if (server.kind === 'ftp') expect(connections).toBeLessThanOrEqual(pages + 1);
      else if (name !== 'moto') expect(connections).toBeLessThanOrEqual(20);
      expect(roundTrips / pages).toBeLessThan(server.kind === 'ftp' ? 11 : 8);
      expect(await server.list()).toHaveLength(pages);
      patient.close();
    });

    it('are told as such: nobody listens', async () => {
      await proxy.set({ kind: 'refuse' });
      const { code, message } = await failureOf(box.deliver([box.made('a.pdf', 'x')]));
      expect(code).toBe('sink_unreachable');
      expect(message).toContain('Target "box"');
      await proxy.set({ kind: 'none' });
      const recovered = await open({ timeout_seconds: 20 });
      await recovered.deliver([recovered.made('a.pdf', 'x')], { attempt: 2 });
      recovered.close();
    });

    it('are no reason to give up while bytes move', async () => {
      const patient = await open({ timeout_seconds: 5 });
      await proxy.set({ kind: 'slow', bytesPerSecond: 4_000_000 });
      const content = noise(30_000_000);
      const startedAt = Date.now();
      await patient.deliver([patient.made('a.pdf', content)]);
      expect(Date.now() - startedAt).toBeGreaterThan(6000);
      expect((await server.read(`${BOX}/a.pdf`))?.equals(content)).toBe(true);
      patient.close();
    });

    it('keep nobody who wants to stop for more than two seconds', async () => {
      const patient = await open({ timeout_seconds: 60 });
      for (const afterBytes of [0, 300_000]) {
        await proxy.set({ kind: 'stall', afterBytes });
        const stop = new AbortController();
        const reason = new ServiceError('cancelled', 'Enough');
        const delivery = failureOf(patient.deliver([patient.made('a.pdf', LARGE)], { signal: stop.signal }));
        await new Promise((resolve) => setTimeout(resolve, 300));
        const stoppedAt = Date.now();
        stop.abort(reason);
        expect(await delivery).toBe(reason);
        expect(Date.now() - stoppedAt).toBeLessThan(2000);
        if (!showsHalf) expect(await whatIsWrong()).toEqual([]);
      }
      patient.close();
    });
  });
}
