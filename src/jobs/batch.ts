/** Batches (contract X5): many submissions as one, each item with a fate of its own. Plain data that may cross threads. */
import type { ErrorCode, FailureReason } from '../errors.js';
import type { JobState, NewJob } from './job.js';

/** Why an item failed: its own refusal at submission, or the end of its job. */
export interface ItemFault {
  readonly errorCode: ErrorCode;
  readonly reason?: FailureReason | undefined;
  readonly error: string;
}

export interface NewBatch {
  readonly createdAtMs: number;
  readonly notify?: { readonly target: string; readonly events: readonly string[] } | undefined;
  /** Makes a repeated submission find the first one (contract X2). */
  readonly idempotency?: { readonly key: string; readonly requestHash: string } | undefined;
}

/** An item of a new batch: a job with its input, or why it cannot be one. */
export type NewBatchItem<Input> = { readonly job: NewJob; readonly input: Input } | { readonly fault: ItemFault };

export interface BatchItem {
  /** Place in the request, from 0. */
  readonly index: number;
  /** Undefined where the item was refused at submission. */
  readonly jobId: string | undefined;
  readonly state: JobState;
  readonly errorCode: ErrorCode | undefined;
  readonly reason: FailureReason | undefined;
  readonly error: string | undefined;
}

export interface Batch {
  /** Made as the ids of jobs are. */
  readonly id: string;
  readonly createdAtMs: number;
  /** When its last item ended; undefined before. */
  readonly finishedAtMs: number | undefined;
  /** In the order of the request. */
  readonly items: readonly BatchItem[];
}

/** A batch that was taken, or that was found under the key of an earlier one. */
export interface SubmittedBatch {
  readonly batch: Batch;
  readonly isReplay: boolean;
}

/** How many items have ended, and how. */
export interface BatchCounts {
  readonly total: number;
  readonly done: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
}

export function countsOf({ items }: Pick<Batch, 'items'>): BatchCounts {
  const count = (wanted: JobState): number => items.filter(({ state }) => state === wanted).length;
  const [succeeded, failed, cancelled] = [count('succeeded'), count('failed'), count('cancelled')];
  return { total: items.length, done: succeeded + failed + cancelled, succeeded, failed, cancelled };
}
