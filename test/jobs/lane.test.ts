/** The lane over a real store, with runs that do what the test says. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { ActiveRuns, type ActiveRunsOptions, type Run } from '../../src/jobs/active-runs.js';
import { cancelByForce } from '../../src/jobs/forced-cancel.js';
import type { Job, Outcome } from '../../src/jobs/job.js';
import { Lane, type LaneOptions } from '../../src/jobs/lane.js';
import { Reaper } from '../../src/jobs/reaper.js';
import { SqliteStore } from '../../src/jobs/sqlite-store.js';
import { failed, newJob, succeeded, temporaryFolder } from '../support/jobs.js';

let folder: ReturnType<typeof temporaryFolder>;
let store: SqliteStore;
let lanes: Lane[];
let errors: unknown[];

beforeEach(async () => {
  folder = temporaryFolder('lane');
  store = await SqliteStore.open({ path: join(folder.path, 'jobs.db') });
  lanes = [];
  errors = [];
});

afterEach(async () => {
  for (const lane of lanes) await lane.drain(0);
  await store.close();
  folder.remove();
});

let runs: ActiveRuns;

function startLane(
  run: LaneOptions['run'],
  { jobTimeoutMs = 0, heartbeatTimeoutMs = 0, ...changes }: Partial<LaneOptions & ActiveRunsOptions> = {},
): Lane {
  runs = new ActiveRuns({ jobTimeoutMs, heartbeatTimeoutMs });
  const lane = new Lane({
    name: 'fast',
    workers: 2,
    store,
    run,
    retry: { maxAttempts: 1, backoffMs: 1, sinkRetryForMs: 0 },
    runs,
    now: Date.now,
    pollMs: 20,
    onError: (error) => errors.push(error),
    ...changes,
  });
  lanes.push(lane);
  lane.start();
  return lane;
}

async function submit(lane?: Lane, changes: Parameters<typeof newJob>[0] = {}): Promise<Job> {
  const { job } = await store.submit(newJob(changes), { bytes: Buffer.from('x') });
  lane?.wake();
  return job;
}

async function ended(id: string): Promise<Job> {
  for (;;) {
    const job = await store.get(id);
    if (job?.finishedAtMs !== undefined) return job;
    await pause(5);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A run that goes on until it is told to stop, and says so as attempt.ts does. */
function stopsWhenTold({ signal }: Run): Promise<Outcome> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      const { code, message, reason } = signal.reason as ServiceError;
      resolve(
        code === 'shutting_down'
          ? { kind: 'cancelled', error: message }
          : failed({ errorCode: code, error: message, reason }),
      );
    });
  });
}

