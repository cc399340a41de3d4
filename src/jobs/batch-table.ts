/** The tables `batches` and `batch_items`: items follow their jobs, and the last one to end completes the batch. */
import { type ErrorCode, type FailureReason, ServiceError } from '../errors.js';
import { type Batch, countsOf, type ItemFault, type NewBatch, type NewBatchItem } from './batch.js';
import { isTerminal, type Job, type JobState } from './job.js';
import { timeText } from './job-fields.js';
import { BATCH_EVENT } from './notification.js';
import type { OutboxTable } from './outbox.js';
import type { Statements } from './statements.js';
import { type InputRecord, keyConflict, type Submissions } from './submissions.js';

interface BatchRow {
  readonly id: string;
  readonly notify: string | null;
  readonly created_at_ms: number;
  readonly finished_at_ms: number | null;
  readonly ends: number;
  readonly request_hash: string | null;
}

interface ItemRow {
  readonly item_index: number;
  readonly job_id: string | null;
  readonly state: JobState;
  readonly error_code: ErrorCode | null;
  readonly reason: FailureReason | null;
  readonly error: string | null;
}

/** An item as it goes into its table: a job, new or of an earlier submission, or the fault that it ended with. */
type Taken = { readonly job: Job; readonly isReplay: boolean } | { readonly fault: ItemFault };

/** How a job ended, as its items remember it. */
type End = Pick<Job, 'state' | 'errorCode' | 'reason' | 'error'>;

/** Items of ended batches that one step of retention removes. */
const ITEMS_A_STEP = 1000;

export class BatchTable {
  readonly #statements: Statements;
  readonly #submissions: Submissions;
  readonly #outbox: OutboxTable;

  constructor(statements: Statements, submissions: Submissions, outbox: OutboxTable) {
    this.#statements = statements;
    this.#submissions = submissions;
    this.#outbox = outbox;
  }

  /** The batch that a key made before. @throws ServiceError `conflict` where the key belongs to another request */
  submittedWith({ key, requestHash }: NonNullable<NewBatch['idempotency']>): Batch | undefined {
    this.#submissions.refuseKeyOf('jobs', key);
    const row = this.#statements.sql('SELECT * FROM batches WHERE idempotency_key = ?').get(key) as
      | BatchRow
      | undefined;
    if (!row || row.request_hash === requestHash) return row && this.#batchOf(row);
    throw keyConflict(`batch ${row.id}`);
  }

  /** Writes down the batch and the jobs of its items. Also answers which input files no job has taken. */
  add(
    batch: NewBatch,
    items: readonly NewBatchItem<InputRecord | undefined>[],
  ): { readonly batch: Batch; readonly unusedFiles: readonly string[] } {
    const { createdAtMs, notify, idempotency } = batch;
    const id = this.#submissions.newId(createdAtMs);
    this.#statements
      .sql(
        `INSERT INTO batches (id, total, notify, created_at_ms, idempotency_key, request_hash)
         VALUES (?, ?, ?, ?, ?, ?)`,
      )
      .run(
        id,
        items.length,
        notify ? JSON.stringify(notify) : null,
        createdAtMs,
        idempotency?.key ?? null,
        idempotency?.requestHash ?? null,
      );
    const unusedFiles: string[] = [];
    for (const [index, item] of items.entries()) {
      const taken = 'fault' in item ? item : this.#submit(item);
      const isUsed = 'job' in taken && !taken.isReplay;
      if (!isUsed && 'input' in item && item.input && 'file' in item.input) unusedFiles.push(item.input.file);
      this.#addItem(id, index, taken);
    }
    this.#completeIfDone(id, createdAtMs);
    return { batch: this.get(id) as Batch, unusedFiles };
  }

