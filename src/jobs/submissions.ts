/** New rows of the table `jobs`: submissions with their inputs, streams, and the ids of both. */
import { ServiceError } from '../errors.js';
import type { FactTable } from './facts.js';
import { type Job, type NewJob, nextJobId } from './job.js';
import { type JobRow, jobOf } from './rows.js';
import type { Statements } from './statements.js';
import type { Submitted } from './store.js';

/** An input that is durable already or is about to be: bytes for the database, or the name of a file in `inputs`. */
export type InputRecord = { readonly bytes: Uint8Array } | { readonly file: string };

type Idempotency = NonNullable<NewJob['idempotency']>;

export class Submissions {
  readonly #statements: Statements;
  readonly #facts: FactTable;

  constructor(statements: Statements, facts: FactTable) {
    this.#statements = statements;
    this.#facts = facts;
  }

  /** @throws ServiceError `conflict` where the key belongs to another request */
  submit(job: NewJob, input: InputRecord | undefined): Submitted {
    const first = job.idempotency && this.#submittedWith(job.idempotency);
    if (first) return { job: first, isReplay: true };
    const row = this.insert(job, 'queued');
    if (input) {
      const [bytes, file] = 'bytes' in input ? [Buffer.from(input.bytes), null] : [null, input.file];
      this.#statements.sql('INSERT INTO inputs (job_id, bytes, file) VALUES (?, ?, ?)').run(row.id, bytes, file);
    }
    return { job: jobOf(row), isReplay: false };
  }

  #submittedWith({ key, requestHash }: Idempotency): Job | undefined {
    this.refuseKeyOf('batches', key);
    const row = this.#statements.sql('SELECT * FROM jobs WHERE idempotency_key = ?').get(key) as JobRow | undefined;
    if (!row || row.request_hash === requestHash) return row && jobOf(row);
    throw keyConflict(`job ${row.id}`);
  }

  /** A key belongs to a job or to a batch. @throws ServiceError `conflict` */
  refuseKeyOf(table: 'jobs' | 'batches', key: string): void {
    const id = this.#statements.sql(`SELECT id FROM ${table} WHERE idempotency_key = ?`).pluck().get(key);
    if (id !== undefined) throw keyConflict(`${table === 'jobs' ? 'job' : 'batch'} ${id}`);
  }

  /** A stream's row starts as running in its first run; all others as queued. */
  insert(job: NewJob, state: 'queued' | 'running'): JobRow {
    const id = this.newId(job.createdAtMs);
    const isStream = state === 'running';
    return this.#statements
      .sql(
        `INSERT INTO jobs (id, state, lane, is_stream, high_priority, from_format, to_format, request, input_bytes,
           created_at_ms, attempt, started_at_ms, idempotency_key, request_hash)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
      )
      .get(
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
        job.idempotency?.key ?? null,
        job.idempotency?.requestHash ?? null,
      ) as JobRow;
  }

  /** The last id is a fact of its own: the job that carried it may have been removed by retention. */
  newId(nowMs: number): string {
    const last = this.#facts.get('last_job_id');
    const id = nextJobId(nowMs, Number(process.hrtime.bigint() % 1_000_000n), last);
    this.#facts.set('last_job_id', id);
    return id;
  }
}

/** @param owner such as "job dn8h75g98u8d" */
export function keyConflict(owner: string): ServiceError {
  return new ServiceError(
    'conflict',
    `The idempotency key belongs to ${owner}, which is another request: use a new key for it`,
  );
}
