/** The embedded JobStore: SQLite in a thread of its own, large inputs as files beside the database. */
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Batch, NewBatch, NewBatchItem, SubmittedBatch } from './batch.js';
import { JobFeed } from './feed.js';
import { INLINE_INPUT_BYTES, inputsDirectory } from './input-files.js';
import type { InputThreadMethods } from './input-thread.js';
import type { Attempt, Job, LaneName, NewJob, Outcome } from './job.js';
import type {
  DeliveryResult,
  Notification,
  NotificationFilter,
  NotificationSummary,
  TargetEvents,
} from './notification.js';
import { placeOfNotification } from './notification-list.js';
import { type ListStep, type Page, pageOf } from './paging.js';
import type {
  CancelAnswer,
  JobFilter,
  JobStore,
  KeptInput,
  RecoverOptions,
  Recovery,
  RetryAnswer,
  StoreSnapshot,
  Submitted,
  SubmittedInput,
} from './store.js';
import type { StoreThreadData, StoreThreadMethods } from './store-thread.js';
import type { InputRecord } from './submissions.js';
import { NoAnswerError, ThreadClient } from './thread-client.js';
import type { KnownUpload, PlannedUpload } from './uploads.js';

export interface SqliteStoreOptions {
  /** File of the database; it and its folder are made where missing. */
  readonly path: string;
  /** What the registered targets of notifications want to hear of; nobody is registered where absent. */
  readonly targetEvents?: TargetEvents;
  /** A call that the disk keeps waiting this long is refused with `unavailable`; 5 s by contract V3. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 5000;
const START_DEADLINE_MS = 60_000;

export class SqliteStore implements JobStore {
  readonly feed = new JobFeed();
  readonly #database: ThreadClient<StoreThreadMethods>;
  readonly #inputThread: ThreadClient<InputThreadMethods>;
  readonly #inputs: string;

  private constructor({ path, targetEvents = {}, deadlineMs = DEADLINE_MS }: SqliteStoreOptions) {
    this.#inputs = inputsDirectory(path);
    const common = { deadlineMs, startDeadlineMs: START_DEADLINE_MS };
    const workerData: StoreThreadData = { path, targetEvents };
    this.#database = new ThreadClient({ ...common, url: threadUrl('store-thread'), workerData });
    this.#inputThread = new ThreadClient({
      ...common,
      url: threadUrl('input-thread'),
      workerData: { directory: this.#inputs },
    });
  }

  /** Opens the database for this process alone. Rejects with StoreOpenError. */
  static async open(options: SqliteStoreOptions): Promise<SqliteStore> {
    const store = new SqliteStore(options);
    await store.#database.start();
    return store;
  }

