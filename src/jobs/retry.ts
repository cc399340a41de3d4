/** When a failed run is worth another one (contract R4). */
import { ERROR_CODES } from '../errors.js';
import type { Attempt, FailedOutcome, Outcome } from './job.js';

export interface RetryPolicy {
  /** Runs of a job in all; 0 and 1 both mean one. Interrupted runs do not count. */
  readonly maxAttempts: number;
  /** Wait before the second run; doubled for each one after. */
  readonly backoffMs: number;
  /** How long a target that cannot be reached is waited for when those runs are used up; 0 waits not at all. */
  readonly sinkRetryForMs: number;
}

/** No job waits longer than this for its next run. */
export const LONGEST_WAIT_MS = 10 * 60_000;

/** Wait in milliseconds after `failedRuns` (1 or more) runs have failed. */
export function backoffAfter(failedRuns: number, backoffMs: number): number {
  return Math.min(backoffMs * 2 ** (failedRuns - 1), LONGEST_WAIT_MS);
}

/**
 * The outcome as it stands, or a retry where the code is one that may pass and the job has runs left, or its target may
 * still come back: then on a slow clock, whose last run comes when the time for it is up.
 */
export function withRetry(outcome: FailedOutcome, attempt: Attempt, policy: RetryPolicy, nowMs: number): Outcome {
  if (!ERROR_CODES[outcome.errorCode].retryable || attempt.job.isStream) return outcome;
  const failedRuns = attempt.failedRuns + 1;
  const isUnreachable = outcome.errorCode === 'sink_unreachable';
  const unreachableSinceMs = attempt.unreachableSinceMs ?? (isUnreachable ? nowMs : undefined);
  const giveUpAtMs = isUnreachable && unreachableSinceMs !== undefined ? unreachableSinceMs + policy.sinkRetryForMs : 0;
  const hasRuns = failedRuns < policy.maxAttempts;
  if (!hasRuns && nowMs >= giveUpAtMs) return outcome;
  const runAtMs = nowMs + backoffAfter(failedRuns, policy.backoffMs);
  return {
    ...outcome,
    kind: 'retry',
    runAtMs: hasRuns ? runAtMs : Math.min(runAtMs, giveUpAtMs),
    waitingReason: isUnreachable ? 'sink_unreachable' : 'retry',
    unreachableSinceMs,
  };
}
