/** The daemon as a process: its signals, its exit codes, and what it finds when it starts again (contract R5, R6, R8). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { callDaemon, copyOfBuild, Daemon } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd } from '../support/ofd-builder.js';
import { type JobAnswer, json, KEY, until } from '../support/service.js';

let folder: ReturnType<typeof temporaryFolder>;
let program: string;
let daemons: Daemon[];

beforeEach(() => {
  folder = temporaryFolder('serve');
  program = copyOfBuild(join(folder.path, 'program'));
  daemons = [];
});

afterEach(async () => {
  for (const daemon of daemons) await daemon.kill();
  folder.remove();
});

async function start(changes: Record<string, unknown> = {}): Promise<{ daemon: Daemon; url: string }> {
  const config = {
    listen: '127.0.0.1:0',
    api_key: KEY,
    db_path: join(folder.path, 'data/jobs.db'),
    temp_dir: join(folder.path, 'tmp'),
    output_dir: join(folder.path, 'out'),
    ...changes,
  };
  const configPath = join(folder.path, 'config.json');
  writeFileSync(configPath, JSON.stringify(config), { mode: 0o600 });
  const daemon = new Daemon(configPath, program);
  daemons.push(daemon);
  const url = await daemon.ready;
  if (!url) throw new Error(daemon.output);
  return { daemon, url };
}

/** Ten thousand pages as pictures: longer than any test. */
const LONG = Buffer.from(buildOfd({ pages: Array(10_000).fill('') })).toString('base64');
const SHORT = Buffer.from(buildOfd({ pages: [''] })).toString('base64');

async function submit(url: string, bytes: string, format: string): Promise<string> {
  const body = JSON.stringify({ input: { file_name: 'a.ofd', bytes }, output: { kind: 'dir', format } });
  return (await json<JobAnswer>(callDaemon(url, '/v1/convert', { method: 'POST', body }))).id;
}

function reached(url: string, id: string, state: string): Promise<JobAnswer> {
  return until(
    () => json<JobAnswer>(callDaemon(url, `/v1/jobs/${id}`)),
    (job) => job.state === state,
  );
}

it('SIGTERM takes no more, lets running work finish, and ends with 0', async () => {
  const { daemon, url } = await start({ fast_workers: 1, shutdown_grace: '60s' });
  const pages = Buffer.from(buildOfd({ pages: Array(150).fill('') })).toString('base64');
  const running = await submit(url, pages, 'png');
  await reached(url, running, 'running');
  const waiting = await submit(url, SHORT, 'txt');
  daemon.signal('SIGTERM');
  const probe = await until(
    () => fetch(`${url}/readyz`),
    ({ status }) => status === 503,
  );
  expect(await json(probe)).toMatchObject({ code: 'shutting_down' });
  const refused = await callDaemon(url, '/v1/convert', { method: 'POST', body: '{}' });
  expect([refused.status, (await json(refused)).code]).toEqual([503, 'shutting_down']);
  expect(await daemon.exited).toEqual({ code: 0, signal: null });
  const next = await start();
  expect(await reached(next.url, running, 'succeeded')).toMatchObject({ attempt: 1 });
  expect(await reached(next.url, waiting, 'succeeded')).toMatchObject({ attempt: 1 });
});

it('SIGTERM queues again what does not finish in time, with no attempt used up and nothing left behind', async () => {
  const { daemon, url } = await start({ shutdown_grace: '200ms' });
  const id = await submit(url, LONG, 'png');
  await reached(url, id, 'running');
  daemon.signal('SIGTERM');
  expect(await daemon.exited).toEqual({ code: 0, signal: null });
  expect(filesBelow('tmp')).toEqual([]);
  const next = await start({ fast_workers: 1 });
  expect(await reached(next.url, id, 'running')).toMatchObject({ attempt: 2 });
});

it('a second SIGTERM ends the process at once, not with 0', async () => {
  const { daemon, url } = await start({ shutdown_grace: '1h' });
  await reached(url, await submit(url, LONG, 'png'), 'running');
  daemon.signal('SIGTERM');
  await until(
    () => fetch(`${url}/readyz`),
    ({ status }) => status === 503,
  );
  // Closer together they count as one: a parent and the terminal tell of the same wish.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const started = performance.now();
  daemon.signal('SIGTERM');
  expect((await daemon.exited).code).not.toBe(0);
  expect(performance.now() - started).toBeLessThan(2000);
});