describe('running', () => {
  it('runs each job once, so many at a time as there are workers', async () => {
    let running = 0;
    let most = 0;
    const started: string[] = [];
    const lane = startLane(
      async ({ attempt: { job } }) => {
        started.push(job.id);
        running += 1;
        most = Math.max(most, running);
        await pause(3);
        running -= 1;
        return succeeded();
      },
      { workers: 3 },
    );
    const jobs = await Promise.all(Array.from({ length: 60 }, () => submit(lane)));
    for (const job of jobs) expect((await ended(job.id)).state).toBe('succeeded');
    expect(started.sort()).toEqual(jobs.map((job) => job.id).sort());
    expect(most).toBe(3);
  });

  it('is woken at once, and finds by itself what nobody told it of', async () => {
    const lane = startLane(async () => succeeded(), { pollMs: 60_000 });
    await pause(50);
    const start = performance.now();
    await ended((await submit(lane)).id);
    expect(performance.now() - start).toBeLessThan(1000);
    startLane(async () => succeeded(), { name: 'heavy', pollMs: 30 });
    await pause(50);
    await ended((await submit(undefined, { lane: 'heavy' })).id);
  });

  it('makes a throw of the run a failure of that job alone', async () => {
    const lane = startLane(async ({ attempt: { job } }) => {
      if (job.highPriority) throw new TypeError('cannot read properties of undefined');
      return succeeded();
    });
    const bad = await submit(lane, { highPriority: true });
    const good = await submit(lane);
    expect(await ended(bad.id)).toMatchObject({ state: 'failed', errorCode: 'internal_error' });
    expect((await ended(bad.id)).error).not.toContain('properties');
    expect((await ended(good.id)).state).toBe('succeeded');
    expect(errors).toEqual([expect.any(TypeError)]);
  });

  it('tells the run to stop at job_timeout', async () => {
    const lane = startLane(stopsWhenTold, { jobTimeoutMs: 50 });
    const job = await ended((await submit(lane)).id);
    expect(job).toMatchObject({ state: 'failed', errorCode: 'conversion_timeout', reason: 'timeout' });
    expect(job.error).toContain('job_timeout (0.05 s)');
  });

  it('retries what may pass, after its wait, without keeping a worker', async () => {
    const starts: number[] = [];
    const lane = startLane(
      async ({ attempt: { job, number } }) => {
        if (job.to !== 'txt') return succeeded();
        starts.push(performance.now());
        return number < 3 ? failed({ errorCode: 'engine_crashed' }) : succeeded();
      },
      { workers: 1, retry: { maxAttempts: 3, backoffMs: 100, sinkRetryForMs: 0 } },
    );
    const flaky = await submit(lane, { to: 'txt' });
    await pause(50);
    expect((await store.get(flaky.id))?.waiting?.reason).toBe('retry');
    expect((await ended((await submit(lane)).id)).finishedAtMs).toBeDefined();
    expect(await ended(flaky.id)).toMatchObject({ state: 'succeeded', attempt: 3 });
    const [first = 0, second = 0, third = 0] = starts;
    expect(second - first).toBeGreaterThanOrEqual(99);
    expect(third - second).toBeGreaterThanOrEqual(199);
  });

  it('tells when a job was settled, and with what', async () => {
    const settled: string[] = [];
    const lane = startLane(async () => failed(), {
      onSettled: ({ job }, outcome) => settled.push(`${job.id} ${outcome.kind}`),
    });
    const { id } = await submit(lane);
    await ended(id);
    await pause(20);
    expect(settled).toEqual([`${id} failed`]);
  });

  it('settles as soon as a store that did not answer does', async () => {
    let refusals = 2;
    const flakyStore: LaneOptions['store'] = {
      claim: (...args) => store.claim(...args),
      requeue: (...args) => store.requeue(...args),
      settle: (...args) => {
        refusals -= 1;
        if (refusals >= 0) return Promise.reject(new ServiceError('unavailable', 'The disk hangs'));
        return store.settle(...args);
      },
    };
    const lane = startLane(async () => succeeded(), { store: flakyStore });
    expect((await ended((await submit(lane)).id)).state).toBe('succeeded');
    expect(errors).toHaveLength(2);
  });
});

