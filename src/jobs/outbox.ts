/** The table `notifications`: written in the transaction that ends a job, handed out to whoever delivers. */
import { outputFields, timeText } from './job-fields.js';
import {
  type DeliveryResult,
  isWanted,
  type JobEvent,
  type Notification,
  type NotificationState,
  type TargetEvents,
} from './notification.js';
import { type JobRow, jobOf } from './rows.js';
import type { Statements } from './statements.js';

interface NotificationRow {
  readonly id: string;
  readonly job_id: string;
  readonly target: string;
  readonly event: string;
  readonly body: string;
  readonly state: NotificationState;
  readonly attempts: number;
  readonly created_at_ms: number;
  readonly next_attempt_at_ms: number | null;
  readonly delivered_at_ms: number | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
}

function notificationOf(row: NotificationRow): Notification {
  return {
    id: row.id,
    jobId: row.job_id,
    target: row.target,
    event: row.event,
    body: row.body,
    state: row.state,
    attempts: row.attempts,
    createdAtMs: row.created_at_ms,
    nextAttemptAtMs: row.next_attempt_at_ms ?? undefined,
    deliveredAtMs: row.delivered_at_ms ?? undefined,
    lastStatus: row.last_status ?? undefined,
    lastError: row.last_error ?? undefined,
  };
}

export class OutboxTable {
  readonly #statements: Statements;
  readonly #targetEvents: TargetEvents;
  /**
   * What is being delivered. It need not outlive the process: what was on its way when that ended may or may not have
   * arrived, and is sent again.
   */
  readonly #claimed = new Set<string>();

  constructor(statements: Statements, targetEvents: TargetEvents) {
    this.#statements = statements;
    this.#targetEvents = targetEvents;
  }

  /** Writes the notification of a job that has just ended, where somebody wants it. */
  write(row: JobRow, nowMs: number): void {
    const job = jobOf(row);
    const { notify } = job.request;
    if (job.isStream || !notify || (job.state !== 'succeeded' && job.state !== 'failed')) return;
    if (!isWanted(job.state, notify, this.#targetEvents)) return;
    const event: JobEvent = job.state;
    const id = `${job.id}:${event}${row.ends > 1 ? `:${row.ends}` : ''}`;
    const body = {
      job_id: job.id,
      state: job.state,
      event,
      attempt: job.attempt,
      from: job.from,
      to: job.to,
      from_actual: job.fromActual,
      created_at: timeText(job.createdAtMs),
      started_at: timeText(job.startedAtMs),
      finished_at: timeText(job.finishedAtMs),
      input_bytes: job.inputBytes,
      pages: job.pages,
      output: outputFields(job),
      error: job.error,
      error_code: job.errorCode,
      reason: job.reason,
    };
    this.#statements
      .sql(
        `INSERT INTO notifications (id, job_id, target, event, body, state, created_at_ms, next_attempt_at_ms)
         VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)`,
      )
      .run(id, job.id, notify.target, event, JSON.stringify(body), nowMs, nowMs);
  }

  claim(nowMs: number, exceptTargets: readonly string[]): Notification | undefined {
    const row = this.#statements
      .sql(
        `SELECT * FROM notifications
         WHERE next_attempt_at_ms <= ? AND id NOT IN (SELECT value FROM json_each(?))
           AND target NOT IN (SELECT value FROM json_each(?))
         ORDER BY next_attempt_at_ms, id LIMIT 1`,
      )
      .get(nowMs, JSON.stringify([...this.#claimed]), JSON.stringify(exceptTargets)) as NotificationRow | undefined;
    if (!row) return undefined;
    this.#claimed.add(row.id);
    return notificationOf(row);
  }

  /** False where another attempt was written down before, or the notification went with its job's record. */
  settle(id: string, attempts: number, result: DeliveryResult, nowMs: number): boolean {
    this.#claimed.delete(id);
    const { changes } = this.#statements
      .sql(
        `UPDATE notifications SET state = ?, attempts = attempts + 1, next_attempt_at_ms = ?, delivered_at_ms = ?,
           last_status = ?, last_error = ?
         WHERE id = ? AND attempts = ?`,
      )
      .run(
        result.state,
        result.nextAttemptAtMs ?? null,
        result.state === 'delivered' ? nowMs : null,
        result.status ?? null,
        result.error ?? null,
        id,
        attempts,
      );
    return changes === 1;
  }

  release(id: string): void {
    this.#claimed.delete(id);
  }

  /** Those of a job whose record goes. */
  removeOf(jobId: string): void {
    this.#statements.sql('DELETE FROM notifications WHERE job_id = ?').run(jobId);
  }

  /** How many are still to be delivered, by state. */
  open(): { readonly state: 'pending' | 'abandoned'; readonly count: number }[] {
    const rows = this.#statements
      .sql(`SELECT state, count(*) AS count FROM notifications WHERE state IN ('pending', 'abandoned') GROUP BY state`)
      .all() as { state: string; count: number }[];
    const counts = new Map(rows.map((row) => [row.state, row.count]));
    return (['pending', 'abandoned'] as const).map((state) => ({ state, count: counts.get(state) ?? 0 }));
  }
}
