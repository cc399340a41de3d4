/**
 * JobStore: what the rest of the program may ask of the place that keeps the jobs. The embedded default is SQLite in a
 * thread of its own (sqlite-store.ts); another database would implement this interface and pass the same tests.
 */
import type { FormatId } from '../formats.js';
import type { Batch, NewBatch, NewBatchItem, SubmittedBatch } from './batch.js';
import type { JobFeed } from './feed.js';
import type { Attempt, DeliveryOutcome, Job, JobState, LaneName, NewJob, Outcome, WaitingReason } from './job.js';
import type { Outbox } from './notification.js';
import type { Page } from './paging.js';
import type { KnownUpload, PlannedUpload } from './uploads.js';

/** The input of a submission: in memory, or in a file that the store may move away and that is its own from then on. */
export type SubmittedInput = { readonly bytes: Uint8Array } | { readonly path: string };

/** The durable input of a job: small ones are kept in the database, larger ones in a file that belongs to the store. */
export type KeptInput = { readonly bytes: Uint8Array } | { readonly path: string };

/** A submission that was taken, or that found the job of an earlier one with the same key. */
export interface Submitted {
  readonly job: Job;
  readonly isReplay: boolean;
}

export type CancelAnswer = 'cancelled' | 'not_found' | 'not_cancellable';

export type RetryAnswer = 'queued' | 'not_found' | 'not_retryable';

/** Which jobs are wanted; all where a field is absent. */
export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly lane?: LaneName | undefined;
  /** As Job.from has it. */
  readonly from?: FormatId | undefined;
  readonly to?: FormatId | undefined;
  /** Submitted at this instant or later. */
  readonly sinceMs?: number | undefined;
  /** Submitted before this instant. */
  readonly untilMs?: number | undefined;
  /** Failed jobs that may be tried again by hand (contract X4). */
  readonly isDeadLetter?: boolean | undefined;
}

/** What recovery found and did. */
export interface Recovery {
  /** Jobs that ran when the process ended and are queued again. */
  readonly requeued: number;
  /** Jobs that ended as failed: streams whose request is gone, and jobs that ended the process too often. */
  readonly failed: number;
  /** Input files that belonged to no job and were removed. */
  readonly orphanInputs: number;
  /** Every asynchronous job that ran when the process ended, however it goes on: its run may have left files behind. */
  readonly interrupted: readonly Job[];
}

export interface RecoverOptions {
  readonly nowMs: number;
  /** A job whose run ended with the whole process this often is failed, not run again (contract R5); 0 for no limit. */
  readonly maxJobCrashes: number;
}

/** What was counted: outlives job rows and restarts. */
export interface StoreCounters {
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
  /** Notifications that came to an end; one that was abandoned and arrives later counts twice. */
  readonly notifications: readonly {
    readonly outcome: 'delivered' | 'dead' | 'abandoned';
    readonly count: number;
  }[];
  /** Runs of asynchronous jobs that came to deliver, by the kind of their sink. */
  readonly deliveries: readonly { readonly kind: string; readonly outcome: DeliveryOutcome; readonly count: number }[];
}

/** The counters and how much there is to do, all read at one instant. */
export interface StoreSnapshot extends StoreCounters {
  /** Transactions that wrote something, since the start of the process: submissions of one moment share one. */
  readonly transactions: number;
  /** When the first conversion was counted; undefined before. */
  readonly sinceMs: number | undefined;
  /** Asynchronous jobs alone. Those that wait for a retry are queued. */
  readonly queue: { readonly queued: number; readonly running: number };
  /** Those of the queued that are not due, by what they wait for. */
  readonly waiting: readonly { readonly reason: WaitingReason; readonly count: number }[];
  readonly pendingNotifications: readonly { readonly state: 'pending' | 'abandoned'; readonly count: number }[];
  readonly deadLetters: number;
}

/**
 * Every method may reject with ServiceError `unavailable` where the store does not answer in time. Times are passed in
 * (milliseconds since 1970), so that the store has no clock of its own.
 */
export interface JobStore extends Outbox {
  /** Where changes of jobs are told. */
  readonly feed: JobFeed;

  /**
   * Takes a job. When it resolves, job and input survive a crash of the process and of the machine (contract A5).
   * @param input undefined where the input is to be fetched from a URL
   * @throws ServiceError `conflict` where the key of the submission belongs to another request
   */
  submit(job: NewJob, input: SubmittedInput | undefined): Promise<Submitted>;

  /**
   * Takes a batch: when it resolves, all its items survive a crash, or none has been taken (contract X5).
   * @throws ServiceError `conflict` where the key of the batch belongs to another request; an item whose own key does
   *   has failed, alone
   */
  submitBatch(batch: NewBatch, items: readonly NewBatchItem<SubmittedInput | undefined>[]): Promise<SubmittedBatch>;

  batch(id: string): Promise<Batch | undefined>;

  /**
   * Cancels the queued jobs that a batch has made; those that its items only found by their keys go on.
   * @returns the ids of those that were cancelled
   */
  cancelBatch(id: string, nowMs: number): Promise<readonly string[]>;

  /** Jobs that a batch has made and that have not ended. */
  openJobsOfBatch(id: string): Promise<readonly string[]>;

  /** Writes down a stream's job as running: its input lives in the request, so it never comes back to the queue. */
  begin(job: NewJob): Promise<Attempt>;

  /**
   * Hands out the next job of a lane that is due: high priority before the rest, then the oldest. No two callers get
   * the same job. The run is counted here and not when it ends, so that a job that ends the process is seen.
   * @param exceptPlaces jobs that go there wait on, as if they were not due: an `output.kind`, of remote ones with their
   *   target (`placeOf`)
   */
  claim(lane: LaneName, nowMs: number, exceptPlaces?: readonly string[]): Promise<Attempt | undefined>;

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

  /**
   * Queues a dead letter again: a failed job whose runs were used up, or whose product met another one (contract X4).
   * Its runs are counted from the beginning, its end is counted and told again.
   */
  retry(jobId: string): Promise<RetryAnswer>;

  get(jobId: string): Promise<Job | undefined>;

  /**
   * Jobs, newest first.
   * @param limit at most so many
   * @param cursor `nextCursor` of the page before; jobs that come or go meanwhile move none of the others
   */
  list(filter: JobFilter, limit: number, cursor: string | undefined): Promise<Page<Job>>;

  /** What a job has put at its remote target, or was about to: its runs know their own files by it (contract S3). */
  uploads(jobId: string): Promise<readonly KnownUpload[]>;

  /** To be called before the first byte goes. Durable when it resolves. */
  planUploads(jobId: string, files: readonly PlannedUpload[]): Promise<void>;

  /** A planned file lies at the target, whole. */
  uploadDelivered(jobId: string, file: PlannedUpload, nowMs: number): Promise<void>;

  /** The runs in progress as the store knows them, streams among them. */
  running(): Promise<readonly Attempt[]>;

  snapshot(): Promise<StoreSnapshot>;

  /** To be called once, before the first claim: what ran when the last process ended is queued again. */
  recover(options: RecoverOptions): Promise<Recovery>;

  /**
   * Removes at most `limit` jobs and batches that ended before `beforeMs`, with their kept inputs and notifications;
   * products and counters stay.
   * @returns how many were removed; fewer than `limit` means that none is left. `limit`, too, where first only passwords
   *   and addresses of documents were taken out of the records
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
