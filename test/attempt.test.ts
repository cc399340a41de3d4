/** One attempt over a real store, real folders and a converter that does what the test says. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AttemptServices, runAttempt, runStream } from '../src/attempt.js';
import type { ConversionTask, Converter } from '../src/convert/converter-types.js';
import { sweepWorkspaces, workspaceRoot } from '../src/convert/workspace.js';
import { ServiceError } from '../src/errors.js';
import { ActiveRuns, type Run } from '../src/jobs/active-runs.js';
import { AttemptLogs, logsDirectory } from '../src/jobs/attempt-log.js';
import { cancelByForce } from '../src/jobs/forced-cancel.js';
import type { Attempt, StoredRequest } from '../src/jobs/job.js';
import { SqliteStore } from '../src/jobs/sqlite-store.js';
import { UrlHosts } from '../src/transfer/url-hosts.js';
import { newJob, temporaryFolder } from './support/jobs.js';

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;
let services: AttemptServices;
let tasks: ConversionTask[];
let faults: unknown[];
let isOpenable: boolean;
let convert: (task: ConversionTask, signal: AbortSignal) => Promise<string[]> | string[];

/** Writes one file for each text that `convert` gives. */
const converter: Converter = {
  async run(task, { signal, onOpened, onProgress }) {
    tasks.push(task);
    if (isOpenable) onOpened?.('ofd');
    const contents = await convert(task, signal);
    onProgress?.(contents.length, contents.length);
    const files = contents.map((content, index) => {
      const name = contents.length === 1 ? `${task.baseName ?? 'output'}.${task.to}` : `page-000${index + 1}.png`;
      const path = join(task.outputDirectory, name);
      writeFileSync(path, content);
      const sha256 = createHash('sha256').update(content).digest('hex');
      return { name, path, sizeBytes: content.length, sha256 };
    });
    return {
      fromActual: 'ofd',
      pages: contents.length,
      files,
      warnings: [{ code: 'image_missing', message: 'Picture 7 is not in the package', page: 1 }],
    };
  },
};

beforeEach(async () => {
  folder = temporaryFolder('attempt');
  const dbPath = join(folder.path, 'jobs.db');
  store = await SqliteStore.open({ path: dbPath });
  mkdirSync(join(folder.path, 'out'));
  const root = workspaceRoot(join(folder.path, 'temp'), dbPath);
  await sweepWorkspaces(root);
  tasks = [];
  faults = [];
  isOpenable = true;
  convert = () => ['%PDF-'];
  services = {
    store,
    converter,
    runs: new ActiveRuns({ jobTimeoutMs: 0, heartbeatTimeoutMs: 0 }),
    logs: new AttemptLogs({ directory: logsDirectory(dbPath), maxBytes: 1000 }),
    workspaceRoot: root,
    sinks: { outputDir: join(folder.path, 'out') },
    urls: { hosts: new UrlHosts([]), timeoutMs: 1000, maxBytes: 1000, followsRedirects: false },
    now: Date.now,
    onFault: (error) => faults.push(error),
  };
});

afterEach(async () => {
  expect(readdirSync(services.workspaceRoot)).toEqual([]);
  await store.close();
  folder.remove();
});

const idle = new AbortController().signal;

async function claimed(output: Partial<StoredRequest['output']> = {}, input = Buffer.from('PK')): Promise<Attempt> {
  const { request } = newJob();
  await store.submit(newJob({ request: { ...request, output: { ...request.output, ...output } } }), { bytes: input });
  const attempt = await store.claim('fast', Date.now());
  if (!attempt) throw new Error('Nothing to claim');
  return attempt;
}

