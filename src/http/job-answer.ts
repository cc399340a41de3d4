/** A job as clients see it (contract A7): the Go program's fields, and what goes beyond. Never the request's own bytes. */
import { isTerminal, type Job, type JobWarning } from '../jobs/job.js';
import { outputFields, timeText } from '../jobs/job-fields.js';
import type { Progress } from './services.js';

/** Absent fields are undefined, which JSON leaves out. */
export function jobAnswer(job: Job, progress: Progress | undefined): object {
  return {
    id: job.id,
    state: job.state,
    lane: job.lane,
    from: job.from,
    to: job.to,
    attempt: job.attempt,
    created_at: timeText(job.createdAtMs),
    started_at: timeText(job.startedAtMs),
    finished_at: timeText(job.finishedAtMs),
    from_actual: job.fromActual,
    input_bytes: job.inputBytes,
    ...(isTerminal(job.state) ? endAnswer(job) : openAnswer(job, progress)),
  };
}

function openAnswer(job: Job, progress: Progress | undefined): object {
  return {
    progress: job.state === 'running' && progress ? { ...progress, unit: 'page' } : undefined,
    waiting: job.waiting && {
      reason: job.waiting.reason,
      since: timeText(job.waiting.sinceMs),
      next_attempt_at: timeText(job.waiting.nextAttemptAtMs),
    },
  };
}

function endAnswer(job: Job): object {
  return {
    output: outputFields(job),
    error: job.error,
    error_code: job.errorCode,
    reason: job.reason,
    pages: job.pages,
    warnings: job.warnings.map(warningAnswer),
  };
}

function warningAnswer({ objectId, ...warning }: JobWarning): object {
  return { ...warning, object_id: objectId };
}
