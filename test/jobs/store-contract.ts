/** What every JobStore must do with jobs, from submission to retention; run for each implementation. */
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failed, newJob, succeeded } from '../support/jobs.js';
import { BYTES, bytesOf, NONE_PENDING, NONE_WAITING, NOW, type OpenStore, storeForEachTest } from './store-harness.js';

export function describeJobStore(name: string, open: OpenStore): void {
  describe(name, () => {
    const at = storeForEachTest(open);
    const { submit, claim, reopen } = at;

    describe('submit', () => {
      it('gives the job back as it will be read', async () => {
        const job = await submit();
        expect(job).toMatchObject({ state: 'queued', attempt: 0, from: 'ofd', to: 'pdf', inputBytes: 5, warnings: [] });
        expect(job.id).toMatch(/^[0-9a-z]{12}$/);
        expect(await at.store.get(job.id)).toEqual(job);
      });

      it('keeps a small input and a large one until the job has succeeded', async () => {
        const large = Buffer.alloc(5_000_000, 'x');
        for (const bytes of [Buffer.alloc(0), BYTES, Buffer.alloc(64 * 1024, 1), large]) {
          const { job } = await at.store.submit(newJob(), { bytes });
          expect((await bytesOf(await at.store.input(job.id)))?.equals(bytes)).toBe(true);
          await at.store.settle(await claim(), succeeded(), NOW);
          expect(await at.store.input(job.id)).toBeUndefined();
        }
      });

      it('takes a file as its own, small or large', async () => {
        for (const size of [10, 200_000]) {
          const path = join(at.folder, 'spooled');
          writeFileSync(path, Buffer.alloc(size, 'y'));
          const { job } = await at.store.submit(newJob(), { path });
          expect(await bytesOf(await at.store.input(job.id))).toHaveLength(size);
          await expect(readFile(path)).rejects.toThrow('ENOENT');
        }
      });

      it('needs no input for a job that fetches its own', async () => {
        const { job } = await at.store.submit(newJob(), undefined);
        expect(await at.store.input(job.id)).toBeUndefined();
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
        await at.store.cancel(last.id, NOW);
        expect(await at.store.prune(NOW + 1, 10)).toBe(1);
        await reopen();
        expect((await submit({ createdAtMs: NOW - 1000 })).id > last.id).toBe(true);
      });
    });

    describe('claim', () => {
      it('hands each job to one of many claimers', async () => {
        const submitted = await Promise.all(Array.from({ length: 300 }, () => submit()));
        const claimed = await Promise.all(Array.from({ length: 400 }, () => at.store.claim('fast', NOW)));
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
        expect(await at.store.claim('fast', NOW)).toBeUndefined();
        expect((await claim('heavy')).job.id).toBe(heavy.id);
      });

      it('leaves jobs of the kinds that have to wait, and takes the others in their order', async () => {
        const kinds = ['dir', 's3', 'dir', 'ftp'];
        const submitted: string[] = [];
        for (const kind of kinds) {
          const { request } = newJob();
          const { id } = await submit({ request: { ...request, output: { ...request.output, kind } } });
          submitted.push(id);
        }
        const [dir, s3, , ftp] = submitted;
        expect((await at.store.claim('fast', NOW, ['dir', 's3']))?.job.id).toBe(ftp);
        expect((await at.store.claim('fast', NOW, ['dir']))?.job.id).toBe(s3);
        expect(await at.store.claim('fast', NOW, ['dir'])).toBeUndefined();
        expect((await claim()).job.id).toBe(dir);
      });

      it('leaves jobs of the one remote target that has to wait', async () => {
        const ids: string[] = [];
        for (const target of ['a', 'b', 'a']) {
          const { request } = newJob();
          const output = { ...request.output, kind: 's3', remote: { target } };
          ids.push((await submit({ request: { ...request, output } })).id);
        }
        expect((await at.store.claim('fast', NOW, ['s3/a', 'dir']))?.job.id).toBe(ids[1]);
        expect(await at.store.claim('fast', NOW, ['s3/a'])).toBeUndefined();
        expect((await at.store.claim('fast', NOW, ['s3/b', 's3', 'ftp/a']))?.job.id).toBe(ids[0]);
      });

      it('counts the run when it starts', async () => {
        const { id } = await submit();
        expect(await claim()).toMatchObject({ number: 1, failedRuns: 0 });
        expect(await at.store.get(id)).toMatchObject({ state: 'running', attempt: 1, startedAtMs: NOW });
      });
    });

    describe('settle', () => {
      it('writes down what a run made', async () => {
        const { id } = await submit();
        expect(await at.store.settle(await claim(), succeeded({ inputBytes: 9 }), NOW + 5)).toBe(true);
        const job = await at.store.get(id);
        const { kind: _, ...rest } = succeeded({ inputBytes: 9 });
        expect(job).toMatchObject({ ...rest, state: 'succeeded', finishedAtMs: NOW + 5 });
      });

      it('writes down why a run failed, and keeps its input', async () => {
        const { id } = await submit();
        await at.store.settle(await claim(), failed(), NOW);
        expect(await at.store.get(id)).toMatchObject({
          state: 'failed',
          errorCode: 'conversion_failed',
          reason: 'corrupt',
          error: 'The ZIP is cut',
        });
        expect(await bytesOf(await at.store.input(id))).toEqual(BYTES);
      });

      it('ignores a run that no longer owns its job', async () => {
        const { id } = await submit();
        const stale = await claim();
        await at.store.requeue(stale);
        expect(await at.store.settle(stale, succeeded(), NOW)).toBe(false);
        const current = await claim();
        expect(current.number).toBe(2);
        expect(await at.store.settle(stale, failed(), NOW)).toBe(false);
        expect(await at.store.requeue(stale)).toBe(false);
        expect(await at.store.settle(current, succeeded(), NOW)).toBe(true);
        expect(await at.store.settle(current, failed(), NOW)).toBe(false);
        expect(await at.store.get(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
        expect((await at.store.snapshot()).conversions).toEqual([
          { from: 'ofd', to: 'pdf', state: 'succeeded', count: 1 },
        ]);
      });

      it('queues a retry that runs when its time has come, before the same age and after high priority', async () => {
        const { id } = await submit();
        const retry = { ...failed({ errorCode: 'engine_crashed' }), kind: 'retry', runAtMs: NOW + 1000 } as const;
        await at.store.settle(await claim(), { ...retry, waitingReason: 'retry' }, NOW);
        expect(await at.store.get(id)).toMatchObject({
          state: 'queued',
          waiting: { reason: 'retry', sinceMs: NOW, nextAttemptAtMs: NOW + 1000 },
        });
        expect(await at.store.claim('fast', NOW + 999)).toBeUndefined();
        expect((await at.store.snapshot()).queue).toEqual({ queued: 1, running: 0 });
        expect(await at.store.claim('fast', NOW + 1000)).toMatchObject({ number: 2, failedRuns: 1, job: { id } });
      });

      it('runs a retry at once that was planned before the clock stepped back', async () => {
        const { id } = await submit();
        const retry = { ...failed(), kind: 'retry', runAtMs: NOW + 600_000, waitingReason: 'retry' } as const;
        await at.store.settle(await claim(), retry, NOW);
        expect(await at.store.claim('fast', NOW)).toBeUndefined();
        expect(await at.store.claim('fast', NOW - 3_600_000)).toMatchObject({ number: 2, job: { id } });
      });

      it('clears the fault of an earlier run when a later one succeeds', async () => {
        const { id } = await submit();
        const retry = { ...failed(), kind: 'retry', runAtMs: NOW, waitingReason: 'retry' } as const;
        await at.store.settle(await claim(), retry, NOW);
        await at.store.settle(await claim(), succeeded(), NOW);
        expect(await at.store.get(id)).toMatchObject({ state: 'succeeded', error: undefined, errorCode: undefined });
      });

      it('uses up no run for one that was interrupted', async () => {
        await submit();
        expect(await at.store.requeue(await claim())).toBe(true);
        expect(await claim()).toMatchObject({ number: 2, failedRuns: 0 });
      });
    });

    describe('cancel', () => {
      it('ends a queued job and one that waits for its retry, and drops their inputs', async () => {
        const waiting = await submit();
        const retry = { ...failed(), kind: 'retry', runAtMs: NOW + 9e9, waitingReason: 'retry' } as const;
        await at.store.settle(await claim(), retry, NOW);
        const queued = await submit();
        for (const { id } of [waiting, queued]) {
          expect(await at.store.cancel(id, NOW)).toBe('cancelled');
          expect(await at.store.get(id)).toMatchObject({
            state: 'cancelled',
            errorCode: 'cancelled',
            waiting: undefined,
          });
          expect(await at.store.input(id)).toBeUndefined();
          expect(await at.store.cancel(id, NOW)).toBe('not_cancellable');
        }
        expect(await at.store.claim('fast', NOW + 9e10)).toBeUndefined();
      });

      it('leaves running and unknown jobs alone', async () => {
        const { id } = await submit();
        await claim();
        expect(await at.store.cancel(id, NOW)).toBe('not_cancellable');
        expect(await at.store.cancel('nosuchjob', NOW)).toBe('not_found');
      });
    });

    describe('streams', () => {
      it('run from the beginning, never stand in the queue, and are counted when they end', async () => {
        const attempt = await at.store.begin(newJob());
        expect(attempt).toMatchObject({ number: 1, job: { state: 'running', isStream: true } });
        expect(await at.store.claim('fast', NOW)).toBeUndefined();
        expect((await at.store.snapshot()).queue).toEqual({ queued: 0, running: 0 });
        expect(await at.store.requeue(attempt)).toBe(false);
        await at.store.settle(attempt, succeeded(), NOW);
        expect((await at.store.snapshot()).conversions).toHaveLength(1);
      });
    });

    describe('counters', () => {
      it('of transactions: submissions of one moment share them, what changes nothing is none', async () => {
        const count = async (): Promise<number> => (await at.store.snapshot()).transactions;
        const before = await count();
        expect(await at.store.claim('fast', NOW)).toBeUndefined();
        await at.store.cancel('nope', NOW);
        expect(await count()).toBe(before);
        await submit();
        expect(await count()).toBe(before + 1);
        await Promise.all(Array.from({ length: 200 }, () => submit()));
        expect((await count()) - before).toBeLessThan(100);
      });

      it('equal the jobs that ended, by format and state, cancelled ones apart', async () => {
        expect(await at.store.snapshot()).toEqual({
          transactions: expect.any(Number),
          sinceMs: undefined,
          conversions: [],
          inputBytes: [],
          outputBytes: [],
          notifications: [],
          deliveries: [],
          queue: { queued: 0, running: 0 },
          waiting: NONE_WAITING,
          pendingNotifications: NONE_PENDING,
          deadLetters: 0,
        });
        await submit();
        await at.store.settle(await claim(), succeeded({ inputBytes: 100 }), NOW + 1);
        await submit();
        await at.store.settle(await claim(), failed(), NOW + 2);
        await submit({ to: 'txt' });
        await at.store.settle(await claim(), failed({ fromActual: 'ofd' }), NOW + 3);
        await submit();
        await at.store.settle(await claim(), { kind: 'cancelled' }, NOW + 4);
        await at.store.cancel((await submit()).id, NOW);
        await submit();
        await claim();
        await submit();
        expect(await at.store.snapshot()).toEqual({
          transactions: expect.any(Number),
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
          deliveries: [{ kind: 'dir', outcome: 'delivered', count: 1 }],
          queue: { queued: 1, running: 1 },
          waiting: NONE_WAITING,
          pendingNotifications: NONE_PENDING,
          deadLetters: 0,
        });
      });

      it('stay when retention removes the jobs step by step', async () => {
        const old = await Promise.all(Array.from({ length: 25 }, () => submit()));
        for (const _ of old) await at.store.settle(await claim(), succeeded(), NOW);
        const { job: kept } = await at.store.submit(newJob(), { bytes: Buffer.alloc(100_000) });
        await at.store.settle(await claim(), failed(), NOW + 10);
        const open = await submit();
        const before = await at.store.snapshot();
        expect(await at.store.prune(NOW + 10, 10)).toBe(10);
        expect(await at.store.prune(NOW + 10, 10)).toBe(10);
        expect(await at.store.prune(NOW + 10, 10)).toBe(5);
        expect(await at.store.prune(NOW + 10, 10)).toBe(0);
        expect(await at.store.get(old[0]?.id ?? '')).toBeUndefined();
        expect(await at.store.get(kept.id)).toBeDefined();
        expect(await at.store.prune(NOW + 9e9, 10)).toBe(1);
        expect(await at.store.input(kept.id)).toBeUndefined();
        expect(await at.store.get(open.id)).toBeDefined();
        expect(await at.store.snapshot()).toEqual({ ...before, transactions: expect.any(Number) });
      });
    });

    describe('recover', () => {
      it('queues again what ran, uses up no attempt, and ends streams', async () => {
        const { id } = await submit();
        await claim();
        const stream = await at.store.begin(newJob());
        expect(await reopen()).toMatchObject({ requeued: 1, failed: 1, orphanInputs: 0, interrupted: [{ id }] });
        expect(await at.store.get(stream.job.id)).toMatchObject({ state: 'failed', errorCode: 'engine_crashed' });
        expect(await at.store.claim('fast', NOW)).toMatchObject({ number: 2, failedRuns: 0, job: { id } });
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
        expect(await at.store.get(id)).toMatchObject({ state: 'failed', errorCode: 'engine_crashed', attempt: 3 });
        expect(await bytesOf(await at.store.input(id))).toEqual(BYTES);
      });
    });

    it('refuses calls after it was closed, and closes twice', async () => {
      await at.store.ping();
      await at.store.close();
      await expect(at.store.ping()).rejects.toMatchObject({ code: 'unavailable' });
      await at.store.close();
    });
  });
}