describe('runAttempt', () => {
  it('converts the input under a name of its own in a private folder, and delivers', async () => {
    convert = (task) => {
      const workspace = join(task.inputPath, '..');
      expect(statSync(workspace).mode & 0o777).toBe(0o700);
      expect(basename(task.inputPath)).toBe('input.ofd');
      expect(readFileSync(task.inputPath, 'utf8')).toBe('PK');
      return ['%PDF-'];
    };
    const attempt = await claimed({ fileName: 'invoice', options: { pages: '1-2', dpi: 96 } });
    const run = services.runs.start(attempt);
    const outcome = await runAttempt(run, services);
    expect(outcome).toMatchObject({
      kind: 'succeeded',
      fromActual: 'ofd',
      inputBytes: 2,
      pages: 1,
      output: { kind: 'dir', sizeBytes: 5 },
      products: [{ name: 'invoice.pdf', reused: false }],
      warnings: [{ code: 'image_missing' }],
    });
    expect(tasks[0]).toMatchObject({ from: 'ofd', to: 'pdf', options: { pages: '1-2', dpi: 96 }, baseName: 'invoice' });
    expect(run.progress).toEqual({ done: 1, total: 1 });
    expect(await store.settle(attempt, outcome, Date.now())).toBe(true);
  });

  it('works on a copy of a large input', async () => {
    const attempt = await claimed({}, Buffer.alloc(300_000, 'x'));
    convert = (task) => {
      writeFileSync(task.inputPath, 'an engine wrote here');
      return ['x'];
    };
    expect(await runAttempt(services.runs.start(attempt), services)).toMatchObject({
      kind: 'succeeded',
      inputBytes: 300_000,
    });
    const kept = await store.input(attempt.job.id);
    expect(kept && 'path' in kept && statSync(kept.path).size).toBe(300_000);
  });

  it('takes the code and the reason of a failed conversion, and what was known by then', async () => {
    isOpenable = false;
    convert = () => {
      throw new ServiceError('conversion_failed', 'This is no OFD package', { reason: 'not_ofd' });
    };
    expect(await runAttempt(services.runs.start(await claimed()), services)).toEqual({
      kind: 'failed',
      errorCode: 'conversion_failed',
      reason: 'not_ofd',
      error: 'This is no OFD package',
      fromActual: undefined,
      inputBytes: 2,
      warnings: undefined,
      cameToDeliver: false,
    });
    expect(faults).toEqual([]);
  });

  it('knows the format of a job that fails after its input was opened', async () => {
    convert = () => {
      throw new ServiceError('conversion_failed', 'Page 3 is too large', { reason: 'too_large' });
    };
    expect(await runAttempt(services.runs.start(await claimed()), services)).toMatchObject({
      kind: 'failed',
      fromActual: 'ofd',
    });
  });

  it('knows the format of a job that fails in delivery', async () => {
    mkdirSync(join(folder.path, 'out/d'));
    writeFileSync(join(folder.path, 'out/d/output.pdf'), 'taken');
    expect(await runAttempt(services.runs.start(await claimed({ dir: 'd' })), services)).toMatchObject({
      kind: 'failed',
      errorCode: 'conflict',
      reason: undefined,
      fromActual: 'ofd',
      warnings: [{ code: 'image_missing' }],
    });
  });

  it('tells the log, and not the client, of its own faults', async () => {
    convert = () => {
      throw new TypeError('x is undefined');
    };
    const outcome = await runAttempt(services.runs.start(await claimed()), services);
    expect(outcome).toMatchObject({ kind: 'failed', errorCode: 'internal_error' });
    expect(JSON.stringify(outcome)).not.toContain('undefined');
    expect(faults).toEqual([expect.any(TypeError)]);
  });

  it.each([
    ['conversion_timeout', { kind: 'failed', errorCode: 'conversion_timeout', reason: 'timeout' }],
    ['shutting_down', { kind: 'cancelled' }],
    ['cancelled', { kind: 'cancelled' }],
  ] as const)('ends as the signal says: %s', async (code, expected) => {
    const run: Run = services.runs.start(await claimed());
    convert = async (_, signal) => {
      run.stop(new ServiceError(code, 'stop', code === 'conversion_timeout' ? { reason: 'timeout' } : {}));
      signal.throwIfAborted();
      return [];
    };
    expect(await runAttempt(run, services)).toMatchObject(expected);
    expect(readdirSync(join(folder.path, 'out'))).toEqual([]);
  });

  it('starts no conversion when it was stopped while its folders were made', async () => {
    const run = services.runs.start(await claimed());
    const { logs } = services;
    const stopping = {
      start: (jobId: string, attempt: number) => {
        run.stop(new ServiceError('cancelled', 'stop'));
        return logs.start(jobId, attempt);
      },
    };
    const outcome = await runAttempt(run, { ...services, logs: stopping as unknown as AttemptLogs });
    expect(outcome).toMatchObject({ kind: 'cancelled' });
    expect(tasks).toEqual([]);
  });
});

