/** A job as clients see it (contract A7): the Go program's fields, and what goes beyond. Absent fields are undefined. */
import { placeOf } from '../jobs/down-targets.js';
import { isTerminal, type Job, type JobWarning } from '../jobs/job.js';
import { outputFields, timeText } from '../jobs/job-fields.js';
import type { AcceptedAnswer, JobAnswer, JobSummary, ProgressAnswer, WarningAnswer, Written } from './answers.js';
import type { Hindrance, Progress } from './services.js';

export function acceptedAnswer(job: Job): Written<typeof AcceptedAnswer> {
  return {
    id: job.id,
    state: job.state,
    lane: job.lane,
    to: job.to,
    created_at: new Date(job.createdAtMs).toISOString(),
    status_url: `/v1/jobs/${job.id}`,
  };
}

/** @param hindrances why jobs do not start now */
export function jobSummary(
  job: Job,
  progress: Progress | undefined,
  hindrances: readonly Hindrance[],
): Written<typeof JobSummary> {
  const hasEnded = isTerminal(job.state);
  return {
    id: job.id,
    state: job.state,
    lane: job.lane,
    from: job.from,
    to: job.to,
    attempt: job.attempt,
    created_at: new Date(job.createdAtMs).toISOString(),
    started_at: timeText(job.startedAtMs),
    finished_at: timeText(job.finishedAtMs),
    from_actual: job.fromActual,
    input_bytes: job.inputBytes,
    progress: job.state === 'running' ? progressAnswer(progress) : undefined,
    waiting: hasEnded ? undefined : waitingAnswer(job, hindrances),
    ...(hasEnded && { error: job.error, error_code: job.errorCode, reason: job.reason, pages: job.pages }),
  };
}

/** Never the request's own bytes. */
export function jobAnswer(
  job: Job,
  progress: Progress | undefined,
  hindrances: readonly Hindrance[] = [],
): Written<typeof JobAnswer> {
  return {
    ...jobSummary(job, progress, hindrances),
    ...(isTerminal(job.state) && { output: outputFields(job), warnings: job.warnings.map(warningAnswer) }),
  };
}

export function progressAnswer(progress: Progress | undefined): Written<typeof ProgressAnswer> | undefined {
  return progress && { done: progress.done, total: progress.total, unit: 'page' };
}

/** What the job itself waits for, else what keeps jobs of its kind from starting. */
function waitingAnswer(
  { state, createdAtMs, waiting, request }: Job,
  hindrances: readonly Hindrance[],
): Written<typeof JobSummary>['waiting'] {
  if (waiting) {
    return {
      reason: waiting.reason,
      since: new Date(waiting.sinceMs).toISOString(),
      next_attempt_at: new Date(waiting.nextAttemptAtMs).toISOString(),
    };
  }
  const hindrance = hindrances.find(({ kinds }) => kinds?.includes(placeOf({ request })) ?? true);
  if (state !== 'queued' || !hindrance) return undefined;
  const since = Math.max(createdAtMs, hindrance.sinceMs);
  return { reason: hindrance.reason, since: new Date(since).toISOString() };
}

function warningAnswer({ objectId, ...warning }: JobWarning): Written<typeof WarningAnswer> {
  return { ...warning, object_id: objectId };
}
