/** A row of the table `notifications` and the Notification it stands for. */
import {
  BATCH_EVENT,
  type Notification,
  type NotificationEvent,
  type NotificationState,
  type NotificationSummary,
} from './notification.js';

export interface NotificationRow {
  readonly id: string;
  /** Of the job, or of the batch where the event is one's. */
  readonly job_id: string;
  readonly target: string;
  readonly event: NotificationEvent;
  readonly state: NotificationState;
  readonly attempts: number;
  readonly earlier_attempts: number;
  readonly created_at_ms: number;
  readonly next_attempt_at_ms: number | null;
  readonly delivered_at_ms: number | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

export function summaryOf(row: NotificationRow): NotificationSummary {
  const isOfBatch = row.event === BATCH_EVENT;
  return {
    id: row.id,
    jobId: isOfBatch ? undefined : row.job_id,
    batchId: isOfBatch ? row.job_id : undefined,
    target: row.target,
    event: row.event,
    state: row.state,
    attempts: row.attempts,
    earlierAttempts: row.earlier_attempts,
    createdAtMs: row.created_at_ms,
    nextAttemptAtMs: row.next_attempt_at_ms ?? undefined,
    deliveredAtMs: row.delivered_at_ms ?? undefined,
    lastStatus: row.last_status ?? undefined,
    lastError: row.last_error ?? undefined,
  };
}

export function notificationOf(row: NotificationRow & { readonly body: string }): Notification {
  return { ...summaryOf(row), body: row.body };
}
