// Volumes that hang (contract V3): a file server that stands still under each folder of the service in turn.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callDaemon, copyOfBuild, Daemon } from '../support/daemon.js';
import { HangingFolder } from '../support/hanging-folder.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd } from '../support/ofd-builder.js';
import { type JobAnswer, json, KEY, until } from '../support/service.js';

// Each looks several times for what comes after seconds.
vi.setConfig({ testTimeout: 180_000 });

let folder: ReturnType<typeof temporaryFolder>;
let volume: HangingFolder;
let program: string;
let daemon: Daemon;
let url: string;

beforeEach(async () => {
  folder = temporaryFolder('hang');
  volume = await HangingFolder.mount(folder.path);
  program = copyOfBuild(join(folder.path, 'program'));
});

afterEach(async () => {
  await volume.close();
  await daemon.kill();
  folder.remove();
});

/** As the launchers start it: with threads enough for the calls that are stuck. */
async function start(keys: Record<string, unknown>): Promise<void> {
  const configPath = join(folder.path, 'config.json');
  const own = { db_path: join(folder.path, 'db/jobs.db'), temp_dir: join(folder.path, 'tmp') };
  const common = { listen: '127.0.0.1:0', api_key: KEY, log_to_stdout: true, output_dir: join(folder.path, 'out') };
  const bounds = { fast_workers: 2, heavy_workers: 1, shutdown_grace: '1s', min_free_bytes: 1 };
  writeFileSync(configPath, JSON.stringify({ ...common, ...own, ...bounds, ...keys }), { mode: 0o600 });
  daemon = new Daemon(configPath, program, ['env', 'UV_THREADPOOL_SIZE=16']);
  url = (await daemon.ready) ?? '';
  expect(url, daemon.output).not.toBe('');
}

const OFD = buildOfd({ pages: [''] });
const submit = (output: Record<string, unknown>, bytes: Uint8Array = OFD): Promise<Response> => {
  const input = { file_name: 'a.ofd', bytes: Buffer.from(bytes).toString('base64') };
  return callDaemon(url, '/v1/convert', { method: 'POST', body: JSON.stringify({ input, output }) });
};
const submitted = async (output: Record<string, unknown>): Promise<string> => {
  const response = await submit(output);
  expect(response.status, await response.clone().text()).toBe(202);
  return (await json<JobAnswer>(response)).id;
};
const get = (id: string): Promise<JobAnswer> => json<JobAnswer>(callDaemon(url, `/v1/jobs/${id}`));
const ended = (id: string): Promise<JobAnswer> =>
  until(
    () => get(id),
    ({ state }) => state !== 'queued' && state !== 'running',
  );

async function tookMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Hangs the volume; /readyz has to know within two seconds, and the probes answer all the time. */
async function hang(reason: RegExp): Promise<void> {
  volume.hang();
  const knownMs = await tookMs(async () => {
    const refused = await until(
      () => fetch(`${url}/readyz`),
      ({ status }) => status === 503,
    );
    expect(await json(refused)).toMatchObject({ code: 'not_ready', message: expect.stringMatching(reason) });
  });
  expect(knownMs).toBeLessThan(2500);
  await probesAnswer();
}

async function probesAnswer(): Promise<void> {
  for (const path of ['/healthz', '/metrics', '/healthz', '/metrics']) {
    expect(await tookMs(async () => expect((await callDaemon(url, path)).status).toBe(200)), path).toBeLessThan(1000);
  }
}

async function goOn(): Promise<void> {
  volume.goOn();
  await until(
    async () => (await fetch(`${url}/readyz`)).status,
    (status) => status === 200,
  );
}

/**
 * SIGTERM ends it though calls are stuck that nothing ends: it kills itself. A call that the server had begun with keeps its
 * thread in the kernel, as no signal ends that; nothing else of the process is left.
 */
async function endsWhileHung(): Promise<void> {
  const start = performance.now();
  daemon.signal('SIGTERM');
  await until(async () => isDead(daemon.pid), Boolean);
  expect(performance.now() - start).toBeLessThan(60_000);
  volume.goOn();
  expect(await daemon.exited).toEqual({ code: null, signal: 'SIGKILL' });
}