describe('drain', () => {
  it('lets running work finish and claims no more', async () => {
    const lane = startLane(
      async () => {
        await pause(100);
        return succeeded();
      },
      { workers: 1 },
    );
    const first = await submit(lane);
    const second = await submit(lane);
    await pause(30);
    await lane.drain(5000);
    expect((await store.get(first.id))?.state).toBe('succeeded');
    expect(await store.get(second.id)).toMatchObject({ state: 'queued', attempt: 0 });
  });

  it('puts back in the queue what does not finish in time, with no attempt used up', async () => {
    const lane = startLane(stopsWhenTold);
    const { id } = await submit(lane);
    while (lane.running === 0) await pause(2);
    await lane.drain(50);
    expect(lane.running).toBe(0);
    expect((await store.get(id))?.state).toBe('queued');
    expect(await store.claim('fast', Date.now())).toMatchObject({ number: 2, failedRuns: 0 });
    expect((await store.snapshot()).conversions).toEqual([]);
  });

  it('does not wait for ever for a run that ignores everything, nor lets it settle later', async () => {
    let finish: (outcome: Outcome) => void = () => undefined;
    const lane = startLane(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const { id } = await submit(lane);
    while (lane.running === 0) await pause(2);
    await lane.drain(10);
    finish(succeeded());
    await pause(50);
    expect((await store.get(id))?.state).toBe('queued');
  });

  it('resolves at once where nothing runs', async () => {
    const lane = startLane(async () => succeeded());
    await pause(30);
    const start = performance.now();
    await lane.drain(30_000);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('signs of life', () => {
  it('ends a run that gives none, also without job_timeout', async () => {
    const lane = startLane(stopsWhenTold, { heartbeatTimeoutMs: 60 });
    const job = await ended((await submit(lane)).id);
    expect(job).toMatchObject({ state: 'failed', errorCode: 'conversion_timeout', reason: 'timeout' });
    expect(job.error).toContain('heartbeat_timeout (0.06 s)');
  });

  it('lets a run go on that gives them', async () => {
    const lane = startLane(
      async (run) => {
        for (let page = 1; page <= 6; page += 1) {
          await pause(40);
          run.advance({ done: page, total: 6 });
        }
        run.signal.throwIfAborted();
        return succeeded();
      },
      { heartbeatTimeoutMs: 120 },
    );
    expect((await ended((await submit(lane)).id)).state).toBe('succeeded');
  });
});

describe('cancelByForce', () => {
  const cancel = (id: string) => cancelByForce(id, store, runs, Date.now);

  it('ends a queued job, and stops a running one before it answers', async () => {
    let isStopped = false;
    const lane = startLane(
      async (run) => {
        const outcome = await stopsWhenTold(run);
        await pause(80);
        isStopped = true;
        return { ...outcome, kind: 'cancelled' };
      },
      { workers: 1 },
    );
    const running = await submit(lane);
    const queued = await submit(lane);
    while (!runs.of(running.id)) await pause(2);
    expect(await cancel(queued.id)).toBe('cancelled');
    expect(isStopped).toBe(false);
    expect(await cancel(running.id)).toBe('cancelled');
    expect(isStopped).toBe(true);
    expect(await store.get(running.id)).toMatchObject({ state: 'cancelled', errorCode: 'cancelled' });
    expect((await store.snapshot()).conversions).toEqual([]);
    expect(await cancel(running.id)).toBe('not_cancellable');
    expect(await cancel('nosuchjob')).toBe('not_found');
  });

  it('does not queue again what was about to be tried once more', async () => {
    const lane = startLane(
      async (run) => {
        await stopsWhenTold(run);
        return failed({ errorCode: 'engine_crashed' });
      },
      { retry: { maxAttempts: 5, backoffMs: 1, sinkRetryForMs: 0 } },
    );
    const { id } = await submit(lane);
    while (!runs.of(id)) await pause(2);
    expect(await cancel(id)).toBe('not_cancellable');
    expect(await store.get(id)).toMatchObject({ state: 'failed', attempt: 1 });
  });

  it('tells that a job had ended before it could be stopped', async () => {
    const lane = startLane(async () => {
      await pause(50);
      return succeeded();
    });
    const { id } = await submit(lane);
    while (!runs.of(id)) await pause(2);
    expect(await cancel(id)).toBe('not_cancellable');
    expect((await store.get(id))?.state).toBe('succeeded');
  });
});

describe('the reaper', () => {
  it('gives back what nobody runs, and leaves the rest', async () => {
    let release: () => void = () => undefined;
    const lane = startLane(
      () =>
        new Promise((resolve) => {
          release = () => resolve(succeeded());
        }),
      { workers: 1 },
    );
    const running = await submit(lane);
    while (!runs.of(running.id)) await pause(2);
    const lost = await submit(undefined, { lane: 'heavy' });
    await store.claim('heavy', Date.now());
    const stream = await store.begin(newJob());
    const reaped: string[] = [];
    const reaper = new Reaper({
      store,
      runs,
      now: Date.now,
      everyMs: 30,
      onReaped: ({ job }) => reaped.push(job.id),
      onError: (error) => errors.push(error),
    });
    reaper.start();
    await pause(150);
    await reaper.close();
    expect(reaped.sort()).toEqual([lost.id, stream.job.id].sort());
    expect(await store.get(lost.id)).toMatchObject({ state: 'queued' });
    expect(await store.get(stream.job.id)).toMatchObject({ state: 'failed', errorCode: 'internal_error' });
    release();
    expect((await ended(running.id)).state).toBe('succeeded');
    expect(errors).toEqual([]);
  });
});
