/**
 * All SQL of the job store, synchronous; runs in the store's thread (store-thread.ts). Each method is one operation of
 * JobStore; the thread wraps the writing ones of one moment in a common transaction.
 */
import type { Database, Statement } from 'better-sqlite3';
import { ERROR_CODES, type ErrorCode } from '../errors.js';
import type { RunsOfJob } from './attempt-log-files.js';
import type { Batch, NewBatch, NewBatchItem, SubmittedBatch } from './batch.js';
import { BatchTable } from './batch-table.js';
import { CounterTable, deliveryOutcomeOf } from './counters.js';
import { FactTable } from './facts.js';
import type { Attempt, FailedOutcome, Job, LaneName, NewJob, Outcome, RetryOutcome } from './job.js';
import { listStep } from './job-list.js';
import type {
  DeliveryResult,
  Notification,
  NotificationFilter,
  NotificationSummary,
  TargetEvents,
} from './notification.js';
import { listNotifications } from './notification-list.js';
import { OutboxTable } from './outbox.js';
import type { ListStep } from './paging.js';
import { queueDepth } from './queue-depth.js';
import { LONGEST_WAIT_MS } from './retry.js';
import { attemptOf, type JobRow, jobOf } from './rows.js';
import { Statements } from './statements.js';
import type {
  CancelAnswer,
  JobFilter,
  RecoverOptions,
  Recovery,
  RetryAnswer,
  StoreSnapshot,
  Submitted,
} from './store.js';
import { type InputRecord, Submissions } from './submissions.js';
import { Transactions } from './transactions.js';
import { type KnownUpload, type PlannedUpload, UploadTable } from './uploads.js';

export class JobDatabase {
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #counters: CounterTable;
  readonly #outbox: OutboxTable;
  readonly #facts: FactTable;
  readonly #submissions: Submissions;
  readonly #batches: BatchTable;
  readonly #uploads: UploadTable;
  readonly #transactions: Transactions;

  /** @param database open, locked and migrated (open-database.ts) */
  constructor(database: Database, targetEvents: TargetEvents) {
    this.#database = database;
    this.#statements = new Statements(database);
    this.#transactions = new Transactions(database, this.#statements);
    this.#counters = new CounterTable(this.#statements);
    this.#outbox = new OutboxTable(this.#statements, targetEvents);
    this.#facts = new FactTable(this.#statements);
    this.#submissions = new Submissions(this.#statements, this.#facts);
    this.#batches = new BatchTable(this.#statements, this.#submissions, this.#outbox);
    this.#uploads = new UploadTable(this.#statements);
  }

