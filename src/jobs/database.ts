/**
 * All SQL of the job store, synchronous; runs in the store's thread (store-thread.ts). Each method is one operation of
 * JobStore; the thread wraps the writing ones of one moment in a common transaction.
 */
import type { Database, Statement } from 'better-sqlite3';
import {
  type Attempt,
  type Job,
  type LaneName,
  type NewJob,
  nextJobId,
  type Outcome,
  type RetryOutcome,
} from './job.js';
import { attemptOf, type JobRow, jobOf } from './rows.js';
import type { CancelAnswer, RecoverOptions, Recovery, StoreSnapshot } from './store.js';

/** An input that is durable already or is about to be: bytes for the database, or the name of a file in `inputs`. */
export type InputRecord = { readonly bytes: Uint8Array } | { readonly file: string };

interface Counted {
  readonly from_format: string;
  readonly to_format: string;
  readonly state: string;
  readonly value: number;
}

export class JobDatabase {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  /** Input files that no row names any more; to be removed once the transaction is durable. */
  #unreferencedFiles: string[] = [];

  /** @param database open, locked and migrated (open-database.ts) */
  constructor(database: Database) {
    this.#database = database;
  }

  /** The statement of this text, compiled once. */
  #sql(text: string): Statement {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#database.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  /**
   * Runs all `operations` in one transaction, so that they share one flush of the disk. Each has a savepoint of its own:
   * one that throws is undone alone, and its error stands in the answer.
   * @throws the error of the common commit; nothing has happened then
   */
  transact<T>(operations: readonly (() => T)[]): ({ value: T } | { error: unknown })[] {
    const before = this.#unreferencedFiles.length;
    this.#sql('BEGIN IMMEDIATE').run();
    try {
      const answers = operations.map((operation) => this.#inSavepoint(operation));
      this.#sql('COMMIT').run();
      return answers;
    } catch (error) {
      this.#unreferencedFiles.length = before;
      if (this.#database.inTransaction) this.#sql('ROLLBACK').run();
      throw error;
    }
  }

  #inSavepoint<T>(operation: () => T): { value: T } | { error: unknown } {
    const before = this.#unreferencedFiles.length;
    this.#sql('SAVEPOINT operation').run();
    try {
      const value = operation();
      this.#sql('RELEASE operation').run();
      return { value };
    } catch (error) {
      // A full or failing disk ends the whole transaction by itself: then every operation of it has failed.
      if (!this.#database.inTransaction) throw error;
      this.#unreferencedFiles.length = before;
      this.#sql('ROLLBACK TO operation').run();
      this.#sql('RELEASE operation').run();
      return { error };
    }
  }

  /** Names of the input files that may be removed now; to be asked after a transaction, each name is given once. */
  takeUnreferencedFiles(): string[] {
    const files = this.#unreferencedFiles;
    this.#unreferencedFiles = [];
    return files;
  }

  submit(job: NewJob, input: InputRecord | undefined): Job {
    const row = this.#insert(job, 'queued');
    if (!input) return jobOf(row);
    const [bytes, file] = 'bytes' in input ? [Buffer.from(input.bytes), null] : [null, input.file];
    this.#sql('INSERT INTO inputs (job_id, bytes, file) VALUES (?, ?, ?)').run(row.id, bytes, file);
    return jobOf(row);
  }

  begin(job: NewJob): Attempt {
    return attemptOf(this.#insert(job, 'running'));
  }

  /** A stream's row starts as running in its first run; all others as queued. */
  #insert(job: NewJob, state: 'queued' | 'running'): JobRow {
    const id = this.#newId(job.createdAtMs);
    const isStream = state === 'running';
    return this.#sql(
      `INSERT INTO jobs (id, state, lane, is_stream, high_priority, from_format, to_format, request, input_bytes,
         created_at_ms, attempt, started_at_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
    ).get(
      id,
      state,
      job.lane,
      isStream ? 1 : 0,
      job.highPriority ? 1 : 0,
      job.from ?? null,
      job.to,
      JSON.stringify(job.request),
      job.inputBytes,
      job.createdAtMs,
      isStream ? 1 : 0,
      isStream ? job.createdAtMs : null,
    ) as JobRow;
  }

  /** The last id is a fact of its own: the job that carried it may have been removed by retention. */
  #newId(nowMs: number): string {
    const last = this.#fact('last_job_id');
    const id = nextJobId(nowMs, Number(process.hrtime.bigint() % 1_000_000n), last);
    this.#sql('INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value').run(
      'last_job_id',
      id,
    );
    return id;
  }

  #fact(name: string): string | undefined {
    const row = this.#sql('SELECT value FROM facts WHERE name = ?').get(name) as { value: string } | undefined;
    return row?.value;
  }

  claim(lane: LaneName, nowMs: number): Attempt | undefined {
    this.#sql(
      `UPDATE jobs SET run_at_ms = NULL, waiting_reason = NULL, waiting_since_ms = NULL
       WHERE state = 'queued' AND run_at_ms IS NOT NULL AND run_at_ms <= ?`,
    ).run(nowMs);
    const row = this.#sql(
      `UPDATE jobs SET state = 'running', attempt = attempt + 1, started_at_ms = ?
       WHERE id = (SELECT id FROM jobs WHERE lane = ? AND state = 'queued' AND run_at_ms IS NULL
                   ORDER BY high_priority DESC, id LIMIT 1)
       RETURNING *`,
    ).get(nowMs, lane) as JobRow | undefined;
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
    return outcome.kind === 'retry'
      ? this.#queueAgain(jobId, attempt, outcome, nowMs)
      : this.#end(jobId, attempt, outcome, nowMs);
  }

  #queueAgain(jobId: string, attempt: number, outcome: RetryOutcome, nowMs: number): boolean {
    const { changes } = this.#sql(
      `UPDATE jobs SET state = 'queued', failed_runs = failed_runs + 1, run_at_ms = ?, waiting_reason = ?,
         waiting_since_ms = ?, error_code = ?, reason = ?, error = ?
       WHERE id = ? AND state = 'running' AND attempt = ? AND is_stream = 0`,
    ).run(
      outcome.runAtMs,
      outcome.waitingReason,
      nowMs,
      outcome.errorCode,
      outcome.reason ?? null,
      outcome.error,
      jobId,
      attempt,
    );
    return changes === 1;
  }

  #end(jobId: string, attempt: number, outcome: Exclude<Outcome, RetryOutcome>, nowMs: number): boolean {
    const success = outcome.kind === 'succeeded' ? outcome : undefined;
    const fault = outcome.kind === 'failed' ? outcome : undefined;
    const row = this.#sql(
      `UPDATE jobs SET state = ?, finished_at_ms = ?, from_actual = ?, input_bytes = coalesce(?, input_bytes),
         output_kind = ?, output_path = ?, output_bytes = ?, products = ?, pages = ?, warnings = ?,
         error_code = ?, reason = ?, error = ?
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
      jobId,
      attempt,
    ) as JobRow | undefined;
    if (!row) return false;
    if (outcome.kind !== 'failed') this.#dropInput(jobId);
    if (outcome.kind !== 'cancelled') this.#count(row, nowMs);
    return true;
  }

  /** Moves the counters for a job that has just succeeded or failed. */
  #count(row: JobRow, nowMs: number): void {
    const from = row.from_actual ?? 'unknown';
    this.#add('conversions', from, row.to_format, row.state, 1);
    this.#add('input_bytes', from, '', '', row.input_bytes);
    if (row.output_bytes !== null) this.#add('output_bytes', from, row.to_format, '', row.output_bytes);
    this.#sql('INSERT INTO facts VALUES (?, ?) ON CONFLICT DO NOTHING').run('counting_since_ms', String(nowMs));
  }

