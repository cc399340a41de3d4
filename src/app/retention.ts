/** Removes the records of jobs that ended long ago, at start and again and again, in steps that block no request (contract R7). */
import type { JobStore } from '../jobs/store.js';
import { RepeatedWork } from './repeated-work.js';

const LONGEST_PAUSE_MS = 3_600_000;
const SHORTEST_PAUSE_MS = 30_000;
const JOBS_A_STEP = 200;
const PAUSE_MS = 50;

/** Between two looks for what is too old: nothing is kept much longer than it is to be, and never an hour longer. */
export function pauseBetweenLooksMs(retentionMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, retentionMs / 8));
}

export interface RetentionOptions {
  readonly store: Pick<JobStore, 'prune'>;
  readonly retentionMs: number;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

/** Prunes at start and from then on. */
export function startRetention({ store, retentionMs, now, onError }: RetentionOptions): RepeatedWork {
  const work = new RepeatedWork({
    everyMs: pauseBetweenLooksMs(retentionMs),
    onError,
    pass: async (isClosed) => {
      const beforeMs = now() - retentionMs;
      while (!isClosed() && (await store.prune(beforeMs, JOBS_A_STEP)) === JOBS_A_STEP) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    },
  });
  work.start();
  return work;
}