  async submit(job: NewJob, input: SubmittedInput | undefined): Promise<Submitted> {
    const record = input && (await this.#keep(input));
    const removeInput = (): void => {
      if (record && 'file' in record) ignoreFailure(this.#inputThread.call('remove', [record.file]));
    };
    // Refused in time, taken later: the client was told to come again. With a key it will find this job then; without
    // one it must not run twice.
    const onLate = (late: Submitted): void => {
      if (late.isReplay) removeInput();
      else if (!job.idempotency) ignoreFailure(this.cancel(late.job.id, job.createdAtMs));
    };
    try {
      const submitted = await this.#database.call('submit', [job, record], onLate);
      if (submitted.isReplay) removeInput();
      return submitted;
    } catch (error) {
      if (!(error instanceof NoAnswerError)) removeInput();
      throw error;
    }
  }

  /** @param isTaken the bytes may go over to the store's thread as they are */
  async #keep(input: SubmittedInput, isTaken = false): Promise<InputRecord> {
    const onLate = (file: string): void => ignoreFailure(this.#inputThread.call('remove', [file]));
    if ('bytes' in input) {
      // A copy of its own where it is needed: a message would carry all of the buffer that the bytes are a part of.
      const isWhole = input.bytes.byteLength === input.bytes.buffer.byteLength;
      const bytes = isTaken && isWhole ? (input.bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(input.bytes);
      if (bytes.length <= INLINE_INPUT_BYTES) return { bytes };
      return { file: await this.#inputThread.call('keep', [{ bytes }], onLate, [bytes.buffer]) };
    }
    if ((await stat(input.path)).size > INLINE_INPUT_BYTES) {
      return { file: await this.#inputThread.call('keep', [input], onLate) };
    }
    const bytes = new Uint8Array(await readFile(input.path));
    await rm(input.path, { force: true });
    return { bytes };
  }

  async submitBatch(
    batch: NewBatch,
    items: readonly NewBatchItem<SubmittedInput | undefined>[],
  ): Promise<SubmittedBatch> {
    const kept: NewBatchItem<InputRecord | undefined>[] = [];
    const removeInputs = (): void => {
      for (const item of kept) {
        if ('input' in item && item.input && 'file' in item.input) {
          ignoreFailure(this.#inputThread.call('remove', [item.input.file]));
        }
      }
    };
    try {
      for (const item of items) {
        kept.push(
          'fault' in item ? item : { job: item.job, input: item.input && (await this.#keep(item.input, true)) },
        );
      }
      const buffers = kept.flatMap((item) =>
        'input' in item && item.input && 'bytes' in item.input ? [item.input.bytes.buffer as ArrayBuffer] : [],
      );
      // As with a single submission: what was refused for want of an answer must not run, but for what a key will find.
      const onLate = ({ batch: late, isReplay }: SubmittedBatch): void => {
        if (!isReplay && !batch.idempotency) ignoreFailure(this.cancelBatch(late.id, batch.createdAtMs));
      };
      return await this.#database.call('submitBatch', [batch, kept], onLate, buffers);
    } catch (error) {
      if (!(error instanceof NoAnswerError)) removeInputs();
      throw error;
    }
  }

  batch(id: string): Promise<Batch | undefined> {
    return this.#database.call('batch', [id]);
  }

  async cancelBatch(id: string, nowMs: number): Promise<readonly string[]> {
    const jobIds = await this.#database.call('cancelBatch', [id, nowMs]);
    for (const jobId of jobIds) this.feed.publish(jobId, { kind: 'ended' });
    return jobIds;
  }

  openJobsOfBatch(id: string): Promise<readonly string[]> {
    return this.#database.call('openJobsOfBatch', [id]);
  }

  begin(job: NewJob): Promise<Attempt> {
    return this.#database.call('begin', [job], (late) =>
      ignoreFailure(this.settle(late, { kind: 'cancelled' }, job.createdAtMs)),
    );
  }

  async claim(lane: LaneName, nowMs: number, exceptPlaces: readonly string[] = []): Promise<Attempt | undefined> {
    const attempt = await this.#database.call('claim', [lane, nowMs, exceptPlaces], (late) => {
      if (late) ignoreFailure(this.requeue(late));
    });
    if (attempt) this.feed.publish(attempt.job.id, { kind: 'started', job: attempt.job });
    return attempt;
  }

  async input(jobId: string): Promise<KeptInput | undefined> {
    const record = await this.#database.call('input', [jobId]);
    return record && 'file' in record ? { path: join(this.#inputs, record.file) } : record;
  }

  async settle({ job, number }: Attempt, outcome: Outcome, nowMs: number): Promise<boolean> {
    const isSettled = await this.#database.call('settle', [job.id, number, outcome, nowMs]);
    // Told in any case: where it was settled before, that answer came too late to be told.
    this.feed.publish(job.id, { kind: outcome.kind === 'retry' ? 'queued' : 'ended' });
    return isSettled;
  }

  async requeue({ job, number }: Attempt): Promise<boolean> {
    const isQueued = await this.#database.call('requeue', [job.id, number]);
    if (isQueued) this.feed.publish(job.id, { kind: 'queued' });
    return isQueued;
  }

  async cancel(jobId: string, nowMs: number): Promise<CancelAnswer> {
    const answer = await this.#database.call('cancel', [jobId, nowMs]);
    if (answer === 'cancelled') this.feed.publish(jobId, { kind: 'ended' });
    return answer;
  }

  async retry(jobId: string): Promise<RetryAnswer> {
    const answer = await this.#database.call('retry', [jobId]);
    if (answer === 'queued') this.feed.publish(jobId, { kind: 'queued' });
    return answer;
  }

  get(jobId: string): Promise<Job | undefined> {
    return this.#database.call('get', [jobId]);
  }

  list(filter: JobFilter, limit: number, cursor: string | undefined): Promise<Page<Job>> {
    const takeStep = (wanted: number, below: string | undefined): Promise<ListStep<Job>> =>
      this.#database.call('listStep', [filter, wanted, below]);
    return pageOf(limit, cursor, takeStep, ({ id }) => id);
  }

  running(): Promise<readonly Attempt[]> {
    return this.#database.call('running', []);
  }

  claimNotification(nowMs: number, exceptTargets: readonly string[]): Promise<Notification | undefined> {
    return this.#database.call('claimNotification', [nowMs, exceptTargets], (late) => {
      if (late) ignoreFailure(this.releaseNotification(late));
    });
  }

  settleNotification({ id, attempts }: Notification, result: DeliveryResult, nowMs: number): Promise<boolean> {
    return this.#database.call('settleNotification', [id, attempts, result, nowMs]);
  }

  releaseNotification({ id }: Notification): Promise<void> {
    return this.#database.call('releaseNotification', [id]);
  }

  redeliverNotification(id: string, nowMs: number): Promise<NotificationSummary | undefined> {
    return this.#database.call('redeliverNotification', [id, nowMs]);
  }

  notification(id: string): Promise<NotificationSummary | undefined> {
    return this.#database.call('notification', [id]);
  }

  listNotifications(
    filter: NotificationFilter,
    limit: number,
    cursor: string | undefined,
  ): Promise<Page<NotificationSummary>> {
    const takeStep = (wanted: number, below: string | undefined): Promise<ListStep<NotificationSummary>> =>
      this.#database.call('notificationListStep', [filter, wanted, below]);
    return pageOf(limit, cursor, takeStep, placeOfNotification);
  }

  uploads(jobId: string): Promise<readonly KnownUpload[]> {
    return this.#database.call('uploads', [jobId]);
  }

  planUploads(jobId: string, files: readonly PlannedUpload[]): Promise<void> {
    return this.#database.call('planUploads', [jobId, files]);
  }

  uploadDelivered(jobId: string, file: PlannedUpload, nowMs: number): Promise<void> {
    return this.#database.call('uploadDelivered', [jobId, file, nowMs]);
  }

  snapshot(): Promise<StoreSnapshot> {
    return this.#database.call('snapshot', []);
  }

  recover(options: RecoverOptions): Promise<Recovery> {
    return this.#database.call('recover', [options]);
  }

  prune(beforeMs: number, limit: number): Promise<number> {
    return this.#database.call('prune', [beforeMs, limit]);
  }

  ping(): Promise<void> {
    return this.#database.call('ping', []);
  }

  async close(): Promise<void> {
    await Promise.all([this.#inputThread.close('close', []), this.#database.close('close', [])]);
  }
}

/** For what is tried once and mended by the recovery of the next start where it fails. */
function ignoreFailure(work: Promise<unknown>): void {
  work.catch(() => undefined);
}

/** A thread runs compiled code; under the test runner this file is source, and the build lies in dist. */
function threadUrl(name: string): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL(`../../dist/jobs/${name}.js`, import.meta.url)
    : new URL(`./${name}.js`, import.meta.url);
}