  #add(name: string, from: string, to: string, state: string, amount: number): void {
    this.#sql(
      `INSERT INTO counters VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (name, from_format, to_format, state) DO UPDATE SET value = value + excluded.value`,
    ).run(name, from, to, state, amount);
  }

  #dropInput(jobId: string): void {
    const row = this.#sql('DELETE FROM inputs WHERE job_id = ? RETURNING file').get(jobId) as
      | { file: string | null }
      | undefined;
    if (row?.file) this.#unreferencedFiles.push(row.file);
  }

  requeue(jobId: string, attempt: number): boolean {
    const { changes } = this.#sql(
      `UPDATE jobs SET state = 'queued', started_at_ms = NULL
       WHERE id = ? AND state = 'running' AND attempt = ? AND is_stream = 0`,
    ).run(jobId, attempt);
    return changes === 1;
  }

  cancel(jobId: string, nowMs: number): CancelAnswer {
    const { changes } = this.#sql(
      `UPDATE jobs SET state = 'cancelled', finished_at_ms = ?, run_at_ms = NULL, error_code = 'cancelled',
         reason = NULL, error = 'Cancelled while it was queued'
       WHERE id = ? AND state = 'queued'`,
    ).run(nowMs, jobId);
    if (changes === 0) return this.get(jobId) ? 'not_cancellable' : 'not_found';
    this.#dropInput(jobId);
    return 'cancelled';
  }

  get(jobId: string): Job | undefined {
    const row = this.#sql('SELECT * FROM jobs WHERE id = ?').get(jobId) as JobRow | undefined;
    return row && jobOf(row);
  }

  snapshot(): StoreSnapshot {
    const since = this.#fact('counting_since_ms');
    const counted = (name: string): Counted[] =>
      this.#sql('SELECT from_format, to_format, state, value FROM counters WHERE name = ? ORDER BY 1, 2, 3').all(
        name,
      ) as Counted[];
    // The columns hold what #count put there: names of formats and states.
    return {
      sinceMs: since === undefined ? undefined : Number(since),
      conversions: counted('conversions').map((row) => ({
        from: row.from_format as StoreSnapshot['conversions'][number]['from'],
        to: row.to_format as StoreSnapshot['conversions'][number]['to'],
        state: row.state as 'succeeded' | 'failed',
        count: row.value,
      })),
      inputBytes: counted('input_bytes').map((row) => ({
        from: row.from_format as StoreSnapshot['inputBytes'][number]['from'],
        bytes: row.value,
      })),
      outputBytes: counted('output_bytes').map((row) => ({
        from: row.from_format as StoreSnapshot['outputBytes'][number]['from'],
        to: row.to_format as StoreSnapshot['outputBytes'][number]['to'],
        bytes: row.value,
      })),
      queue: { queued: this.#depth('queued'), running: this.#depth('running') },
    };
  }

  #depth(state: 'queued' | 'running'): number {
    const row = this.#sql(
      'SELECT count(*) AS depth FROM jobs WHERE finished_at_ms IS NULL AND state = ? AND is_stream = 0',
    ).get(state) as { depth: number };
    return row.depth;
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
    return { requeued: interrupted.length - failed, failed, inputFiles: files.map((row) => row.file) };
  }

  prune(beforeMs: number, limit: number): number {
    const ids = this.#sql(
      `SELECT id FROM jobs WHERE finished_at_ms IS NOT NULL AND finished_at_ms < ? ORDER BY finished_at_ms LIMIT ?`,
    )
      .pluck()
      .all(beforeMs, limit) as string[];
    for (const id of ids) {
      this.#dropInput(id);
      this.#sql('DELETE FROM jobs WHERE id = ?').run(id);
    }
    return ids.length;
  }

  /** A read that reaches the file. */
  ping(): void {
    this.#sql('SELECT count(*) FROM facts').get();
  }

  close(): void {
    this.#database.close();
  }
}
