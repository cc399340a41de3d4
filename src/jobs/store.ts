/**
 * JobStore: what the rest of the program may ask of the place that keeps the jobs. The embedded default is SQLite in a
 * thread of its own (sqlite-store.ts); another database would implement this interface and pass the same tests.
 */
import type { FormatId } from '../formats.js';
import type { Attempt, Job, LaneName, NewJob, Outcome } from './job.js';

/** The input of a submission: in memory, or in a file that the store may move away and that is its own from then on. */
export type SubmittedInput = { readonly bytes: Uint8Array } | { readonly path: string };

/** The durable input of a job: small ones are kept in the database, larger ones in a file that belongs to the store. */
export type KeptInput = { readonly bytes: Uint8Array } | { readonly path: string };

export type CancelAnswer = 'cancelled' | 'not_found' | 'not_cancellable';

/** What recovery found and did. */
export interface Recovery {
  /** Jobs that ran when the process ended and are queued again. */
  readonly requeued: number;
  /** Jobs that ended as failed: streams whose request is gone, and jobs that ended the process too often. */
  readonly failed: number;
  /** Input files that belonged to no job and were removed. */
  readonly orphanInputs: number;
}

export interface RecoverOptions {
  readonly nowMs: number;
  /** A job whose run ended with the whole process this often is failed, not run again (contract R5); 0 for no limit. */
  readonly maxJobCrashes: number;
}

/** The counters, which outlive job rows and restarts, and the depth of the queue, all read at one instant. */
export interface StoreSnapshot {
  /** When the first conversion was counted; undefined before. */
  readonly sinceMs: number | undefined;
  /** Jobs that ended, cancelled ones apart. `unknown` where no worker had opened the input. */
  readonly conversions: readonly {
    readonly from: FormatId | 'unknown';
    readonly to: FormatId;
    readonly state: 'succeeded' | 'failed';
    readonly count: number;
  }[];
  readonly inputBytes: readonly { readonly from: FormatId | 'unknown'; readonly bytes: number }[];
  readonly outputBytes: readonly {
    readonly from: FormatId | 'unknown';
    readonly to: FormatId;
    readonly bytes: number;
  }[];
  /** Asynchronous jobs alone. Those that wait for a retry are queued. */
  readonly queue: { readonly queued: number; readonly running: number };
}

/**
 * Every method may reject with ServiceError `unavailable` where the store does not answer in time. Times are passed in
 * (milliseconds since 1970), so that the store has no clock of its own.
 */
export interface JobStore {
  /**
   * Takes a job. When it resolves, job and input survive a crash of the process and of the machine (contract A5).
   * @param input undefined where the input is to be fetched from a URL
   */
  submit(job: NewJob, input: SubmittedInput | undefined): Promise<Job>;

  /** Writes down a stream's job as running: its input lives in the request, so it never comes back to the queue. */
  begin(job: NewJob): Promise<Attempt>;

  /**
   * Hands out the next job of a lane that is due: high priority before the rest, then the oldest. No two callers get
   * the same job. The run is counted here and not when it ends, so that a job that ends the process is seen.
   */
  claim(lane: LaneName, nowMs: number): Promise<Attempt | undefined>;

  /** The input of a job, or undefined where the store keeps none (a URL, a stream, a job that has ended). */
  input(jobId: string): Promise<KeptInput | undefined>;

  /**
   * Ends a run, or queues its job again (`retry`). State, receipts and counters move in one transaction.
   * @returns false where the attempt no longer owns the job; nothing has changed then
   */
  settle(attempt: Attempt, outcome: Outcome, nowMs: number): Promise<boolean>;

  /** Puts a job that was interrupted (shutdown) back in the queue. Uses up no attempt. False as for settle. */
  requeue(attempt: Attempt): Promise<boolean>;

  /** Cancels a job that is queued, also one that waits for its retry. */
  cancel(jobId: string, nowMs: number): Promise<CancelAnswer>;

  get(jobId: string): Promise<Job | undefined>;

  snapshot(): Promise<StoreSnapshot>;

  /** To be called once, before the first claim: what ran when the last process ended is queued again. */
  recover(options: RecoverOptions): Promise<Recovery>;

  /**
   * Removes at most `limit` jobs that ended before `beforeMs`, with their kept inputs; products and counters stay.
   * @returns how many were removed; fewer than `limit` means that none is left
   */
  prune(beforeMs: number, limit: number): Promise<number>;

  /** Resolves where the store answers. */
  ping(): Promise<void>;

  /** Closes the store after what was asked before; further calls reject. */
  close(): Promise<void>;
}

/** Why a store could not be opened at start. */
export type StoreFault = 'held' | 'newer' | 'damaged' | 'unreachable';

/** The store cannot be opened; the message names the file and the way out. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError';
  readonly fault: StoreFault;

  constructor(fault: StoreFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}
