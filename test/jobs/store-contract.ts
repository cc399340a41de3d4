/** What every JobStore must do; run for each implementation. Its targets of notifications: `erp` hears all, `failures` those. */
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt, Outcome, StoredRequest } from '../../src/jobs/job.js';
import type { JobFilter, JobStore, KeptInput } from '../../src/jobs/store.js';
import { failed, newJob, succeeded, temporaryFolder } from '../support/jobs.js';

const NOW = 1_700_000_000_000;
const BYTES = Buffer.from('input');
const NONE_PENDING = [
  { state: 'pending', count: 0 },
  { state: 'abandoned', count: 0 },
];

export function describeJobStore(name: string, open: (folder: string) => Promise<JobStore>): void {
  describe(name, () => {
    let folder: ReturnType<typeof temporaryFolder>;
    let store: JobStore;

    beforeEach(async () => {
      folder = temporaryFolder('store');
      store = await open(folder.path);
      await store.recover({ nowMs: NOW, maxJobCrashes: 3 });
    });

    afterEach(async () => {
      await store.close();
      folder.remove();
    });

    const submit = async (changes: Parameters<typeof newJob>[0] = {}) =>
      (await store.submit(newJob(changes), { bytes: BYTES })).job;
    const claim = async (lane: 'fast' | 'heavy' = 'fast'): Promise<Attempt> => {
      const attempt = await store.claim(lane, NOW);
      if (!attempt) throw new Error('Nothing to claim');
      return attempt;
    };
    const reopen = async (nowMs = NOW, maxJobCrashes = 3) => {
      await store.close();
      store = await open(folder.path);
      return store.recover({ nowMs, maxJobCrashes });
    };

    describe('submit', () => {
      it('gives the job back as it will be read', async () => {
        const job = await submit();
        expect(job).toMatchObject({ state: 'queued', attempt: 0, from: 'ofd', to: 'pdf', inputBytes: 5, warnings: [] });
        expect(job.id).toMatch(/^[0-9a-z]{12}$/);
        expect(await store.get(job.id)).toEqual(job);
      });

      it('keeps a small input and a large one until the job has succeeded', async () => {
        const large = Buffer.alloc(5_000_000, 'x');
        for (const bytes of [Buffer.alloc(0), BYTES, Buffer.alloc(64 * 1024, 1), large]) {
          const { job } = await store.submit(newJob(), { bytes });
          expect((await bytesOf(await store.input(job.id)))?.equals(bytes)).toBe(true);
          await store.settle(await claim(), succeeded(), NOW);
          expect(await store.input(job.id)).toBeUndefined();
        }
      });

      it('takes a file as its own, small or large', async () => {
        for (const size of [10, 200_000]) {
          const path = join(folder.path, 'spooled');
          writeFileSync(path, Buffer.alloc(size, 'y'));
          const { job } = await store.submit(newJob(), { path });
          expect(await bytesOf(await store.input(job.id))).toHaveLength(size);
          await expect(readFile(path)).rejects.toThrow('ENOENT');
        }
      });

      it('needs no input for a job that fetches its own', async () => {
        const { job } = await store.submit(newJob(), undefined);
        expect(await store.input(job.id)).toBeUndefined();
        expect((await claim()).job.id).toBe(job.id);
      });

      it('numbers jobs upwards within one instant, after the clock stepped back, and after a restart', async () => {
        const ids: string[] = [];
        for (let index = 0; index < 50; index += 1) ids.push((await submit()).id);
        for (let index = 0; index < 50; index += 1) ids.push((await submit({ createdAtMs: NOW - 86_400_000 })).id);
        await reopen();
        ids.push((await submit({ createdAtMs: NOW - 86_400_000 })).id);
        expect(ids).toEqual([...ids].sort());
        expect(new Set(ids).size).toBe(ids.length);
      });

      it('numbers jobs upwards though retention has removed the last one', async () => {
        const last = await submit();
        await store.cancel(last.id, NOW);
        expect(await store.prune(NOW + 1, 10)).toBe(1);
        await reopen();
        expect((await submit({ createdAtMs: NOW - 1000 })).id > last.id).toBe(true);
      });
    });

    describe('claim', () => {
      it('hands each job to one of many claimers', async () => {
        const submitted = await Promise.all(Array.from({ length: 300 }, () => submit()));
        const claimed = await Promise.all(Array.from({ length: 400 }, () => store.claim('fast', NOW)));
        const ids = claimed.flatMap((attempt) => attempt?.job.id ?? []);
        expect([...ids].sort()).toEqual(submitted.map((job) => job.id).sort());
      });

      it('takes high priority first, then the oldest, of its own lane alone', async () => {
        const first = await submit();
        const second = await submit();
        const heavy = await submit({ lane: 'heavy' });
        const urgent = await submit({ highPriority: true });
        const order = [await claim(), await claim(), await claim()].map((attempt) => attempt.job.id);
        expect(order).toEqual([urgent.id, first.id, second.id]);
        expect(await store.claim('fast', NOW)).toBeUndefined();
        expect((await claim('heavy')).job.id).toBe(heavy.id);
      });

      it('counts the run when it starts', async () => {
        const { id } = await submit();
        expect(await claim()).toMatchObject({ number: 1, failedRuns: 0 });
        expect(await store.get(id)).toMatchObject({ state: 'running', attempt: 1, startedAtMs: NOW });
      });
    });

    describe('settle', () => {
      it('writes down what a run made', async () => {
        const { id } = await submit();
        expect(await store.settle(await claim(), succeeded({ inputBytes: 9 }), NOW + 5)).toBe(true);
        const job = await store.get(id);
        const { kind: _, ...rest } = succeeded({ inputBytes: 9 });
        expect(job).toMatchObject({ ...rest, state: 'succeeded', finishedAtMs: NOW + 5 });
      });

      it('writes down why a run failed, and keeps its input', async () => {
        const { id } = await submit();
        await store.settle(await claim(), failed(), NOW);
        expect(await store.get(id)).toMatchObject({
          state: 'failed',
          errorCode: 'conversion_failed',
          reason: 'corrupt',
          error: 'The ZIP is cut',
        });
        expect(await bytesOf(await store.input(id))).toEqual(BYTES);
      });

      it('ignores a run that no longer owns its job', async () => {
        const { id } = await submit();
        const stale = await claim();
        await store.requeue(stale);
        expect(await store.settle(stale, succeeded(), NOW)).toBe(false);
        const current = await claim();
        expect(current.number).toBe(2);
        expect(await store.settle(stale, failed(), NOW)).toBe(false);
        expect(await store.requeue(stale)).toBe(false);
        expect(await store.settle(current, succeeded(), NOW)).toBe(true);
        expect(await store.settle(current, failed(), NOW)).toBe(false);
        expect(await store.get(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
        expect((await store.snapshot()).conversions).toEqual([
          { from: 'ofd', to: 'pdf', state: 'succeeded', count: 1 },
        ]);
      });

      it('queues a retry that runs when its time has come, before the same age and after high priority', async () => {
        const { id } = await submit();
        const retry = { ...failed({ errorCode: 'engine_crashed' }), kind: 'retry', runAtMs: NOW + 1000 } as const;
        await store.settle(await claim(), { ...retry, waitingReason: 'retry' }, NOW);
        expect(await store.get(id)).toMatchObject({
          state: 'queued',
          waiting: { reason: 'retry', sinceMs: NOW, nextAttemptAtMs: NOW + 1000 },
        });
        expect(await store.claim('fast', NOW + 999)).toBeUndefined();
        expect((await store.snapshot()).queue).toEqual({ queued: 1, running: 0 });
        expect(await store.claim('fast', NOW + 1000)).toMatchObject({ number: 2, failedRuns: 1, job: { id } });
      });

      it('clears the fault of an earlier run when a later one succeeds', async () => {
        const { id } = await submit();
        const retry = { ...failed(), kind: 'retry', runAtMs: NOW, waitingReason: 'retry' } as const;
        await store.settle(await claim(), retry, NOW);
        await store.settle(await claim(), succeeded(), NOW);
        expect(await store.get(id)).toMatchObject({ state: 'succeeded', error: undefined, errorCode: undefined });
      });

      it('uses up no run for one that was interrupted', async () => {
        await submit();
        expect(await store.requeue(await claim())).toBe(true);
        expect(await claim()).toMatchObject({ number: 2, failedRuns: 0 });
      });
    });

    describe('cancel', () => {
      it('ends a queued job and one that waits for its retry, and drops their inputs', async () => {
        const waiting = await submit();
        const retry = { ...failed(), kind: 'retry', runAtMs: NOW + 9e9, waitingReason: 'retry' } as const;
        await store.settle(await claim(), retry, NOW);
        const queued = await submit();
        for (const { id } of [waiting, queued]) {
          expect(await store.cancel(id, NOW)).toBe('cancelled');
          expect(await store.get(id)).toMatchObject({ state: 'cancelled', errorCode: 'cancelled', waiting: undefined });
          expect(await store.input(id)).toBeUndefined();
          expect(await store.cancel(id, NOW)).toBe('not_cancellable');
        }
        expect(await store.claim('fast', NOW + 9e10)).toBeUndefined();
      });

      it('leaves running and unknown jobs alone', async () => {
        const { id } = await submit();
        await claim();
        expect(await store.cancel(id, NOW)).toBe('not_cancellable');
        expect(await store.cancel('nosuchjob', NOW)).toBe('not_found');
      });
    });

    describe('streams', () => {
      it('run from the beginning, never stand in the queue, and are counted when they end', async () => {
        const attempt = await store.begin(newJob());
        expect(attempt).toMatchObject({ number: 1, job: { state: 'running', isStream: true } });
        expect(await store.claim('fast', NOW)).toBeUndefined();
        expect((await store.snapshot()).queue).toEqual({ queued: 0, running: 0 });
        expect(await store.requeue(attempt)).toBe(false);
        await store.settle(attempt, succeeded(), NOW);
        expect((await store.snapshot()).conversions).toHaveLength(1);
      });
    });

    describe('counters', () => {
      it('equal the jobs that ended, by format and state, cancelled ones apart', async () => {
        expect(await store.snapshot()).toEqual({
          sinceMs: undefined,
          conversions: [],
          inputBytes: [],
          outputBytes: [],
          notifications: [],
          queue: { queued: 0, running: 0 },
          pendingNotifications: NONE_PENDING,
          deadLetters: 0,
        });
        await submit();
        await store.settle(await claim(), succeeded({ inputBytes: 100 }), NOW + 1);
        await submit();
        await store.settle(await claim(), failed(), NOW + 2);
        await submit({ to: 'txt' });
        await store.settle(await claim(), failed({ fromActual: 'ofd' }), NOW + 3);
        await submit();
        await store.settle(await claim(), { kind: 'cancelled' }, NOW + 4);
        await store.cancel((await submit()).id, NOW);
        await submit();
        await claim();
        await submit();
        expect(await store.snapshot()).toEqual({
          sinceMs: NOW + 1,
          conversions: [
            { from: 'ofd', to: 'pdf', state: 'succeeded', count: 1 },
            { from: 'ofd', to: 'txt', state: 'failed', count: 1 },
            { from: 'unknown', to: 'pdf', state: 'failed', count: 1 },
          ],
          inputBytes: [
            { from: 'ofd', bytes: 105 },
            { from: 'unknown', bytes: 5 },
          ],
          outputBytes: [{ from: 'ofd', to: 'pdf', bytes: 7 }],
          notifications: [],
          queue: { queued: 1, running: 1 },
          pendingNotifications: NONE_PENDING,
          deadLetters: 0,
        });
      });

      it('stay when retention removes the jobs step by step', async () => {
        const old = await Promise.all(Array.from({ length: 25 }, () => submit()));
        for (const _ of old) await store.settle(await claim(), succeeded(), NOW);
        const { job: kept } = await store.submit(newJob(), { bytes: Buffer.alloc(100_000) });
        await store.settle(await claim(), failed(), NOW + 10);
        const open = await submit();
        const before = await store.snapshot();
        expect(await store.prune(NOW + 10, 10)).toBe(10);
        expect(await store.prune(NOW + 10, 10)).toBe(10);
        expect(await store.prune(NOW + 10, 10)).toBe(5);
        expect(await store.prune(NOW + 10, 10)).toBe(0);
        expect(await store.get(old[0]?.id ?? '')).toBeUndefined();
        expect(await store.get(kept.id)).toBeDefined();
        expect(await store.prune(NOW + 9e9, 10)).toBe(1);
        expect(await store.input(kept.id)).toBeUndefined();
        expect(await store.get(open.id)).toBeDefined();
        expect(await store.snapshot()).toEqual(before);
      });
    });

    describe('recover', () => {
      it('queues again what ran, uses up no attempt, and ends streams', async () => {
        const { id } = await submit();
        await claim();
        const stream = await store.begin(newJob());
        expect(await reopen()).toMatchObject({ requeued: 1, failed: 1, orphanInputs: 0, interrupted: [{ id }] });
        expect(await store.get(stream.job.id)).toMatchObject({ state: 'failed', errorCode: 'engine_crashed' });
        expect(await store.claim('fast', NOW)).toMatchObject({ number: 2, failedRuns: 0, job: { id } });
      });

      it('fails a job that ended the process too often', async () => {
        const { id } = await submit();
        for (const expected of [
          { requeued: 1, failed: 0 },
          { requeued: 1, failed: 0 },
          { requeued: 0, failed: 1 },
        ]) {
          await claim();
          expect(await reopen()).toMatchObject(expected);
        }
        expect(await store.get(id)).toMatchObject({ state: 'failed', errorCode: 'engine_crashed', attempt: 3 });
        expect(await bytesOf(await store.input(id))).toEqual(BYTES);
      });
    });

    describe('idempotency', () => {
      const keyed = (key: string, hash: string, bytes = BYTES) =>
        store.submit(newJob({ idempotency: { key, requestHash: hash } }), { bytes });

      it('gives the first job for the same key and request, whatever has become of it', async () => {
        const first = await keyed('k', 'a');
        expect(first.isReplay).toBe(false);
        expect(await keyed('k', 'a')).toEqual({ job: first.job, isReplay: true });
        expect((await keyed('other', 'a')).isReplay).toBe(false);
        await store.settle(await claim(), succeeded(), NOW);
        await reopen();
        expect(await keyed('k', 'a')).toMatchObject({ isReplay: true, job: { id: first.job.id, state: 'succeeded' } });
      });

      it('refuses another request with a key that is taken', async () => {
        const { job } = await keyed('k', 'a');
        await expect(keyed('k', 'b')).rejects.toMatchObject({
          code: 'conflict',
          message: expect.stringContaining(job.id),
        });
        expect((await store.snapshot()).queue.queued).toBe(1);
      });

      it('makes one job of many at a time, and keeps one input', async () => {
        const answers = await Promise.all(Array.from({ length: 50 }, () => keyed('k', 'a', Buffer.alloc(100_000))));
        expect(new Set(answers.map(({ job }) => job.id)).size).toBe(1);
        expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
        expect(await bytesOf(await store.input(answers[0]?.job.id ?? ''))).toHaveLength(100_000);
        await store.ping();
        expect(await reopen()).toMatchObject({ orphanInputs: 0 });
      });

      it('frees the key with the record', async () => {
        const { job } = await keyed('k', 'a');
        await store.cancel(job.id, NOW);
        await store.prune(NOW + 1, 10);
        expect((await keyed('k', 'b')).isReplay).toBe(false);
      });
    });

    describe('dead letters', () => {
      const end = async (outcome: Parameters<typeof store.settle>[1]): Promise<string> => {
        const { id } = await submit();
        await store.settle(await claim(), outcome, NOW);
        return id;
      };

      it('are jobs whose runs were used up and those that met another product', async () => {
        const crashed = await end(failed({ errorCode: 'engine_crashed' }));
        const conflicting = await end(failed({ errorCode: 'conflict' }));
        const corrupt = await end(failed());
        const fine = await end(succeeded());
        await store.settle(await store.begin(newJob()), failed({ errorCode: 'conversion_timeout' }), NOW);
        const { jobs } = await store.list({ isDeadLetter: true }, 10, undefined);
        expect(jobs.map((job) => [job.id, job.errorCode, job.attempt])).toEqual([
          [conflicting, 'conflict', 1],
          [crashed, 'engine_crashed', 1],
        ]);
        expect((await store.snapshot()).deadLetters).toBe(2);
        for (const id of [corrupt, fine]) expect(await store.retry(id)).toBe('not_retryable');
        expect(await store.retry('nosuchjob')).toBe('not_found');
      });

      it('run again with their input, counted from the beginning, and count again', async () => {
        const id = await end(failed({ errorCode: 'engine_crashed' }));
        expect(await store.retry(id)).toBe('queued');
        expect(await store.retry(id)).toBe('not_retryable');
        expect(await store.get(id)).toMatchObject({ state: 'queued', error: undefined, finishedAtMs: undefined });
        expect((await store.snapshot()).deadLetters).toBe(0);
        expect(await bytesOf(await store.input(id))).toEqual(BYTES);
        const again = await claim();
        expect(again).toMatchObject({ number: 2, failedRuns: 0, job: { id } });
        await store.settle(again, succeeded(), NOW);
        expect((await store.snapshot()).conversions).toEqual([
          { from: 'ofd', to: 'pdf', state: 'succeeded', count: 1 },
          { from: 'unknown', to: 'pdf', state: 'failed', count: 1 },
        ]);
      });
    });

    describe('list', () => {
      it('gives pages, newest first, that do not move when jobs come and go', async () => {
        const ids: string[] = [];
        for (let index = 0; index < 7; index += 1) ids.unshift((await submit()).id);
        const first = await store.list({}, 3, undefined);
        await submit();
        const second = await store.list({}, 3, first.nextCursor);
        await store.cancel(ids[6] ?? '', NOW);
        await store.prune(NOW + 1, 1);
        const third = await store.list({}, 3, second.nextCursor);
        const seen = [first, second, third].map(({ jobs }) => jobs.map((job) => job.id));
        expect(seen).toEqual([ids.slice(0, 3), ids.slice(3, 6), []]);
        expect(third.nextCursor).toBeUndefined();
        expect((await store.list({}, 100, undefined)).nextCursor).toBeUndefined();
      });

      it('filters by every field', async () => {
        const early = await submit({ createdAtMs: NOW - 1000 });
        const heavy = await submit({ lane: 'heavy', to: 'txt', createdAtMs: NOW + 500 });
        const html = await submit({ from: 'html', createdAtMs: NOW + 1000 });
        await store.settle(await claim('heavy'), succeeded(), NOW);
        const ids = async (filter: JobFilter): Promise<string[]> =>
          (await store.list(filter, 10, undefined)).jobs.map((job) => job.id);
        expect(await ids({})).toEqual([html.id, heavy.id, early.id]);
        expect(await ids({ state: 'succeeded' })).toEqual([heavy.id]);
        expect(await ids({ state: 'queued' })).toEqual([html.id, early.id]);
        expect(await ids({ lane: 'heavy' })).toEqual([heavy.id]);
        expect(await ids({ from: 'html' })).toEqual([html.id]);
        expect(await ids({ to: 'pdf', from: 'ofd' })).toEqual([early.id]);
        expect(await ids({ sinceMs: NOW + 500 })).toEqual([html.id, heavy.id]);
        expect(await ids({ untilMs: NOW + 500 })).toEqual([early.id]);
        expect(await ids({ sinceMs: NOW - 1000, untilMs: NOW + 1000 })).toEqual([heavy.id, early.id]);
      });

      it('finds a rare job among many', async () => {
        const rare = await submit({ to: 'md' });
        await Promise.all(Array.from({ length: 12_000 }, () => store.submit(newJob(), undefined)));
        const { jobs, nextCursor } = await store.list({ to: 'md' }, 10, undefined);
        expect(jobs.map((job) => job.id)).toEqual([rare.id]);
        expect(nextCursor).toBeUndefined();
      });
    });

    describe('running', () => {
      it('names what runs, streams among them', async () => {
        await submit();
        const attempt = await claim();
        const stream = await store.begin(newJob());
        await submit();
        expect((await store.running()).map(({ job, number }) => [job.id, number])).toEqual([
          [attempt.job.id, 1],
          [stream.job.id, 1],
        ]);
      });
    });

    describe('notifications', () => {
      const told = async (outcome: Outcome, notify: StoredRequest['notify'] = { target: 'erp' }): Promise<string> => {
        const { request } = newJob();
        const { id } = await submit({ request: { ...request, notify } });
        await store.settle(await claim(), outcome, NOW);
        return id;
      };
      const next = (nowMs = NOW) => store.claimNotification(nowMs, []);

      it('are written with the end of the job, once, under an id that is the same for ever', async () => {
        const id = await told(succeeded());
        const notification = await next();
        expect(notification).toMatchObject({
          id: `${id}:succeeded`,
          jobId: id,
          target: 'erp',
          event: 'succeeded',
          state: 'pending',
          attempts: 0,
        });
        expect(JSON.parse(notification?.body ?? '')).toMatchObject({
          job_id: id,
          state: 'succeeded',
          event: 'succeeded',
          attempt: 1,
          output: { kind: 'dir', files: ['output.pdf'], products: [{ sha256: '00' }] },
        });
        expect(await next()).toBeUndefined();
        const failure = await told(failed());
        const other = await next();
        expect(other?.id).toBe(`${failure}:failed`);
        expect(JSON.parse(other?.body ?? '')).toMatchObject({
          error: 'The ZIP is cut',
          error_code: 'conversion_failed',
          reason: 'corrupt',
        });
      });

      it('are written for what both the target and the request want to hear', async () => {
        await told(succeeded(), { target: 'failures' });
        await told(succeeded(), { target: 'erp', events: ['failed'] });
        await told(failed(), { target: 'failures', events: ['succeeded'] });
        expect(await next()).toBeUndefined();
        for (const notify of [
          { target: 'erp', events: ['*'] },
          { target: 'erp', events: [] },
          { target: 'failures', events: ['*'] },
          { target: 'failures', events: ['failed', 'succeeded'] },
          { target: 'vanished' },
        ]) {
          const id = await told(failed(), notify);
          expect(await next()).toMatchObject({ id: `${id}:failed`, target: notify.target });
        }
      });

      it('are not written for cancelled jobs, streams and jobs that go on', async () => {
        const { request } = newJob();
        await told({ kind: 'cancelled' });
        const stream = await store.begin(newJob({ request: { ...request, notify: { target: 'erp' } } }));
        await store.settle(stream, succeeded(), NOW);
        const id = await told({ ...failed(), kind: 'retry', runAtMs: NOW + 1, waitingReason: 'retry' });
        await store.cancel(id, NOW);
        expect(await next()).toBeUndefined();
      });

      it('are handed out one to each caller, the one that was due first, but for targets to be left alone', async () => {
        const ids = [await told(succeeded()), await told(failed(), { target: 'failures' }), await told(succeeded())];
        expect((await store.claimNotification(NOW - 1, []))?.id).toBeUndefined();
        expect((await store.claimNotification(NOW, ['erp']))?.jobId).toBe(ids[1]);
        expect((await next())?.jobId).toBe(ids[0]);
        expect((await next())?.jobId).toBe(ids[2]);
        expect(await next()).toBeUndefined();
      });

      it('are due again at their time, after a release, and after a restart', async () => {
        await told(succeeded());
        const first = await next();
        if (!first) throw new Error('Nothing to deliver');
        expect(
          await store.settleNotification(
            first,
            { state: 'pending', error: 'no answer', nextAttemptAtMs: NOW + 5 },
            NOW,
          ),
        ).toBe(true);
        expect(await store.settleNotification(first, { state: 'delivered' }, NOW)).toBe(false);
        expect(await next(NOW + 4)).toBeUndefined();
        const second = await next(NOW + 5);
        expect(second).toMatchObject({ id: first.id, body: first.body, attempts: 1, lastError: 'no answer' });
        if (second) await store.releaseNotification(second);
        expect(await next(NOW + 5)).toMatchObject({ id: first.id, attempts: 1 });
        await reopen();
        const third = await next(NOW + 5);
        expect(third).toMatchObject({ id: first.id, attempts: 1 });
        if (third) await store.settleNotification(third, { state: 'delivered', status: 200 }, NOW + 6);
        expect(await next(NOW + 9e9)).toBeUndefined();
      });

      it('are counted when they end, and those that have not arrived', async () => {
        for (const state of ['delivered', 'dead', 'abandoned', 'delivered'] as const) {
          await told(succeeded());
          const claimed = await next();
          if (claimed) await store.settleNotification(claimed, { state }, NOW);
        }
        await told(succeeded());
        expect(await store.snapshot()).toMatchObject({
          notifications: [
            { outcome: 'abandoned', count: 1 },
            { outcome: 'dead', count: 1 },
            { outcome: 'delivered', count: 2 },
          ],
          pendingNotifications: [
            { state: 'pending', count: 1 },
            { state: 'abandoned', count: 1 },
          ],
        });
      });

      it('have an id of their own for a job that ends again, and go with its record', async () => {
        const id = await told(failed({ errorCode: 'engine_crashed' }));
        await store.retry(id);
        await store.settle(await claim(), failed({ errorCode: 'engine_crashed' }), NOW);
        await store.retry(id);
        await store.settle(await claim(), succeeded(), NOW);
        expect([(await next())?.id, (await next())?.id]).toEqual([`${id}:failed`, `${id}:failed:2`]);
        await store.prune(NOW + 1, 10);
        expect(await next()).toBeUndefined();
        expect((await store.snapshot()).pendingNotifications).toEqual(NONE_PENDING);
      });

      it('tell of a job that ended the process too often', async () => {
        const { request } = newJob();
        const { id } = await submit({ request: { ...request, notify: { target: 'erp' } } });
        await claim();
        await reopen(NOW, 1);
        expect((await next())?.id).toBe(`${id}:failed`);
      });
    });

    describe('the feed', () => {
      it('tells each change of the job that is listened to', async () => {
        const { id } = await submit();
        const other = await submit({ lane: 'heavy' });
        const changes: string[] = [];
        store.feed.subscribe(id, () => {
          throw new Error('The client has gone');
        });
        const stop = store.feed.subscribe(id, ({ kind }) => changes.push(kind));
        await store.requeue(await claim());
        const retry = { ...failed(), kind: 'retry', runAtMs: NOW, waitingReason: 'retry' } as const;
        await store.settle(await claim(), retry, NOW);
        await store.settle(await claim(), failed({ errorCode: 'engine_crashed' }), NOW);
        await store.retry(id);
        await store.cancel(id, NOW);
        await store.cancel(other.id, NOW);
        stop();
        store.feed.publish(id, { kind: 'started' });
        const run = ['started', 'queued'];
        expect(changes).toEqual([...run, ...run, 'started', 'ended', 'queued', 'ended']);
      });
    });

    it('refuses calls after it was closed, and closes twice', async () => {
      await store.ping();
      await store.close();
      await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable' });
      await store.close();
    });
  });
}

async function bytesOf(input: KeptInput | undefined): Promise<Buffer | undefined> {
  if (!input) return undefined;
  return 'bytes' in input ? Buffer.from(input.bytes) : readFile(input.path);
}