it('a job that ended the process so often is failed, and the others go on', async () => {
  const changes = { max_job_crashes: 2, fast_workers: 1 };
  let { daemon, url } = await start(changes);
  const poison = await submit(url, LONG, 'png');
  for (let crash = 0; crash < 2; crash += 1) {
    await reached(url, poison, 'running');
    await daemon.kill();
    ({ daemon, url } = await start(changes));
  }
  const job = await reached(url, poison, 'failed');
  expect(job).toMatchObject({ error_code: 'engine_crashed', attempt: 2 });
  expect(job.error).toContain('ended 2 times');
  await reached(url, await submit(url, SHORT, 'txt'), 'succeeded');
});

it('a start removes what a killed process left in temp_dir and half published', async () => {
  const { daemon, url } = await start();
  const id = await submit(url, LONG, 'png');
  await reached(url, id, 'running');
  await until(
    async () => filesBelow('tmp'),
    (files) => files.length > 0,
  );
  await daemon.kill();
  const own = join(folder.path, 'out', id.slice(-2), id.slice(0, -2));
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, `.${id}-1-0.part`), 'half');
  const next = await start({ max_job_crashes: 1 });
  await reached(next.url, id, 'failed');
  expect(filesBelow('tmp')).toEqual([]);
  expect(existsSync(own)).toBe(false);
});

function filesBelow(name: string): string[] {
  const entries = readdirSync(join(folder.path, name), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

it.each(['throw new Error("planted")', 'Promise.reject(new Error("planted"))'])(
  'what ends the process stands in the log file and on standard error: %s',
  async (fault) => {
    const plant = join(folder.path, 'plant.mjs');
    writeFileSync(
      plant,
      `import { isMainThread } from 'node:worker_threads';
       if (isMainThread) process.on('SIGUSR2', () => setImmediate(() => { ${fault}; }));`,
    );
    const logDir = join(folder.path, 'log');
    vi.stubEnv('NODE_OPTIONS', `--import ${pathToFileURL(plant).href}`);
    const { daemon } = await start({ log_dir: logDir, log_to_stdout: true });
    vi.unstubAllEnvs();
    daemon.signal('SIGUSR2');
    expect(await daemon.exited).toEqual({ code: 1, signal: null });
    const lines = readFileSync(join(logDir, 'ofd-server.log'), 'utf8').trim().split('\n');
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({
      level: 'fatal',
      err: { message: 'planted', stack: expect.stringContaining('plant.mjs') },
    });
    expect(daemon.output).toContain('Error: planted');
  },
);

it('a standard output that takes nothing, as on a full disk, ends no daemon and keeps none from ending', async () => {
  const configPath = join(folder.path, 'full.json');
  const keys = { listen: '127.0.0.1:0', api_key: KEY, log_dir: join(folder.path, 'log'), log_to_stdout: true };
  const paths = {
    db_path: join(folder.path, 'db/jobs.db'),
    temp_dir: join(folder.path, 'tmp'),
    output_dir: join(folder.path, 'out'),
  };
  writeFileSync(configPath, JSON.stringify({ ...keys, ...paths }));
  const full = openSync('/dev/full', 'w');
  const daemon = spawn(process.execPath, [program, '-c', configPath], { stdio: ['ignore', full, 'inherit'] });
  closeSync(full);
  const exited = once(daemon, 'exit');
  try {
    const logged = join(folder.path, 'log/ofd-server.log');
    const text = await until(
      async () => (existsSync(logged) ? readFileSync(logged, 'utf8') : ''),
      (lines) => lines.includes('"msg":"ready"'),
    );
    const port = /"port":(\d+)/.exec(text)?.[1];
    for (let i = 0; i < 5; i++) expect((await callDaemon(`http://127.0.0.1:${port}`, '/v1/stats')).status).toBe(200);
    const askedMs = performance.now();
    daemon.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    expect(performance.now() - askedMs).toBeLessThan(15_000);
  } finally {
    daemon.kill('SIGKILL');
  }
});
