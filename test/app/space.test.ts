// Volumes that run full, or take no file any more (contract V2): jobs wait, submissions are refused where there is no room
// for them, and all go on.
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callDaemon, copyOfBuild, Daemon } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd } from '../support/ofd-builder.js';
import { type JobAnswer, json, KEY, until } from '../support/service.js';

const MEBIBYTE = 1024 * 1024;
/** Of 64 MiB. */
const MIN_FREE_BYTES = 32 * MEBIBYTE;

let folder: ReturnType<typeof temporaryFolder>;
let daemon: Daemon;
let url: string;

beforeEach(() => start(MIN_FREE_BYTES));

async function start(minFreeBytes: number): Promise<void> {
  folder = temporaryFolder('space');
  const configPath = join(folder.path, 'config.json');
  const paths = { db_path: '/mnt/db/jobs.db', temp_dir: '/mnt/tmp/work', output_dir: '/mnt/out/products' };
  const keys = { listen: '127.0.0.1:0', api_key: KEY, min_free_bytes: minFreeBytes, log_to_stdout: true };
  writeFileSync(configPath, JSON.stringify({ ...keys, ...paths }), { mode: 0o600 });
  // Volumes of its own, which nobody else sees.
  const mounts = ['/mnt/db', '/mnt/out', '/mnt/tmp'].map(
    (path) => `mkdir ${path} && mount -t tmpfs -o size=64m tmpfs ${path}`,
  );
  const script = `mount -t tmpfs tmpfs /mnt && ${mounts.join(' && ')} && exec "$0" "$@"`;
  daemon = new Daemon(configPath, copyOfBuild(join(folder.path, 'program')), [
    'unshare',
    '--mount',
    'sh',
    '-c',
    script,
  ]);
  url = (await daemon.ready) ?? '';
  expect(url, daemon.output).not.toBe('');
}

afterEach(end);

async function end(): Promise<void> {
  await daemon.kill();
  folder.remove();
}

/** Where the service's own file is seen from outside. */
const inside = (path: string): string => `/proc/${daemon.pid}/root${path}`;

