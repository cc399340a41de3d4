/** A row of the table `jobs` and the Job it stands for. */
import type { ErrorCode, FailureReason } from '../errors.js';
import type { FormatId } from '../formats.js';
import type { Attempt, Job, JobState, LaneName, WaitingReason } from './job.js';

/** Columns as SQLite gives them: booleans are 0 and 1, lists and objects are JSON. */
export interface JobRow {
  readonly id: string;
  readonly state: JobState;
  readonly lane: LaneName;
  readonly is_stream: number;
  readonly high_priority: number;
  readonly from_format: FormatId | null;
  readonly to_format: FormatId;
  readonly request: string;
  readonly input_bytes: number;
  readonly created_at_ms: number;
  readonly attempt: number;
  readonly failed_runs: number;
  readonly crashes: number;
  readonly waiting_reason: WaitingReason | null;
  readonly waiting_since_ms: number | null;
  readonly unreachable_since_ms: number | null;
  readonly run_at_ms: number | null;
  readonly started_at_ms: number | null;
  readonly finished_at_ms: number | null;
  readonly from_actual: FormatId | null;
  readonly output_kind: string | null;
  readonly output_path: string | null;
  readonly output_bytes: number | null;
  readonly products: string | null;
  readonly pages: number | null;
  readonly warnings: string | null;
  readonly error_code: ErrorCode | null;
  readonly reason: FailureReason | null;
  readonly error: string | null;
  readonly ends: number;
  readonly request_hash: string | null;
}

export function jobOf(row: JobRow): Job {
  return {
    id: row.id,
    state: row.state,
    lane: row.lane,
    from: row.from_format ?? undefined,
    to: row.to_format,
    attempt: row.attempt,
    createdAtMs: row.created_at_ms,
    startedAtMs: row.started_at_ms ?? undefined,
    finishedAtMs: row.finished_at_ms ?? undefined,
    fromActual: row.from_actual ?? undefined,
    inputBytes: row.input_bytes,
    highPriority: row.high_priority === 1,
    isStream: row.is_stream === 1,
    request: JSON.parse(row.request),
    output:
      row.output_kind === null
        ? undefined
        : { kind: row.output_kind, path: row.output_path ?? '', sizeBytes: row.output_bytes ?? 0 },
    products: row.products === null ? [] : JSON.parse(row.products),
    errorCode: row.error_code ?? undefined,
    reason: row.reason ?? undefined,
    error: row.error ?? undefined,
    pages: row.pages ?? undefined,
    warnings: row.warnings === null ? [] : JSON.parse(row.warnings),
    waiting:
      row.state !== 'queued' || row.waiting_reason === null
        ? undefined
        : {
            reason: row.waiting_reason,
            sinceMs: row.waiting_since_ms ?? row.created_at_ms,
            nextAttemptAtMs: row.run_at_ms ?? row.created_at_ms,
          },
  };
}

export function attemptOf(row: JobRow): Attempt {
  return {
    job: jobOf(row),
    number: row.attempt,
    failedRuns: row.failed_runs,
    unreachableSinceMs: row.unreachable_since_ms ?? undefined,
  };
}