  #sql(text: string): Statement {
    return this.#statements.sql(text);
  }

  /** Runs all `operations` in one transaction. See Transactions. */
  transact<T>(operations: readonly (() => T)[]): ({ value: T } | { error: unknown })[] {
    return this.#transactions.run(operations);
  }

  /** What may be removed outside the database; to be asked after a transaction. */
  takeLeft(): ReturnType<Transactions['takeLeft']> {
    return this.#transactions.takeLeft();
  }

  /** The next so many jobs behind an id, in the order of their ids. */
  runsAfter(id: string, limit: number): RunsOfJob[] {
    return this.#sql('SELECT id, attempt AS attempts FROM jobs WHERE id > ? ORDER BY id LIMIT ?').all(
      id,
      limit,
    ) as RunsOfJob[];
  }

  submit(job: NewJob, input: InputRecord | undefined): Submitted {
    return this.#submissions.submit(job, input);
  }

  submitBatch(batch: NewBatch, items: readonly NewBatchItem<InputRecord | undefined>[]): SubmittedBatch {
    const first = batch.idempotency && this.#batches.submittedWith(batch.idempotency);
    if (first) {
      this.#transactions.leaveFiles(filesOf(items));
      return { batch: first, isReplay: true };
    }
    const { batch: added, unusedFiles } = this.#batches.add(batch, items);
    this.#transactions.leaveFiles(unusedFiles);
    return { batch: added, isReplay: false };
  }

  batch(id: string): Batch | undefined {
    return this.#batches.get(id);
  }

  /** Cancels what a batch has made and nobody runs yet. Gives the jobs that were cancelled. */
  cancelBatch(id: string, nowMs: number): string[] {
    return this.#batches.openJobs(id).filter((jobId) => this.cancel(jobId, nowMs) === 'cancelled');
  }

  openJobsOfBatch(id: string): string[] {
    return this.#batches.openJobs(id);
  }

  begin(job: NewJob): Attempt {
    return attemptOf(this.#submissions.insert(job, 'running'));
  }

  claim(lane: LaneName, nowMs: number, exceptPlaces: readonly string[] = []): Attempt | undefined {
    // What is further away than any wait was planned before the clock stepped back.
    this.#sql(
      `UPDATE jobs SET run_at_ms = NULL, waiting_reason = NULL, waiting_since_ms = NULL
       WHERE state = 'queued' AND run_at_ms IS NOT NULL AND (run_at_ms <= ? OR run_at_ms > ?)`,
    ).run(nowMs, nowMs + LONGEST_WAIT_MS);
    // As placeOf() writes them.
    const isWanted = `coalesce(request ->> '$.output.kind' || '/' || (request ->> '$.output.remote.target'),
                     request ->> '$.output.kind') NOT IN (SELECT value FROM json_each(?))`;
    const row = this.#sql(
      `UPDATE jobs SET state = 'running', attempt = attempt + 1, started_at_ms = ?
       WHERE id = (SELECT id FROM jobs WHERE lane = ? AND state = 'queued' AND run_at_ms IS NULL
                   ${exceptPlaces.length === 0 ? '' : `AND ${isWanted}`}
                   ORDER BY high_priority DESC, id LIMIT 1)
       RETURNING *`,
    ).get(nowMs, lane, ...(exceptPlaces.length === 0 ? [] : [JSON.stringify(exceptPlaces)])) as JobRow | undefined;
    return row && attemptOf(row);
  }

  input(jobId: string): InputRecord | undefined {
    const row = this.#sql('SELECT bytes, file FROM inputs WHERE job_id = ?').get(jobId) as
      | { bytes: Uint8Array | null; file: string | null }
      | undefined;
    if (row?.bytes) return { bytes: row.bytes };
    return row?.file ? { file: row.file } : undefined;
  }

  settle(jobId: string, attempt: number, outcome: Outcome, nowMs: number): boolean {
    const row =
      outcome.kind === 'retry'
        ? this.#queueAgain(jobId, attempt, outcome, nowMs)
        : this.#end(jobId, attempt, outcome, nowMs);
    if (!row) return false;
    const delivery = row.is_stream === 1 ? undefined : deliveryOutcomeOf(outcome);
    if (delivery) this.#counters.countDelivery(jobOf(row).request.output.kind, delivery);
    return true;
  }

  #queueAgain(jobId: string, attempt: number, outcome: RetryOutcome, nowMs: number): JobRow | undefined {
    return this.#sql(
      `UPDATE jobs SET state = 'queued', failed_runs = failed_runs + 1, run_at_ms = ?, waiting_reason = ?,
         waiting_since_ms = ?, unreachable_since_ms = ?, error_code = ?, reason = ?, error = ?
       WHERE id = ? AND state = 'running' AND attempt = ? AND is_stream = 0 RETURNING *`,
    ).get(
      outcome.runAtMs,
      outcome.waitingReason,
      outcome.waitingReason === 'sink_unreachable' ? (outcome.unreachableSinceMs ?? nowMs) : nowMs,
      outcome.unreachableSinceMs ?? null,
      outcome.errorCode,
      outcome.reason ?? null,
      outcome.error,
      jobId,
      attempt,
    ) as JobRow | undefined;
  }

  #end(jobId: string, attempt: number, outcome: Exclude<Outcome, RetryOutcome>, nowMs: number): JobRow | undefined {
    const success = outcome.kind === 'succeeded' ? outcome : undefined;
    const fault = outcome.kind === 'failed' ? outcome : undefined;
    const row = this.#sql(
      `UPDATE jobs SET state = ?, finished_at_ms = ?, from_actual = ?, input_bytes = coalesce(?, input_bytes),
         output_kind = ?, output_path = ?, output_bytes = ?, products = ?, pages = ?, warnings = ?,
         error_code = ?, reason = ?, error = ?, is_dead_letter = (1 - is_stream) * ?, ends = ends + ?
       WHERE id = ? AND state = 'running' AND attempt = ? RETURNING *`,
    ).get(
      outcome.kind,
      nowMs,
      outcome.fromActual ?? null,
      outcome.inputBytes ?? null,
      success?.output.kind ?? null,
      success?.output.path ?? null,
      success?.output.sizeBytes ?? null,
      success ? JSON.stringify(success.products) : null,
      success?.pages ?? null,
      outcome.warnings?.length ? JSON.stringify(outcome.warnings) : null,
      fault?.errorCode ?? (outcome.kind === 'cancelled' ? 'cancelled' : null),
      fault?.reason ?? null,
      outcome.kind === 'succeeded' ? null : (outcome.error ?? null),
      fault && isWorthARetry(fault) ? 1 : 0,
      outcome.kind === 'cancelled' ? 0 : 1,
      jobId,
      attempt,
    ) as JobRow | undefined;
    if (!row) return undefined;
    // A stream is never run again; what else failed may be, by hand.
    if (outcome.kind !== 'failed' || row.is_stream === 1) this.#dropInput(jobId);
    if (outcome.kind === 'succeeded') this.#uploads.removeOf(jobId);
    if (outcome.kind !== 'cancelled') {
      this.#counters.countConversion(row);
      this.#facts.setOnce('counting_since_ms', String(nowMs));
      this.#outbox.write(row, nowMs);
    }
    this.#batches.jobEnded(jobId, jobOf(row), nowMs);
    return row;
  }

  /** The job is never run again: neither its document nor what opens it is needed. */
  #dropInput(jobId: string): void {
    this.#forgetWhatOpensIt(jobId);
    const row = this.#sql('DELETE FROM inputs WHERE job_id = ? RETURNING file').get(jobId) as
      | { file: string | null }
      | undefined;
    if (row?.file) this.#transactions.leaveFiles([row.file]);
  }

  /** A password, or an address, whose query may be a signature that lets anybody in. False where there is none. */
  #forgetWhatOpensIt(jobId: string): boolean {
    const { changes } = this.#sql(
      `UPDATE jobs SET request = json_remove(request, '$.output.options.password', '$.input.url')
       WHERE id = ? AND (json_extract(request, '$.output.options.password') IS NOT NULL
                      OR json_extract(request, '$.input.url') IS NOT NULL)`,
    ).run(jobId);
    return changes === 1;
  }

  requeue(jobId: string, attempt: number): boolean {
    const { changes } = this.#sql(
      `UPDATE jobs SET state = 'queued', started_at_ms = NULL
       WHERE id = ? AND state = 'running' AND attempt = ? AND is_stream = 0`,
    ).run(jobId, attempt);
    return changes === 1;
  }

  cancel(jobId: string, nowMs: number): CancelAnswer {
    const row = this.#sql(
      `UPDATE jobs SET state = 'cancelled', finished_at_ms = ?, run_at_ms = NULL, error_code = 'cancelled',
         reason = NULL, error = 'Cancelled while it was queued'
       WHERE id = ? AND state = 'queued' RETURNING *`,
    ).get(nowMs, jobId) as JobRow | undefined;
    if (!row) return this.get(jobId) ? 'not_cancellable' : 'not_found';
    this.#dropInput(jobId);
    this.#batches.jobEnded(jobId, jobOf(row), nowMs);
    return 'cancelled';
  }

  retry(jobId: string): RetryAnswer {
    const { changes } = this.#sql(
      `UPDATE jobs SET state = 'queued', is_dead_letter = 0, failed_runs = 0, crashes = 0, run_at_ms = NULL,
         waiting_reason = NULL, waiting_since_ms = NULL, unreachable_since_ms = NULL, started_at_ms = NULL,
         finished_at_ms = NULL, from_actual = NULL, warnings = NULL, error_code = NULL, reason = NULL, error = NULL
       WHERE id = ? AND is_dead_letter = 1`,
    ).run(jobId);
    if (changes === 1) {
      this.#batches.jobReopened(jobId);
      return 'queued';
    }
    return this.get(jobId) ? 'not_retryable' : 'not_found';
  }

  get(jobId: string): Job | undefined {
    const row = this.#sql('SELECT * FROM jobs WHERE id = ?').get(jobId) as JobRow | undefined;
    return row && jobOf(row);
  }

  listStep(filter: JobFilter, limit: number, below: string | undefined): ListStep<Job> {
    return listStep(this.#statements, filter, limit, below);
  }

  running(): Attempt[] {
    const rows = this.#sql(`SELECT * FROM jobs WHERE finished_at_ms IS NULL AND state = 'running'`).all() as JobRow[];
    return rows.map(attemptOf);
  }

  claimNotification(nowMs: number, exceptTargets: readonly string[]): Notification | undefined {
    return this.#outbox.claim(nowMs, exceptTargets);
  }

  settleNotification(id: string, attempts: number, result: DeliveryResult, nowMs: number): boolean {
    const settled = this.#outbox.settle(id, attempts, result, nowMs);
    if (!settled) return false;
    const { before, after } = settled;
    // On the slow clock it is abandoned again and again, and counted once.
    if (after !== 'pending' && !(before === 'abandoned' && after === 'abandoned')) {
      this.#counters.countNotification(after);
    }
    return true;
  }

  releaseNotification(id: string): void {
    this.#outbox.release(id);
  }

  redeliverNotification(id: string, nowMs: number): NotificationSummary | undefined {
    return this.#outbox.redeliver(id, nowMs);
  }

  notification(id: string): NotificationSummary | undefined {
    return this.#outbox.get(id);
  }

  notificationListStep(
    filter: NotificationFilter,
    limit: number,
    below: string | undefined,
  ): ListStep<NotificationSummary> {
    return listNotifications(this.#statements, filter, limit, below);
  }

  uploads(jobId: string): KnownUpload[] {
    return this.#uploads.of(jobId);
  }

  planUploads(jobId: string, files: readonly PlannedUpload[]): void {
    this.#uploads.plan(jobId, files);
  }

  uploadDelivered(jobId: string, file: PlannedUpload, nowMs: number): void {
    this.#uploads.delivered(jobId, file, nowMs);
  }

  snapshot(): StoreSnapshot {
    const since = this.#facts.get('counting_since_ms');
    const deadLetters = this.#sql('SELECT count(*) FROM jobs WHERE is_dead_letter = 1').pluck().get() as number;
    return {
      transactions: this.#transactions.count,
      sinceMs: since === undefined ? undefined : Number(since),
      ...this.#counters.read(),
      ...queueDepth(this.#statements),
      pendingNotifications: this.#outbox.open(),
      deadLetters,
    };
  }

  /** Also answers which input files are still wanted, so that the others can be swept. */
  recover(options: RecoverOptions): Omit<Recovery, 'orphanInputs'> & { readonly inputFiles: readonly string[] } {
    const interrupted = this.#sql(
      `UPDATE jobs SET crashes = crashes + 1 WHERE finished_at_ms IS NULL AND state = 'running' RETURNING *`,
    ).all() as JobRow[];
    let failed = 0;
    for (const row of interrupted) {
      const isPoisoned = options.maxJobCrashes > 0 && row.crashes >= options.maxJobCrashes;
      if (row.is_stream === 0 && !isPoisoned) {
        this.requeue(row.id, row.attempt);
        continue;
      }
      failed += 1;
      const error =
        row.is_stream === 1
          ? 'The server process ended while this request was running'
          : `The server process ended ${row.crashes} times while this job was running`;
      this.#end(
        row.id,
        row.attempt,
        { kind: 'failed', errorCode: 'engine_crashed', reason: 'internal', error },
        options.nowMs,
      );
    }
    const files = this.#sql('SELECT file FROM inputs WHERE file IS NOT NULL').all() as { file: string }[];
    return {
      requeued: interrupted.length - failed,
      failed,
      inputFiles: files.map((row) => row.file),
      interrupted: interrupted.filter((row) => row.is_stream === 0).map(jobOf),
    };
  }

  prune(beforeMs: number, limit: number): number {
    const runs = this.#sql(
      `SELECT id, attempt AS attempts FROM jobs
        WHERE finished_at_ms IS NOT NULL AND finished_at_ms < ? ORDER BY finished_at_ms LIMIT ?`,
    ).all(beforeMs, limit) as RunsOfJob[];
    // In a transaction of its own: a page that is given up in the same one keeps on disk what stood in it.
    if (runs.filter(({ id }) => this.#forgetWhatOpensIt(id)).length > 0) return limit;
    for (const { id } of runs) {
      this.#dropInput(id);
      this.#outbox.removeOf(id);
      this.#uploads.removeOf(id);
      this.#sql('DELETE FROM jobs WHERE id = ?').run(id);
    }
    this.#transactions.leaveRuns(runs);
    return runs.length === limit ? limit : runs.length + this.#batches.prune(beforeMs, limit - runs.length);
  }

  /** A read that reaches the file. */
  ping(): void {
    this.#sql('SELECT count(*) FROM facts').get();
  }

  close(): void {
    this.#database.close();
  }
}

function filesOf(items: readonly NewBatchItem<InputRecord | undefined>[]): string[] {
  return items.flatMap((item) => ('input' in item && item.input && 'file' in item.input ? [item.input.file] : []));
}

/** What no other run mends, but a hand at the target or in the configuration. */
const MENDED_OUTSIDE: readonly ErrorCode[] = ['conflict', 'sink_refused', 'unknown_remote_target'];

/** Whether a failed job may pass when somebody has seen to it: such a job is a dead letter (contract X4). */
function isWorthARetry({ errorCode }: FailedOutcome): boolean {
  return MENDED_OUTSIDE.includes(errorCode) || ERROR_CODES[errorCode].retryable;
}
