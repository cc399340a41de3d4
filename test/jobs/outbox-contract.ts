/** What every JobStore must do with notifications, and what it tells of changes; run for each implementation. */
import { describe, expect, it } from 'vitest';
import type { Outcome, StoredRequest } from '../../src/jobs/job.js';
import { failed, newJob, succeeded } from '../support/jobs.js';
import { NONE_PENDING, NOW, type OpenStore, storeForEachTest } from './store-harness.js';

export function describeOutbox(name: string, open: OpenStore): void {
  describe(name, () => {
    const at = storeForEachTest(open);
    const { submit, claim, reopen } = at;

    describe('notifications', () => {
      const told = async (outcome: Outcome, notify: StoredRequest['notify'] = { target: 'erp' }): Promise<string> => {
        const { request } = newJob();
        const { id } = await submit({ request: { ...request, notify } });
        await at.store.settle(await claim(), outcome, NOW);
        return id;
      };
      const next = (nowMs = NOW) => at.store.claimNotification(nowMs, []);

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
        const stream = await at.store.begin(newJob({ request: { ...request, notify: { target: 'erp' } } }));
        await at.store.settle(stream, succeeded(), NOW);
        const id = await told({ ...failed(), kind: 'retry', runAtMs: NOW + 1, waitingReason: 'retry' });
        await at.store.cancel(id, NOW);
        expect(await next()).toBeUndefined();
      });

      it('are handed out one to each caller, the one that was due first, but for targets to be left alone', async () => {
        const ids = [await told(succeeded()), await told(failed(), { target: 'failures' }), await told(succeeded())];
        expect((await at.store.claimNotification(NOW - 1, []))?.id).toBeUndefined();
        expect((await at.store.claimNotification(NOW, ['erp']))?.jobId).toBe(ids[1]);
        expect((await next())?.jobId).toBe(ids[0]);
        expect((await next())?.jobId).toBe(ids[2]);
        expect(await next()).toBeUndefined();
      });

      it('are due again at their time, after a release, and after a restart', async () => {
        await told(succeeded());
        const first = await next();
        if (!first) throw new Error('Nothing to deliver');
        expect(
          await at.store.settleNotification(
            first,
            { state: 'pending', error: 'no answer', nextAttemptAtMs: NOW + 5 },
            NOW,
          ),
        ).toBe(true);
        expect(await at.store.settleNotification(first, { state: 'delivered' }, NOW)).toBe(false);
        expect(await next(NOW + 4)).toBeUndefined();
        const second = await next(NOW + 5);
        expect(second).toMatchObject({ id: first.id, body: first.body, attempts: 1, lastError: 'no answer' });
        if (second) await at.store.releaseNotification(second);
        expect(await next(NOW + 5)).toMatchObject({ id: first.id, attempts: 1 });
        await reopen();
        const third = await next(NOW + 5);
        expect(third).toMatchObject({ id: first.id, attempts: 1 });
        if (third) await at.store.settleNotification(third, { state: 'delivered', status: 200 }, NOW + 6);
        expect(await next(NOW + 9e9)).toBeUndefined();
      });

      it('are counted when they end, and those that have not arrived', async () => {
        for (const state of ['delivered', 'dead', 'abandoned', 'delivered'] as const) {
          await told(succeeded());
          const claimed = await next();
          if (claimed) await at.store.settleNotification(claimed, { state }, NOW);
        }
        await told(succeeded());
        expect(await at.store.snapshot()).toMatchObject({
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
        await at.store.retry(id);
        await at.store.settle(await claim(), failed({ errorCode: 'engine_crashed' }), NOW);
        await at.store.retry(id);
        await at.store.settle(await claim(), succeeded(), NOW);
        expect([(await next())?.id, (await next())?.id]).toEqual([`${id}:failed`, `${id}:failed:2`]);
        await at.store.prune(NOW + 1, 10);
        expect(await next()).toBeUndefined();
        expect((await at.store.snapshot()).pendingNotifications).toEqual(NONE_PENDING);
      });

      it('are counted once as abandoned, however often they are tried on the slow clock', async () => {
        await told(succeeded());
        for (let attempt = 0; attempt < 3; attempt += 1) {
          const claimed = await next(NOW + attempt);
          if (!claimed) throw new Error('Nothing to deliver');
          const result = { state: 'abandoned', nextAttemptAtMs: NOW + attempt + 1 } as const;
          expect(await at.store.settleNotification(claimed, result, NOW)).toBe(true);
        }
        expect((await at.store.snapshot()).notifications).toEqual([{ outcome: 'abandoned', count: 1 }]);
      });

      it('are due at once by hand, whatever became of them, with a fresh number of attempts', async () => {
        const id = `${await told(succeeded())}:succeeded`;
        for (const [index, state] of (['delivered', 'dead', 'abandoned'] as const).entries()) {
          const claimed = await next(NOW + 9);
          if (claimed) await at.store.settleNotification(claimed, { state, error: 'no' }, NOW);
          const due = await at.store.redeliverNotification(id, NOW + 9);
          expect(due).toMatchObject({
            state: 'pending',
            attempts: index + 1,
            earlierAttempts: index + 1,
            nextAttemptAtMs: NOW + 9,
            deliveredAtMs: undefined,
          });
          expect(await at.store.notification(id)).toEqual(due);
        }
        expect(await at.store.redeliverNotification('nothing', NOW)).toBeUndefined();
      });

      it('are sent once more where they were made due while an attempt was on its way that did not get through', async () => {
        const id = `${await told(succeeded())}:succeeded`;
        const claimed = await next();
        await at.store.redeliverNotification(id, NOW);
        if (claimed) await at.store.settleNotification(claimed, { state: 'dead', status: 404 }, NOW + 1);
        expect(await at.store.notification(id)).toMatchObject({ state: 'pending', attempts: 1, lastStatus: 404 });
        const again = await next(NOW + 1);
        expect(again?.id).toBe(id);
        await at.store.redeliverNotification(id, NOW + 2);
        if (again) await at.store.settleNotification(again, { state: 'delivered', status: 200 }, NOW + 2);
        expect(await at.store.notification(id)).toMatchObject({ state: 'delivered', attempts: 2 });
        expect((await at.store.snapshot()).notifications).toEqual([{ outcome: 'delivered', count: 1 }]);
      });

      it('are listed newest first, in pages, a rare one among many too', async () => {
        const ids: string[] = [];
        for (let index = 0; index < 5; index += 1) ids.unshift(`${await told(succeeded())}:succeeded`);
        const rare = `${await told(failed(), { target: 'failures' })}:failed`;
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await at.store.listNotifications({ target: 'erp' }, 2, cursor);
          seen.push(...page.items.map((item) => item.id));
          cursor = page.nextCursor;
        } while (cursor);
        expect(seen).toEqual(ids);
        expect((await at.store.listNotifications({ event: 'failed' }, 9, undefined)).items).toMatchObject([
          { id: rare, target: 'failures', jobId: rare.slice(0, -7), batchId: undefined },
        ]);
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
        at.store.feed.subscribe(id, () => {
          throw new Error('The client has gone');
        });
        const stop = at.store.feed.subscribe(id, ({ kind }) => changes.push(kind));
        await at.store.requeue(await claim());
        const retry = { ...failed(), kind: 'retry', runAtMs: NOW, waitingReason: 'retry' } as const;
        await at.store.settle(await claim(), retry, NOW);
        await at.store.settle(await claim(), failed({ errorCode: 'engine_crashed' }), NOW);
        await at.store.retry(id);
        await at.store.cancel(id, NOW);
        await at.store.cancel(other.id, NOW);
        stop();
        at.store.feed.publish(id, { kind: 'queued' });
        const run = ['started', 'queued'];
        expect(changes).toEqual([...run, ...run, 'started', 'ended', 'queued', 'ended']);
      });
    });
  });
}