describe('runStream', () => {
  const begin = (): Promise<Attempt> => store.begin(newJob());
  const input = { bytes: Buffer.from('PK') };

  it('gives the product when the workspace is gone, and settles the job', async () => {
    const attempt = await begin();
    const product = await runStream(attempt, input, 1000, services, idle);
    expect(product).toMatchObject({ name: 'output.pdf', sizeBytes: 5 });
    expect(readdirSync(services.workspaceRoot)).toEqual([]);
    expect(Buffer.concat(await product.body.toArray()).toString()).toBe('%PDF-');
    expect(tasks[0]?.maxOutputBytes).toBe(1000);
    expect(await store.get(attempt.job.id)).toMatchObject({
      state: 'succeeded',
      output: { kind: 'stream', path: 'output.pdf', sizeBytes: 5 },
      products: [{ location: '' }],
    });
  });

  it('takes an input file that stays the caller’s', async () => {
    const path = join(folder.path, 'spooled');
    writeFileSync(path, 'PK!');
    const product = await runStream(await begin(), { path }, 1000, services, idle);
    product.body.destroy();
    expect(readFileSync(path, 'utf8')).toBe('PK!');
  });

  it('throws what is to be answered, and the job has failed with it', async () => {
    convert = () => {
      throw new ServiceError('output_too_large', 'more than 1000 bytes', { reason: 'too_large' });
    };
    const attempt = await begin();
    await expect(runStream(attempt, input, 1000, services, idle)).rejects.toMatchObject({
      code: 'output_too_large',
      reason: 'too_large',
    });
    expect(await store.get(attempt.job.id)).toMatchObject({ state: 'failed', errorCode: 'output_too_large' });
  });

  it('ends as cancelled when the client has gone', async () => {
    const controller = new AbortController();
    convert = () =>
      new Promise((_, reject) => {
        controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
      });
    const attempt = await begin();
    const stream = runStream(attempt, input, 1000, services, controller.signal);
    setTimeout(() => controller.abort(new ServiceError('cancelled', 'The client has gone')), 20);
    await expect(stream).rejects.toMatchObject({ code: 'cancelled' });
    expect(await store.get(attempt.job.id)).toMatchObject({ state: 'cancelled' });
    expect((await store.snapshot()).conversions).toEqual([]);
  });

  it('is found by a forced cancel, and its request is told', async () => {
    convert = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const attempt = await begin();
    const { id } = attempt.job;
    const stream = runStream(attempt, input, 1000, services, idle);
    const cancelled = cancelByForce(id, store, services.runs, Date.now);
    await expect(stream).rejects.toMatchObject({ code: 'cancelled' });
    expect(await cancelled).toBe('cancelled');
    expect(await store.get(id)).toMatchObject({ state: 'cancelled' });
    expect(services.runs.of(id)).toBeUndefined();
  });

  it('closes the product when the store cannot write down the end', async () => {
    const failing = { ...services, store: { ...services.store, settle: () => Promise.reject(new Error('disk')) } };
    const open = readdirSync('/proc/self/fd').length;
    await expect(runStream(await begin(), input, 1000, { ...failing }, idle)).rejects.toThrow('disk');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(open + 1);
  });
});

describe('workspaces', () => {
  it('of two daemons lie apart, and a sweep empties its own', async () => {
    const other = workspaceRoot(join(folder.path, 'temp'), '/elsewhere/jobs.db');
    await sweepWorkspaces(other);
    writeFileSync(join(other, 'busy'), '');
    writeFileSync(join(services.workspaceRoot, 'left'), '');
    await sweepWorkspaces(services.workspaceRoot);
    expect(readdirSync(services.workspaceRoot)).toEqual([]);
    expect(readdirSync(other)).toEqual(['busy']);
    expect(statSync(other).mode & 0o777).toBe(0o700);
  });
});