/** Gone, or with its first thread ended. */
function isDead(pid: number): boolean {
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

describe('output_dir', () => {
  it('keeps its jobs waiting and stops nothing else', async () => {
    await start({ output_dir: join(volume.path, 'out') });
    const before = await submitted({ kind: 'dir', format: 'pdf' });
    await ended(before);
    await hang(/^output_dir: no answer/);

    const waiting = await submitted({ kind: 'dir', format: 'pdf', dir: 'deep/er' });
    const heavy = await submitted({ kind: 'dir', format: 'txt' });
    expect((await submit({ kind: 'stream', format: 'txt' })).status).toBe(200);
    const content = await callDaemon(url, `/v1/jobs/${before}/content`);
    expect([content.status, (await json(content)).code]).toEqual([503, 'unavailable']);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    for (const id of [waiting, heavy]) {
      expect(await get(id)).toMatchObject({ state: 'queued', attempt: 0, waiting: { reason: 'volume_unavailable' } });
    }
    await probesAnswer();

    await goOn();
    expect(await ended(waiting)).toMatchObject({ state: 'succeeded', attempt: 1 });
    expect(await ended(heavy)).toMatchObject({ state: 'succeeded', attempt: 1 });
    expect((await callDaemon(url, `/v1/jobs/${before}/content`)).status).toBe(200);
    expect(volume.names.filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('takes with it the workers that were there, no others, and the process can be ended', async () => {
    const target = { endpoint: 'http://127.0.0.1:1/', timeout_seconds: 2 };
    await start({
      output_dir: join(volume.path, 'out'),
      fast_workers: 4,
      webdav_targets: { nobody: target },
    });
    // Jobs that are on their way to output_dir as it hangs.
    const ids = await Promise.all(
      Array.from({ length: 2 }, () => submitted({ kind: 'dir', format: 'png', options: { dpi: 150 } })),
    );
    await hang(/^output_dir: no answer/);
    // A job for elsewhere is run meanwhile: nobody is there to take its product, which is an end of its own.
    const elsewhere = await submitted({ kind: 'webdav', format: 'pdf', remote: { target: 'nobody' } });
    expect(await ended(elsewhere)).toMatchObject({ state: 'failed', error_code: 'sink_unreachable' });
    expect((await submit({ kind: 'stream', format: 'pdf' })).status).toBe(200);
    await probesAnswer();
    await endsWhileHung();
    await start({ output_dir: join(volume.path, 'out') });
    for (const id of ids) expect((await ended(id)).state).toBe('succeeded');
  });
});

describe('temp_dir', () => {
  it('stops what needs it, which is told to come again', async () => {
    await start({ temp_dir: join(volume.path, 'tmp') });
    const id = await submitted({ kind: 'dir', format: 'pdf' });
    expect(await ended(id)).toMatchObject({ state: 'succeeded' });
    await hang(/^temp_dir: no answer/);
    for (const kind of ['stream', 'dir']) {
      const refused = await submit({ kind, format: 'pdf' }, Buffer.alloc(300_000));
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true]);
      expect(await json(refused)).toMatchObject({ code: 'unavailable', message: expect.stringContaining('temp_dir') });
    }
    expect((await callDaemon(url, `/v1/jobs/${id}/content`)).status).toBe(200);
    expect((await get(id)).state).toBe('succeeded');
    await probesAnswer();
    await goOn();
    expect(await (await submit({ kind: 'stream', format: 'pdf' })).text()).toMatch(/^%PDF/);
    // A file that is sent is open while its folder is removed, which a server of files does not like.
    await until(
      async () => volume.names,
      (names) => !names.some((name) => name.includes('fuse_hidden') || name.includes('products')),
    );
    await hang(/^temp_dir: no answer/);
    await endsWhileHung();
  });

  it('hangs under threads that convert, and the process can be ended', async () => {
    await start({ temp_dir: join(volume.path, 'tmp') });
    const pages = buildOfd({ pages: Array(400).fill('') });
    const response = await submit({ kind: 'dir', format: 'png' }, pages);
    const { id } = await json<JobAnswer>(response);
    await until(
      () => get(id),
      ({ progress, state }) => progress !== undefined || state === 'failed',
    );
    await hang(/^temp_dir: no answer/);
    await probesAnswer();
    await endsWhileHung();
    await start({ temp_dir: join(volume.path, 'tmp') });
    await callDaemon(url, `/v1/jobs/${id}/cancel?force=true`, { method: 'POST' });
  });
});

describe('the database’s volume', () => {
  it('refuses what needs the store, within five seconds, and is back by itself', async () => {
    await start({ db_path: join(volume.path, 'db/jobs.db'), fast_workers: 1 });
    const id = await submitted({ kind: 'dir', format: 'pdf' });
    expect(await ended(id)).toMatchObject({ state: 'succeeded' });
    const long = Buffer.from(buildOfd({ pages: Array(3000).fill('') }));
    const running = (await json<JobAnswer>(await submit({ kind: 'dir', format: 'png' }, long))).id;
    const queued = await submitted({ kind: 'dir', format: 'txt' });
    await hang(/^db_path: no answer/);
    // The first that writes waits as long as it may; what comes then is told at once.
    const cancelMs = await tookMs(async () => {
      const refused = await callDaemon(url, `/v1/jobs/${queued}/cancel`, { method: 'POST' });
      expect([refused.status, (await json(refused)).code]).toEqual([503, 'unavailable']);
    });
    expect(cancelMs).toBeLessThan(6500);
    for (const path of [`/v1/jobs/${id}`, '/v1/jobs', '/v1/stats', `/v1/jobs/${id}/log`, '/v1/dead-letters']) {
      const ms = await tookMs(async () => {
        const refused = await callDaemon(url, path);
        expect([refused.status, (await json(refused)).code], path).toEqual([503, 'unavailable']);
      });
      expect(ms, path).toBeLessThan(1000);
    }
    for (const kind of ['dir', 'stream']) {
      const refused = await submit({ kind, format: 'pdf' });
      expect([refused.status, (await json(refused)).code]).toEqual([503, 'unavailable']);
    }
    await probesAnswer();
    const metrics = await (await callDaemon(url, '/metrics')).text();
    expect(metrics).not.toContain('ofd_queue_depth{');
    expect(metrics).toContain('process_resident_memory_bytes');

    await goOn();
    // Refused as it was, the cancelling has its effect: its asker was told that nobody knows.
    expect(await ended(queued)).toMatchObject({ state: 'cancelled' });
    await callDaemon(url, `/v1/jobs/${running}/cancel?force=true`, { method: 'POST' });
    const next = await submitted({ kind: 'dir', format: 'txt' });
    expect(await ended(next)).toMatchObject({ state: 'succeeded', attempt: 1 });
    await hang(/^db_path: no answer/);
    await endsWhileHung();
  });
});

it('the log’s volume stops no work and no end', async () => {
  await start({ log_dir: join(volume.path, 'log') });
  volume.hang();
  for (let round = 0; round < 3; round += 1) {
    expect((await submit({ kind: 'stream', format: 'pdf' })).status).toBe(200);
    await ended(await submitted({ kind: 'dir', format: 'pdf' }));
  }
  await probesAnswer();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  await until(
    async () => (await callDaemon(url, '/metrics')).text(),
    (text) => !text.includes('ofd_volume_free_bytes{volume="log_dir"}'),
  );
  await endsWhileHung();
});

it('a volume that hangs at start is named, and the start ends', async () => {
  await start({});
  await daemon.kill();
  volume.hang();
  const configPath = join(folder.path, 'config.json');
  const keys = { listen: '127.0.0.1:0', api_key: KEY, log_to_stdout: true, db_path: join(folder.path, 'db/jobs.db') };
  writeFileSync(configPath, JSON.stringify({ ...keys, temp_dir: join(volume.path, 'tmp'), output_dir: folder.path }));
  daemon = new Daemon(configPath, program);
  await daemon.exited;
  expect(daemon.output).toMatch(/^ofd-server: temp_dir: \S+\/tmp gives no answer \(waited 15000 ms\): is the server/m);
});

it('a pipe in the place of an input or of a product holds no worker', async () => {
  await start({ fast_workers: 1, output_dir: join(folder.path, 'out') });
  execFileSync('mkdir', ['-p', join(folder.path, 'out/box')]);
  execFileSync('mkfifo', [join(folder.path, 'out/box/output.pdf')]);
  const conflict = await submitted({ kind: 'dir', format: 'pdf', dir: 'box' });
  expect(await ended(conflict)).toMatchObject({ state: 'failed', error_code: 'conflict' });

  // While the only worker is busy, the kept input of the next job becomes a pipe that nobody writes.
  const busy = await json<JobAnswer>(
    await submit({ kind: 'dir', format: 'png' }, buildOfd({ pages: Array(3000).fill('') })),
  );
  await until(
    () => get(busy.id),
    ({ state }) => state === 'running',
  );
  const inputs = join(folder.path, 'db/inputs');
  const before = new Set(readdirSync(inputs));
  const large = Buffer.concat([buildOfd({ pages: [''] }), Buffer.alloc(100_000)]);
  const { id } = await json<JobAnswer>(await submit({ kind: 'dir', format: 'pdf' }, large));
  const [name = ''] = readdirSync(inputs).filter((candidate) => !before.has(candidate));
  rmSync(join(inputs, name));
  execFileSync('mkfifo', [join(inputs, name)]);
  await callDaemon(url, `/v1/jobs/${busy.id}/cancel?force=true`, { method: 'POST' });
  expect(await ended(id)).toMatchObject({ state: 'failed', error_code: 'internal_error' });
  expect(await ended(await submitted({ kind: 'dir', format: 'txt' }))).toMatchObject({ state: 'succeeded' });
});