  /** An item whose own key belongs to another request fails alone. */
  #submit({ job, input }: Extract<NewBatchItem<InputRecord | undefined>, { job: unknown }>): Taken {
    try {
      return this.#submissions.submit(job, input);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { fault: { errorCode: error.code, reason: error.reason, error: error.message } };
    }
  }

  #addItem(batchId: string, index: number, taken: Taken): void {
    const job = 'job' in taken ? taken.job : undefined;
    const end: End | undefined =
      'fault' in taken
        ? { state: 'failed', reason: undefined, ...taken.fault }
        : isTerminal(taken.job.state)
          ? taken.job
          : undefined;
    this.#statements
      .sql('INSERT INTO batch_items VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(batchId, index, job?.id ?? null, 'isReplay' in taken && taken.isReplay ? 1 : 0, ...endColumns(end));
  }

  get(id: string): Batch | undefined {
    const row = this.#row(id);
    return row && this.#batchOf(row);
  }

  #row(id: string): BatchRow | undefined {
    return this.#statements.sql('SELECT * FROM batches WHERE id = ?').get(id) as BatchRow | undefined;
  }

  #batchOf(row: BatchRow): Batch {
    // An item without an end has a job that is still there: retention takes none that goes on.
    const items = this.#statements
      .sql(
        `SELECT item_index, job_id, coalesce(end_state, jobs.state) AS state, batch_items.error_code,
           batch_items.reason, batch_items.error
         FROM batch_items LEFT JOIN jobs ON jobs.id = job_id WHERE batch_id = ? ORDER BY item_index`,
      )
      .all(row.id) as ItemRow[];
    return {
      id: row.id,
      createdAtMs: row.created_at_ms,
      finishedAtMs: row.finished_at_ms ?? undefined,
      items: items.map((item) => ({
        index: item.item_index,
        jobId: item.job_id ?? undefined,
        state: item.state,
        errorCode: item.error_code ?? undefined,
        reason: item.reason ?? undefined,
        error: item.error ?? undefined,
      })),
    };
  }

  /** A job has ended: so have the items that stand for it, and perhaps their batches. */
  jobEnded(jobId: string, end: End, nowMs: number): void {
    const batchIds = this.#statements
      .sql(
        `UPDATE batch_items SET end_state = ?, error_code = ?, reason = ?, error = ? WHERE job_id = ?
         RETURNING batch_id`,
      )
      .pluck()
      .all(...endColumns(end), jobId) as string[];
    for (const id of new Set(batchIds)) this.#completeIfDone(id, nowMs);
  }

  /** A job that had ended goes on after a retry by hand, and so do its batches. */
  jobReopened(jobId: string): void {
    const batchIds = this.#statements
      .sql(
        `UPDATE batch_items SET end_state = NULL, error_code = NULL, reason = NULL, error = NULL WHERE job_id = ?
         RETURNING batch_id`,
      )
      .pluck()
      .all(jobId) as string[];
    for (const id of batchIds) {
      this.#statements.sql('UPDATE batches SET finished_at_ms = NULL WHERE id = ?').run(id);
    }
  }

  #completeIfDone(id: string, nowMs: number): void {
    const isOpen = this.#statements
      .sql('SELECT 1 FROM batch_items WHERE batch_id = ? AND end_state IS NULL LIMIT 1')
      .get(id);
    if (isOpen) return;
    const row = this.#statements
      .sql('UPDATE batches SET finished_at_ms = ?, ends = ends + 1 WHERE id = ? RETURNING *')
      .get(nowMs, id) as BatchRow;
    if (row.notify !== null) this.#notify(row, JSON.parse(row.notify));
  }

  #notify(row: BatchRow, notify: NonNullable<NewBatch['notify']>): void {
    const batch = this.#batchOf(row);
    const { target, events } = notify;
    this.#outbox.add({
      id: `${row.id}:${BATCH_EVENT}${row.ends > 1 ? `:${row.ends}` : ''}`,
      subject: row.id,
      event: BATCH_EVENT,
      notify: { target, events },
      body: {
        batch_id: row.id,
        state: 'completed',
        event: BATCH_EVENT,
        ...countsOf(batch),
        created_at: timeText(batch.createdAtMs),
        finished_at: timeText(batch.finishedAtMs),
        status_url: `/v1/batches/${row.id}`,
      },
      nowMs: row.finished_at_ms ?? row.created_at_ms,
    });
  }

  /** Jobs that this batch made and that have not ended. */
  openJobs(id: string): string[] {
    return this.#statements
      .sql(
        `SELECT job_id FROM batch_items WHERE batch_id = ? AND end_state IS NULL AND is_replay = 0
         ORDER BY item_index`,
      )
      .pluck()
      .all(id) as string[];
  }

  /**
   * Removes batches that ended before `beforeMs`, with their notifications.
   * @returns how many; `limit` where there may be more
   */
  prune(beforeMs: number, limit: number): number {
    const rows = this.#statements
      .sql('SELECT id, total FROM batches WHERE finished_at_ms < ? ORDER BY finished_at_ms LIMIT ?')
      .all(beforeMs, limit) as { id: string; total: number }[];
    let items = 0;
    for (const [index, { id, total }] of rows.entries()) {
      if (index > 0 && items + total > ITEMS_A_STEP) return limit;
      items += total;
      this.#statements.sql('DELETE FROM batch_items WHERE batch_id = ?').run(id);
      this.#statements.sql('DELETE FROM batches WHERE id = ?').run(id);
      this.#outbox.removeOf(id);
    }
    return rows.length;
  }
}

function endColumns(end: End | undefined): readonly (string | null)[] {
  return [end?.state ?? null, end?.errorCode ?? null, end?.reason ?? null, end?.error ?? null];
}
