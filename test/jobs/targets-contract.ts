/** What every JobStore must do for remote targets: the ledger of uploads, and jobs whose target is out of reach. */
import { describe, expect, it } from 'vitest';
import type { RetryOutcome } from '../../src/jobs/job.js';
import type { PlannedUpload } from '../../src/jobs/uploads.js';
import { failed, succeeded } from '../support/jobs.js';
import { NONE_WAITING, NOW, type OpenStore, storeForEachTest } from './store-harness.js';

const FILE: PlannedUpload = { name: 'a.pdf', sizeBytes: 7, sha256: 'aa', location: 'ftp://x/a.pdf' };

export function describeTargets(name: string, open: OpenStore): void {
  describe(name, () => {
    const at = storeForEachTest(open);
    const { submit, claim, reopen } = at;

    describe('uploads', () => {
      it('are what was planned and what has arrived, after a restart too', async () => {
        const { id } = await submit();
        const other = await submit();
        expect(await at.store.uploads(id)).toEqual([]);
        await at.store.planUploads(id, [FILE, { ...FILE, name: 'b.pdf', sha256: 'bb' }]);
        await at.store.uploadDelivered(id, { ...FILE, name: 'b.pdf', sha256: 'bb' }, NOW);
        await reopen();
        expect(await at.store.uploads(id)).toEqual([
          { ...FILE, isDelivered: false },
          { ...FILE, name: 'b.pdf', sha256: 'bb', isDelivered: true },
        ]);
        expect(await at.store.uploads(other.id)).toEqual([]);
      });

      it('stay what they are when planned again, but for other content or another place', async () => {
        const { id } = await submit();
        await at.store.planUploads(id, [FILE]);
        await at.store.uploadDelivered(id, { ...FILE, sha256: 'other' }, NOW);
        expect(await at.store.uploads(id)).toMatchObject([{ isDelivered: false }]);
        await at.store.uploadDelivered(id, FILE, NOW);
        await at.store.planUploads(id, [FILE]);
        expect(await at.store.uploads(id)).toEqual([{ ...FILE, isDelivered: true }]);
        for (const change of [{ sha256: 'cc' }, { location: 'ftp://y/a.pdf' }, { sizeBytes: 8 }]) {
          await at.store.planUploads(id, [FILE]);
          await at.store.uploadDelivered(id, FILE, NOW);
          await at.store.planUploads(id, [{ ...FILE, ...change }]);
          expect(await at.store.uploads(id)).toEqual([{ ...FILE, ...change, isDelivered: false }]);
        }
      });

      it('outlive a failure and a retry by hand, and go with success or with the record', async () => {
        const { id } = await submit();
        await at.store.planUploads(id, [FILE]);
        await at.store.settle(await claim(), failed({ errorCode: 'sink_unreachable' }), NOW);
        expect(await at.store.retry(id)).toBe('queued');
        expect(await at.store.uploads(id)).toHaveLength(1);
        await at.store.settle(await claim(), succeeded(), NOW);
        expect(await at.store.uploads(id)).toEqual([]);

        const gone = await submit();
        await at.store.planUploads(gone.id, [FILE]);
        await at.store.settle(await claim(), failed(), NOW);
        await at.store.prune(NOW + 1, 10);
        expect(await at.store.uploads(gone.id)).toEqual([]);
        await at.store.planUploads(gone.id, [FILE]);
        expect(await at.store.uploads(gone.id)).toEqual([]);
      });
    });

    describe('a target out of reach', () => {
      const wait = (runAtMs: number, unreachableSinceMs = NOW): RetryOutcome => ({
        ...failed({ errorCode: 'sink_unreachable', error: 'Nobody listens' }),
        kind: 'retry',
        runAtMs,
        waitingReason: 'sink_unreachable',
        unreachableSinceMs,
      });

      it('is waited for since its first failure, over runs and restarts, in sight', async () => {
        const { id } = await submit();
        await at.store.settle(await claim(), wait(NOW + 10), NOW);
        expect(await at.store.get(id)).toMatchObject({
          state: 'queued',
          waiting: { reason: 'sink_unreachable', sinceMs: NOW, nextAttemptAtMs: NOW + 10 },
        });
        expect(await at.store.claim('fast', NOW + 9)).toBeUndefined();
        await reopen();
        expect((await at.store.snapshot()).waiting).toEqual([
          { reason: 'retry', count: 0 },
          { reason: 'sink_unreachable', count: 1 },
        ]);
        const second = await at.store.claim('fast', NOW + 10);
        expect(second).toMatchObject({ number: 2, failedRuns: 1, unreachableSinceMs: NOW });
        expect((await at.store.snapshot()).waiting).toEqual(NONE_WAITING);
        if (second) await at.store.settle(second, wait(NOW + 30, second.unreachableSinceMs), NOW + 11);
        expect((await at.store.get(id))?.waiting).toEqual({
          reason: 'sink_unreachable',
          sinceMs: NOW,
          nextAttemptAtMs: NOW + 30,
        });
        expect(await at.store.cancel(id, NOW + 12)).toBe('cancelled');
        expect((await at.store.snapshot()).waiting).toEqual(NONE_WAITING);
      });

      it('is a dead letter in the end, as are a refusal and a target that is gone, and begins anew by hand', async () => {
        const { id } = await submit();
        await at.store.settle(await claim(), wait(NOW), NOW);
        await at.store.settle(await claim(), failed({ errorCode: 'sink_unreachable' }), NOW);
        const refused = await submit();
        await at.store.settle(await claim(), failed({ errorCode: 'sink_refused' }), NOW);
        const vanished = await submit();
        await at.store.settle(await claim(), failed({ errorCode: 'unknown_remote_target' }), NOW);
        expect((await at.store.snapshot()).deadLetters).toBe(3);
        for (const jobId of [id, refused.id, vanished.id]) expect(await at.store.retry(jobId)).toBe('queued');
        expect(await claim()).toMatchObject({ job: { id }, failedRuns: 0, unreachableSinceMs: undefined });
      });

      it('is counted by run, with what else became of deliveries', async () => {
        await submit();
        await at.store.settle(await claim(), wait(NOW), NOW);
        for (const outcome of [
          wait(NOW),
          { ...failed({ errorCode: 'engine_crashed' }), kind: 'retry', runAtMs: NOW, waitingReason: 'retry' } as const,
          succeeded(),
        ]) {
          await at.store.settle(await claim(), outcome, NOW);
        }
        for (const errorCode of ['sink_refused', 'conflict', 'checksum_mismatch', 'conversion_failed'] as const) {
          await submit();
          await at.store.settle(await claim(), failed({ errorCode }), NOW);
        }
        // Of space that was short: where the products were on their way, and where there were none yet.
        for (const cameToDeliver of [true, false]) {
          await submit();
          const outcome = { ...failed({ errorCode: 'insufficient_storage' }), cameToDeliver };
          await at.store.settle(await claim(), outcome, NOW);
        }
        expect((await at.store.snapshot()).deliveries).toEqual([
          { kind: 'dir', outcome: 'conflict', count: 1 },
          { kind: 'dir', outcome: 'delivered', count: 1 },
          { kind: 'dir', outcome: 'full', count: 1 },
          { kind: 'dir', outcome: 'mismatch', count: 1 },
          { kind: 'dir', outcome: 'refused', count: 1 },
          { kind: 'dir', outcome: 'unreachable', count: 2 },
        ]);
      });
    });
  });
}
