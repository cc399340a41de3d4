/** Cancelling a job whatever it does: a queued one at once, a running one by stopping it (contract A9, R3). */
import { ServiceError } from '../errors.js';
import type { ActiveRuns } from './active-runs.js';
import { isTerminal } from './job.js';
import type { CancelAnswer, JobStore } from './store.js';

/** Pause before a job is looked for again that has just been claimed, or has just stopped. */
const LOOK_AGAIN_MS = 50;
/** An engine stops within two seconds; its files and its record need a moment more. */
const STOP_DEADLINE_MS = 10_000;

/**
 * Resolves when the job has stopped: `cancelled`, or `not_cancellable` where it had ended otherwise.
 * @throws ServiceError `unavailable` where the run does not stop
 */
export async function cancelByForce(
  jobId: string,
  store: Pick<JobStore, 'cancel' | 'get'>,
  runs: ActiveRuns,
  now: () => number,
): Promise<CancelAnswer> {
  const reason = new ServiceError('cancelled', 'The job was cancelled while it was running');
  const giveUpAtMs = performance.now() + STOP_DEADLINE_MS;
  let wasStopped = false;
  while (performance.now() < giveUpAtMs) {
    const answer = await store.cancel(jobId, now());
    if (answer !== 'not_cancellable') return answer;
    const job = await store.get(jobId);
    if (!job) return 'not_found';
    if (isTerminal(job.state)) return wasStopped && job.state === 'cancelled' ? 'cancelled' : 'not_cancellable';
    // Queued again just now, or claimed and not yet begun: neither is here to be stopped, and both soon change.
    const ended = runs.stop(jobId, reason);
    wasStopped ||= ended !== undefined;
    await Promise.race([ended ?? pause(LOOK_AGAIN_MS), pause(giveUpAtMs - performance.now())]);
  }
  throw new ServiceError(
    'unavailable',
    `Job ${jobId} was told to stop and has not stopped within ${STOP_DEADLINE_MS / 1000} s; its state tells when it has`,
    { retryAfterSeconds: 10 },
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)).unref());
}
