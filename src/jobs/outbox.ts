/** The table `notifications`: written in the transaction that ends a job, handed out to whoever delivers. */
import { outputFields, timeText } from './job-fields.js';
import {
  type DeliveryResult,
  isWanted,
  type JobEvent,
  type Notification,
  type NotificationEvent,
  type NotificationState,
  type NotificationSummary,
  type TargetEvents,
} from './notification.js';
import { type NotificationRow, notificationOf, summaryOf } from './notification-rows.js';
import { type JobRow, jobOf } from './rows.js';
import type { Statements } from './statements.js';

type FullRow = NotificationRow & { readonly body: string };

/** What an attempt made of a notification. */
interface SettledNotification {
  readonly before: NotificationState;
  readonly after: NotificationState;
}

/** A notification to be written, where somebody wants it. */
interface NewNotification {
  readonly id: string;
  /** Id of the job or the batch. */
  readonly subject: string;
  readonly event: NotificationEvent;
  readonly notify: { readonly target: string; readonly events?: readonly string[] | undefined };
  readonly body: object;
  readonly nowMs: number;
}

export class OutboxTable {
  readonly #statements: Statements;
  readonly #targetEvents: TargetEvents;
  /**
   * What is being delivered. It need not outlive the process: what was on its way when that ended may or may not have
   * arrived, and is sent again.
   */
  readonly #claimed = new Set<string>();
  /** Those of them that were made due again by hand meanwhile. */
  readonly #dueAgain = new Set<string>();

  constructor(statements: Statements, targetEvents: TargetEvents) {
    this.#statements = statements;
    this.#targetEvents = targetEvents;
  }

  /** Writes the notification of a job that has just ended, where somebody wants it. */
  write(row: JobRow, nowMs: number): void {
    const job = jobOf(row);
    const { notify } = job.request;
    if (job.isStream || !notify || (job.state !== 'succeeded' && job.state !== 'failed')) return;
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
    this.add({ id, subject: job.id, event, notify, body, nowMs });
  }

  /** Writes a notification that is due at once, where both the target and whoever asked for it want to hear of it. */
  add({ id, subject, event, notify, body, nowMs }: NewNotification): void {
    if (!isWanted(event, notify, this.#targetEvents)) return;
    this.#statements
      .sql(
        `INSERT INTO notifications (id, job_id, target, event, body, state, created_at_ms, next_attempt_at_ms)
         VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)`,
      )
      .run(id, subject, notify.target, event, JSON.stringify(body), nowMs, nowMs);
  }

  claim(nowMs: number, exceptTargets: readonly string[]): Notification | undefined {
    const row = this.#statements
      .sql(
        `SELECT * FROM notifications
         WHERE next_attempt_at_ms <= ? AND id NOT IN (SELECT value FROM json_each(?))
           AND target NOT IN (SELECT value FROM json_each(?))
         ORDER BY next_attempt_at_ms, id LIMIT 1`,
      )
      .get(nowMs, JSON.stringify([...this.#claimed]), JSON.stringify(exceptTargets)) as FullRow | undefined;
    if (!row) return undefined;
    this.#claimed.add(row.id);
    return notificationOf(row);
  }

  /**
   * Writes down an attempt. One that did not get through leaves alone what was made due again by hand meanwhile.
   * @returns the states before and after; undefined where another attempt was written down before, or the notification
   *   went with its job's record
   */
  settle(id: string, attempts: number, result: DeliveryResult, nowMs: number): SettledNotification | undefined {
    this.#claimed.delete(id);
    const isDueAgain = this.#dueAgain.delete(id) && result.state !== 'delivered';
    const before = this.#statements
      .sql('SELECT state FROM notifications WHERE id = ? AND attempts = ?')
      .pluck()
      .get(id, attempts) as NotificationState | undefined;
    if (before === undefined) return undefined;
    const after = isDueAgain ? 'pending' : result.state;
    this.#statements
      .sql(
        `UPDATE notifications SET state = ?, attempts = attempts + 1, next_attempt_at_ms = ?, delivered_at_ms = ?,
           last_status = ?, last_error = ? WHERE id = ?`,
      )
      .run(
        after,
        isDueAgain ? nowMs : (result.nextAttemptAtMs ?? null),
        result.state === 'delivered' ? nowMs : null,
        result.status ?? null,
        result.error ?? null,
        id,
      );
    return { before, after };
  }

  /** Makes it due now, whatever became of it. */
  redeliver(id: string, nowMs: number): NotificationSummary | undefined {
    if (this.#claimed.has(id)) this.#dueAgain.add(id);
    const row = this.#statements
      .sql(
        `UPDATE notifications SET state = 'pending', next_attempt_at_ms = ?, delivered_at_ms = NULL,
           earlier_attempts = attempts WHERE id = ? RETURNING *`,
      )
      .get(nowMs, id) as NotificationRow | undefined;
    return row && summaryOf(row);
  }

  get(id: string): NotificationSummary | undefined {
    const row = this.#statements.sql('SELECT * FROM notifications WHERE id = ?').get(id) as NotificationRow | undefined;
    return row && summaryOf(row);
  }

  release(id: string): void {
    this.#claimed.delete(id);
    this.#dueAgain.delete(id);
  }

  /** Those of a job or a batch whose record goes. */
  removeOf(subject: string): void {
    this.#statements.sql('DELETE FROM notifications WHERE job_id = ?').run(subject);
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
