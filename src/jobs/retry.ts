/** When a failed run is worth another one (contract R4). */
import { ERROR_CODES } from '../errors.js';
import type { Attempt, FailedOutcome, Outcome } from './job.js';

export interface RetryPolicy {
  /** Runs of a job in all; 0 and 1 both mean one. Interrupted runs do not count. */
  readonly maxAttempts: number;
  /** Wait before the second run; doubled for each one after. */
  readonly backoffMs: number;
}

/** No job waits longer than this for its next run. */
export const LONGEST_WAIT_MS = 10 * 60_000;

/** Wait in milliseconds after `failedRuns` (1 or more) runs have failed. */
export function backoffAfter(failedRuns: number, backoffMs: number): number {
  return Math.min(backoffMs * 2 ** (failedRuns - 1), LONGEST_WAIT_MS);
}

/** The outcome as it stands, or a retry where the code is one that may pass and the job has runs left. */
export function withRetry(outcome: FailedOutcome, attempt: Attempt, policy: RetryPolicy, nowMs: number): Outcome {
  const failedRuns = attempt.failedRuns + 1;
  const isWorthIt = ERROR_CODES[outcome.errorCode].retryable && !attempt.job.isStream;
  if (!isWorthIt || failedRuns >= policy.maxAttempts) return outcome;
  return {
    ...outcome,
    kind: 'retry',
    runAtMs: nowMs + backoffAfter(failedRuns, policy.backoffMs),
    waitingReason: 'retry',
  };
}
