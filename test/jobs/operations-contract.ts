/** What every JobStore must do for clients and operators: repeated submissions, dead letters, lists; run for each implementation. */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/jobs/job.js';
import type { JobFilter } from '../../src/jobs/store.js';
import { failed, newJob, succeeded } from '../support/jobs.js';
import { BYTES, bytesOf, NOW, type OpenStore, storeForEachTest } from './store-harness.js';

export function describeStoreOperations(name: string, open: OpenStore): void {
  describe(name, () => {
    const at = storeForEachTest(open);
    const { submit, claim, reopen } = at;

    describe('idempotency', () => {
      const keyed = (key: string, hash: string, bytes = BYTES) =>
        at.store.submit(newJob({ idempotency: { key, requestHash: hash } }), { bytes });

      it('gives the first job for the same key and request, whatever has become of it', async () => {
        const first = await keyed('k', 'a');
        expect(first.isReplay).toBe(false);
        expect(await keyed('k', 'a')).toEqual({ job: first.job, isReplay: true });
        expect((await keyed('other', 'a')).isReplay).toBe(false);
        await at.store.settle(await claim(), succeeded(), NOW);
        await reopen();
        expect(await keyed('k', 'a')).toMatchObject({ isReplay: true, job: { id: first.job.id, state: 'succeeded' } });
      });

      it('refuses another request with a key that is taken', async () => {
        const { job } = await keyed('k', 'a');
        await expect(keyed('k', 'b')).rejects.toMatchObject({
          code: 'conflict',
          message: expect.stringContaining(job.id),
        });
        expect((await at.store.snapshot()).queue.queued).toBe(1);
      });

      it('makes one job of many at a time, and keeps one input', async () => {
        const answers = await Promise.all(Array.from({ length: 50 }, () => keyed('k', 'a', Buffer.alloc(100_000))));
        expect(new Set(answers.map(({ job }) => job.id)).size).toBe(1);
        expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
        expect(await bytesOf(await at.store.input(answers[0]?.job.id ?? ''))).toHaveLength(100_000);
        await at.store.ping();
        expect(await reopen()).toMatchObject({ orphanInputs: 0 });
      });

      it('frees the key with the record', async () => {
        const { job } = await keyed('k', 'a');
        await at.store.cancel(job.id, NOW);
        await at.store.prune(NOW + 1, 10);
        expect((await keyed('k', 'b')).isReplay).toBe(false);
      });
    });

    describe('dead letters', () => {
      const end = async (outcome: Outcome): Promise<string> => {
        const { id } = await submit();
        await at.store.settle(await claim(), outcome, NOW);
        return id;
      };

      it('are jobs whose runs were used up and those that met another product', async () => {
        const crashed = await end(failed({ errorCode: 'engine_crashed' }));
        const conflicting = await end(failed({ errorCode: 'conflict' }));
        const corrupt = await end(failed());
        const fine = await end(succeeded());
        await at.store.settle(await at.store.begin(newJob()), failed({ errorCode: 'conversion_timeout' }), NOW);
        const { items: jobs } = await at.store.list({ isDeadLetter: true }, 10, undefined);
        expect(jobs.map((job) => [job.id, job.errorCode, job.attempt])).toEqual([
          [conflicting, 'conflict', 1],
          [crashed, 'engine_crashed', 1],
        ]);
        expect((await at.store.snapshot()).deadLetters).toBe(2);
        for (const id of [corrupt, fine]) expect(await at.store.retry(id)).toBe('not_retryable');
        expect(await at.store.retry('nosuchjob')).toBe('not_found');
      });

      it('run again with their input, counted from the beginning, and count again', async () => {
        const id = await end(failed({ errorCode: 'engine_crashed' }));
        expect(await at.store.retry(id)).toBe('queued');
        expect(await at.store.retry(id)).toBe('not_retryable');
        expect(await at.store.get(id)).toMatchObject({ state: 'queued', error: undefined, finishedAtMs: undefined });
        expect((await at.store.snapshot()).deadLetters).toBe(0);
        expect(await bytesOf(await at.store.input(id))).toEqual(BYTES);
        const again = await claim();
        expect(again).toMatchObject({ number: 2, failedRuns: 0, job: { id } });
        await at.store.settle(again, succeeded(), NOW);
        expect((await at.store.snapshot()).conversions).toEqual([
          { from: 'ofd', to: 'pdf', state: 'succeeded', count: 1 },
          { from: 'unknown', to: 'pdf', state: 'failed', count: 1 },
        ]);
      });
    });

    describe('list', () => {
      it('gives pages, newest first, that do not move when jobs come and go', async () => {
        const ids: string[] = [];
        for (let index = 0; index < 7; index += 1) ids.unshift((await submit()).id);
        const first = await at.store.list({}, 3, undefined);
        await submit();
        const second = await at.store.list({}, 3, first.nextCursor);
        await at.store.cancel(ids[6] ?? '', NOW);
        await at.store.prune(NOW + 1, 1);
        const third = await at.store.list({}, 3, second.nextCursor);
        const seen = [first, second, third].map(({ items }) => items.map((job) => job.id));
        expect(seen).toEqual([ids.slice(0, 3), ids.slice(3, 6), []]);
        expect(third.nextCursor).toBeUndefined();
        expect((await at.store.list({}, 100, undefined)).nextCursor).toBeUndefined();
      });

      it('filters by every field', async () => {
        const early = await submit({ createdAtMs: NOW - 1000 });
        const heavy = await submit({ lane: 'heavy', to: 'txt', createdAtMs: NOW + 500 });
        const html = await submit({ from: 'html', createdAtMs: NOW + 1000 });
        await at.store.settle(await claim('heavy'), succeeded(), NOW);
        const ids = async (filter: JobFilter): Promise<string[]> =>
          (await at.store.list(filter, 10, undefined)).items.map((job) => job.id);
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
        await Promise.all(Array.from({ length: 12_000 }, () => at.store.submit(newJob(), undefined)));
        const { items: jobs, nextCursor } = await at.store.list({ to: 'md' }, 10, undefined);
        expect(jobs.map((job) => job.id)).toEqual([rare.id]);
        expect(nextCursor).toBeUndefined();
      });
    });

    describe('running', () => {
      it('names what runs, streams among them', async () => {
        await submit();
        const attempt = await claim();
        const stream = await at.store.begin(newJob());
        await submit();
        expect((await at.store.running()).map(({ job, number }) => [job.id, number])).toEqual([
          [attempt.job.id, 1],
          [stream.job.id, 1],
        ]);
      });
    });
  });
}