const BODY = JSON.stringify({
  input: { file_name: 'a.ofd', bytes: Buffer.from(buildOfd({ pages: [''] })).toString('base64') },
  output: { kind: 'dir', format: 'pdf' },
});
const submit = (): Promise<Response> => callDaemon(url, '/v1/convert', { method: 'POST', body: BODY });
const look = (id: string): Promise<JobAnswer> => json<JobAnswer>(callDaemon(url, `/v1/jobs/${id}`));
const freeBytes = async (volume: string): Promise<number> => {
  const text = await (await callDaemon(url, '/metrics')).text();
  return Number(new RegExp(`^ofd_volume_free_bytes\\{volume="${volume}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
};

it('a job waits for room on the volume of the products, and runs when there is some', async () => {
  expect(await freeBytes('output_dir')).toBeGreaterThan(60 * MEBIBYTE);
  writeFileSync(inside('/mnt/out/other'), Buffer.alloc(40 * MEBIBYTE));
  const ready = (): Promise<{ status: string; hindrances: string[] }> => json(fetch(`${url}/readyz`));
  const full = await until(ready, ({ hindrances }) => hindrances.length > 0);
  expect(full.status).toBe('ready');
  expect(full.hindrances).toEqual([
    expect.stringMatching(/^output_dir: \d+ bytes are free in \/mnt\/out\/products, min_free_bytes is 33554432$/),
  ]);
  expect(await freeBytes('output_dir')).toBeLessThan(MIN_FREE_BYTES);

  const submitted = await submit();
  expect(submitted.status).toBe(202);
  const { id } = await json<JobAnswer>(submitted);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await look(id)).toMatchObject({ state: 'queued', attempt: 0, waiting: { reason: 'no_space' } });
  expect(daemon.output).toMatch(/"level":"warn".*"msg":"no space"/);

  rmSync(inside('/mnt/out/other'));
  const ended = await until(
    () => look(id),
    ({ state }) => state !== 'queued' && state !== 'running',
  );
  expect(ended).toMatchObject({ state: 'succeeded', attempt: 1 });
  expect(existsSync(inside(`${ended.output?.path}/output.pdf`))).toBe(true);
  expect(daemon.output).toContain('"msg":"space again"');
});

it('a stream cannot wait for room to work in, and its client is told when to come again', async () => {
  writeFileSync(inside('/mnt/tmp/other'), Buffer.alloc(40 * MEBIBYTE));
  const stream = BODY.replace('"kind":"dir"', '"kind":"stream"');
  const convert = (): Promise<Response> => callDaemon(url, '/v1/convert', { method: 'POST', body: stream });
  const refused = await until(convert, ({ status }) => status !== 200);
  expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([503, 60]);
  expect(await json(refused)).toMatchObject({
    code: 'insufficient_storage',
    message: expect.stringMatching(/no room for a conversion: temp_dir: \d+ bytes are free/),
  });
  const { id } = await json<JobAnswer>(submit());
  expect(await look(id)).toMatchObject({ state: 'queued', attempt: 0, waiting: { reason: 'no_space' } });
  rmSync(inside('/mnt/tmp/other'));
  await until(
    () => look(id),
    ({ state }) => state === 'succeeded',
  );
  expect((await convert()).status).toBe(200);
});

it('without room for inputs nothing is taken, and the answer says when to come again', async () => {
  writeFileSync(inside('/mnt/db/other'), Buffer.alloc(40 * MEBIBYTE));
  const refused = await until(submit, ({ status }) => status !== 202);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await json(refused)).toMatchObject({
    code: 'insufficient_storage',
    message: expect.stringMatching(/no room for another document: db_path: \d+ bytes are free/),
  });
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, (await json<{ code: string }>(ready)).code]).toEqual([503, 'not_ready']);
  expect((await callDaemon(url, '/v1/stats')).status).toBe(200);

  rmSync(inside('/mnt/db/other'));
  const { id } = await json<JobAnswer>(await until(submit, ({ status }) => status === 202));
  const ended = await until(
    () => look(id),
    ({ state }) => state !== 'queued' && state !== 'running',
  );
  expect(ended.state).toBe('succeeded');
});

it.each([
  ['whatever it had a moment before', MIN_FREE_BYTES],
  ['also where nothing is to be kept free', 0],
])('a volume that is full to the last byte is known as full, %s', async (_when, minFreeBytes) => {
  if (minFreeBytes !== MIN_FREE_BYTES) {
    await end();
    await start(minFreeBytes);
  }
  expect(() => writeFileSync(inside('/mnt/out/other'), Buffer.alloc(80 * MEBIBYTE))).toThrow('ENOSPC');
  await until(
    () => freeBytes('output_dir'),
    (bytes) => bytes === 0,
  );
  const { id } = await json<JobAnswer>(submit());
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await look(id)).toMatchObject({ state: 'queued', attempt: 0, waiting: { reason: 'no_space' } });
  rmSync(inside('/mnt/out/other'));
  await until(
    () => look(id),
    ({ state }) => state === 'succeeded',
  );
});

it('jobs wait while the system lets nobody write to a volume, and the end is graceful then', async () => {
  const remount = (path: string, how: 'ro' | 'rw'): void => {
    execFileSync('nsenter', [`--target=${daemon.pid}`, '--mount', 'mount', '-o', `remount,${how}`, path]);
  };
  const isReady = async (): Promise<boolean> => (await fetch(`${url}/readyz`)).ok;
  const untilReady = (wanted: boolean): Promise<boolean> => until(isReady, (ready) => ready === wanted);

  remount('/mnt/out', 'ro');
  await untilReady(false);
  const { id } = await json<JobAnswer>(submit());
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await look(id)).toMatchObject({ state: 'queued', attempt: 0, waiting: { reason: 'volume_unavailable' } });
  expect(await freeBytes('output_dir')).toBeNaN();
  remount('/mnt/out', 'rw');
  const ended = await until(
    () => look(id),
    ({ state }) => state !== 'queued' && state !== 'running',
  );
  expect(ended).toMatchObject({ state: 'succeeded', attempt: 1 });
  const told = daemon.output.split('\n').filter((line) => line.includes('"volume":'));
  expect(told.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ level: 'warn', volume: 'output_dir', fault: expect.stringContaining('(EROFS)') }),
    expect.objectContaining({ level: 'info', volume: 'output_dir', msg: 'volume can be used again' }),
  ]);

  await untilReady(true);
  remount('/mnt/tmp', 'ro');
  await untilReady(false);
  const refused = await submit();
  expect([refused.status, await json(refused)]).toEqual([
    503,
    { code: 'unavailable', message: expect.stringMatching(/cannot be used: temp_dir: .*takes no file \(EROFS\)/) },
  ]);
  daemon.signal('SIGTERM');
  expect(await daemon.exited).toEqual({ code: 0, signal: null });
});
