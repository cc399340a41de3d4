/** Job ids (contract A6) and the wait before a retry (contract R4). */
import { describe, expect, it } from 'vitest';
import { idAt, nextJobId } from '../../src/jobs/job.js';
import { requestHash } from '../../src/jobs/request-hash.js';
import { backoffAfter, withRetry } from '../../src/jobs/retry.js';
import { attemptOf, failed, newJob } from '../support/jobs.js';

describe('nextJobId', () => {
  it('is the nanosecond time in base36', () => {
    const id = nextJobId(1_700_000_000_123, 456_789, undefined);
    expect(id).toBe(1_700_000_000_123_456_789n.toString(36));
    expect(id).toHaveLength(12);
  });

  it('is one more than the last where the clock gives no more', () => {
    const id = nextJobId(1_700_000_000_000, 5, undefined);
    expect(nextJobId(1_700_000_000_000, 5, id)).toBe(nextJobId(1_700_000_000_000, 6, undefined));
    expect(nextJobId(1_600_000_000_000, 0, id)).toBe(nextJobId(1_700_000_000_000, 6, undefined));
    expect(nextJobId(1_700_000_000_000, 7, id)).toBe(nextJobId(1_700_000_000_000, 7, undefined));
  });
});

describe('idAt', () => {
  it('is ordered as a text as it is in time, also for a clock that begins at 1970', () => {
    const seconds = [0n, 60n, 31_536_000n, 107_000_000n, 157_766_400n, 1_700_000_000n, 4_700_000_000n];
    const ids = seconds.map((second) => idAt(second * 1_000_000_000n));
    expect([...ids].sort()).toEqual(ids);
    expect(ids.map((id) => id.length)).toEqual(ids.map(() => 12));
    expect(nextJobId(60_000, 0, undefined)).toBe(ids[1]);
  });
});

describe('requestHash', () => {
  it('tells requests that mean the same from those that do not', () => {
    const { request, from, to } = newJob();
    const hash = requestHash({ from, to, request }, 'aa');
    const { output, input, highPriority } = request;
    const reordered = { highPriority, output: { ...output, dir: undefined }, notify: undefined, input };
    expect(requestHash({ to, from, request: reordered }, 'aa')).toBe(hash);
    expect(requestHash({ from, to, request }, 'bb')).not.toBe(hash);
    expect(requestHash({ from, to, request: { ...request, highPriority: true } }, 'aa')).not.toBe(hash);
    expect(requestHash({ from, to: 'txt', request }, 'aa')).not.toBe(hash);
    const pages = { ...request, output: { ...output, options: { pages: '1-2' } } };
    expect(requestHash({ from, to, request: pages }, 'aa')).not.toBe(hash);
  });
});

describe('withRetry', () => {
  const policy = { maxAttempts: 3, backoffMs: 5000, sinkRetryForMs: 0 };
  const crash = failed({ errorCode: 'engine_crashed' });

  it('doubles the wait, up to ten minutes', () => {
    expect([1, 2, 3, 4].map((runs) => backoffAfter(runs, 5000))).toEqual([5000, 10_000, 20_000, 40_000]);
    expect(backoffAfter(30, 5000)).toBe(600_000);
    expect(backoffAfter(5000, 5000)).toBe(600_000);
  });

  it('runs again what may pass, so often in all as is configured', () => {
    expect(withRetry(crash, attemptOf({ failedRuns: 0 }), policy, 1000)).toMatchObject({
      kind: 'retry',
      runAtMs: 6000,
    });
    expect(withRetry(crash, attemptOf({ failedRuns: 1 }), policy, 1000)).toMatchObject({ runAtMs: 11_000 });
    expect(withRetry(crash, attemptOf({ failedRuns: 2 }), policy, 1000)).toBe(crash);
    for (const maxAttempts of [0, 1]) {
      expect(withRetry(crash, attemptOf({ failedRuns: 0 }), { ...policy, maxAttempts }, 1000)).toBe(crash);
    }
  });

  describe('a target that cannot be reached', () => {
    const unreachable = failed({ errorCode: 'sink_unreachable' });
    const patient = { maxAttempts: 2, backoffMs: 5000, sinkRetryForMs: 3_600_000 };
    const after = (failedRuns: number, unreachableSinceMs: number | undefined, nowMs: number) =>
      withRetry(unreachable, attemptOf({ failedRuns, unreachableSinceMs }), patient, nowMs);

    it('is a failure after the runs where nothing else is configured', () => {
      const policy = { ...patient, sinkRetryForMs: 0 };
      expect(withRetry(unreachable, attemptOf(), policy, 1000)).toMatchObject({
        kind: 'retry',
        runAtMs: 6000,
        waitingReason: 'sink_unreachable',
        unreachableSinceMs: 1000,
      });
      expect(withRetry(unreachable, attemptOf({ failedRuns: 1, unreachableSinceMs: 1000 }), policy, 6000)).toBe(
        unreachable,
      );
    });

    it('is waited for on a slow clock until its time is up, with a last run then', () => {
      expect(after(1, 1000, 6000)).toMatchObject({ kind: 'retry', runAtMs: 16_000, unreachableSinceMs: 1000 });
      expect(after(20, 1000, 100_000)).toMatchObject({ runAtMs: 700_000, waitingReason: 'sink_unreachable' });
      expect(after(20, 1000, 3_500_000)).toMatchObject({ kind: 'retry', runAtMs: 3_601_000 });
      expect(after(20, 1000, 3_601_000)).toBe(unreachable);
    });

    it('gives no other fault more runs', () => {
      const crash = failed({ errorCode: 'engine_crashed' });
      expect(withRetry(crash, attemptOf({ failedRuns: 5, unreachableSinceMs: 1000 }), patient, 2000)).toBe(crash);
      expect(withRetry(crash, attemptOf({ unreachableSinceMs: 1000 }), patient, 2000)).toMatchObject({
        waitingReason: 'retry',
        unreachableSinceMs: 1000,
      });
      const refused = failed({ errorCode: 'sink_refused' });
      expect(withRetry(refused, attemptOf(), patient, 2000)).toBe(refused);
    });
  });

  it('leaves what would fail again, and streams', () => {
    const corrupt = failed();
    expect(withRetry(corrupt, attemptOf({ failedRuns: 0 }), policy, 1000)).toBe(corrupt);
    expect(withRetry(crash, attemptOf({ isStream: true }), policy, 1000)).toBe(crash);
  });
});
