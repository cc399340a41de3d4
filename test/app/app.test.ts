// The composition root: what keeps a service from starting, what it sees while it runs, retention.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startRetention } from '../../src/app/retention.js';
import { PROBE_NAME } from '../../src/app/volume-probe.js';
import { Watch } from '../../src/app/watch.js';
import { temporaryFolder } from '../support/jobs.js';
import { json, OFD_BASE64, startTestService, submission, type TestService, until } from '../support/service.js';

let service: TestService | undefined;

afterEach(async () => {
  await service?.close();
  service = undefined;
});

describe('a start fails with a sentence that names the key', () => {
  it('for a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    await expect(startTestService({ listen: `127.0.0.1:${port}` })).rejects.toThrow(
      /^listen: cannot open .*EADDRINUSE.*another/,
    );
    other.close();
  });

  it('for a database that another process holds', async () => {
    service = await startTestService();
    const second = startTestService({ db_path: join(service.folder, 'data', 'jobs.db') });
    await expect(second).rejects.toThrow(/^db_path \S+jobs\.db is held by another running process/);
  });

  it.each(['db_path', 'temp_dir', 'output_dir', 'log_dir'])('for a %s that is no folder', async (key) => {
    const folder = temporaryFolder('start');
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    await expect(startTestService({ [key]: join(file, 'below', 'x.db') })).rejects.toThrow(
      new RegExp(`^${key}: cannot write`),
    );
    folder.remove();
  });
});

it('a start makes its folders, closed to others, and the workspaces are swept', async () => {
  service = await startTestService();
  const root = execFileSync('find', [service.tempDir, '-name', 'work-*'], { encoding: 'utf8' }).trim();
  mkdirSync(join(root, 'left-over'));
  writeFileSync(join(root, 'left-over', 'input.ofd'), 'x');
  await service.restart();
  expect(execFileSync('find', [service.tempDir, '-name', '*left*'], { encoding: 'utf8' })).toBe('');
});

it('work goes on where somebody has cleaned up old temporary files', async () => {
  service = await startTestService();
  const clean = (): void => rmSync(join(service?.tempDir ?? '', workRoot()), { recursive: true });
  const workRoot = (): string => readdirSync(service?.tempDir ?? '').find((name) => name.startsWith('work-')) ?? '';
  clean();
  expect((await service.convert(submission())).status).toBe(200);
  clean();
  const { id } = await json<{ id: string }>(service.convert(submission({ output: { kind: 'dir' } })));
  expect(await service.ended(id)).toMatchObject({ state: 'succeeded' });
  clean();
  const large = Buffer.concat([Buffer.from(OFD_BASE64, 'base64'), Buffer.alloc(200_000)]);
  const sent = await service.call('/v1/convert?to=pdf', { method: 'POST', body: large });
  expect(sent.status).toBe(200);
});

it('listens on IPv6 and IPv4 where no host is named', async () => {
  service = await startTestService({ listen: ':0' });
  const { port } = service.service;
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  expect((await fetch(`http://[::1]:${port}/healthz`)).status).toBe(200);
});

it('warnings of the configuration are logged at every start', async () => {
  service = await startTestService({ allow_insecure_ftp: true, ftp_targets: { a: { addr: 'h', insecure: true } } });
  const log = readFileSync(join(service.folder, 'log', 'ofd-server.log'), 'utf8');
  expect(log).toMatch(/"level":"warn".*ftp_targets\.a\.insecure/);
});

it('a volume that hangs makes readyz 503 within two seconds and stops nothing else', async () => {
  service = await startTestService();
  const { url, outputDir } = service;
  // Opening a pipe for writing waits until someone reads: the watching thread hangs as on a dead NFS server.
  const pipe = join(outputDir, PROBE_NAME);
  const hungAt = await untilMade(pipe);
  await until(
    async () => (await fetch(`${url}/readyz`)).status,
    (status) => status === 503,
  );
  expect(Date.now() - hungAt).toBeLessThan(2200);
  const answer = await json<{ reasons: string[] }>(fetch(`${url}/readyz`));
  expect(answer.reasons).toContain('output_dir: no answer for 1000 ms');
  const asked = Date.now();
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await service.convert(submission())).status).toBe(200);
  expect(Date.now() - asked).toBeLessThan(1000);
  await until(
    async () => {
      await letThrough(pipe);
      return (await fetch(`${url}/readyz`)).status;
    },
    (status) => status === 200,
  );
});

/** Whoever waits at the pipe, to write or to read, goes on: for a moment it has both ends. The probe removes it then. */
async function letThrough(pipe: string): Promise<void> {
  try {
    const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    await new Promise((resolve) => setTimeout(resolve, 50));
    closeSync(end);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOENT');
  }
}

/** The probe removes its file after each look, so the pipe may have to be made again. */
async function untilMade(pipe: string): Promise<number> {
  for (;;) {
    try {
      execFileSync('mkfifo', [pipe], { stdio: 'ignore' });
      return Date.now();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

describe('a watch', () => {
  it('tells a fault, a hang, and their end', async () => {
    let probe: () => Promise<void> = async () => undefined;
    const watch = new Watch({ name: 'disk', probe: () => probe(), everyMs: 5, deadlineMs: 30 });
    expect(watch.fault).toMatch(/not looked at/);
    await watch.start();
    expect(watch.fault).toBeUndefined();
    probe = async () => Promise.reject(new Error('full'));
    await until(
      async () => watch.fault,
      (fault) => fault === 'disk: full',
    );
    let end: () => void = () => undefined;
    probe = () =>
      new Promise((resolve) => {
        end = resolve;
      });
    await until(
      async () => watch.fault,
      (fault) => fault === 'disk: no answer for 30 ms',
    );
    probe = async () => undefined;
    end();
    await until(
      async () => watch.fault,
      (fault) => fault === undefined,
    );
    watch.close();
  });
});

it('retention goes on in steps until none is left, and outlives a store that fails', async () => {
  const answers = [200, 200, 7];
  const asked: [number, number][] = [];
  const errors: unknown[] = [];
  const store = {
    prune: async (beforeMs: number, limit: number) => {
      asked.push([beforeMs, limit]);
      const answer = answers.shift();
      if (answer === undefined) throw new Error('gone');
      return answer;
    },
  };
  const retention = startRetention({
    store,
    retentionMs: 1000,
    now: () => 5000,
    onError: (error) => errors.push(error),
  });
  await until(
    async () => asked.length,
    (count) => count === 3,
  );
  await retention.close();
  expect(asked).toEqual([
    [4000, 200],
    [4000, 200],
    [4000, 200],
  ]);
  expect(errors).toEqual([]);
});

it('records older than retention are removed at start, their counters and products stay', async () => {
  service = await startTestService();
  const { id } = await json<{ id: string }>(service.convert(submission({ output: { kind: 'dir' } })));
  const { output } = await service.ended(id);
  await service.restart({ retention: '1ms' });
  await until(
    async () => (await service!.call(`/v1/jobs/${id}`)).status,
    (status) => status === 404,
  );
  expect(readFileSync(join(output.path, 'output.pdf'), 'utf8')).toBe('product');
  expect(await json(service.call('/v1/stats'))).toMatchObject({ totals: { conversions: 1 } });
});
