/** The embedded JobStore: SQLite in a thread of its own, large inputs as files beside the database. */
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { InputRecord } from './database.js';
import { INLINE_INPUT_BYTES, inputsDirectory } from './input-files.js';
import type { InputThreadMethods } from './input-thread.js';
import type { Attempt, Job, LaneName, NewJob, Outcome } from './job.js';
import type {
  CancelAnswer,
  JobStore,
  KeptInput,
  RecoverOptions,
  Recovery,
  StoreSnapshot,
  SubmittedInput,
} from './store.js';
import type { StoreThreadMethods } from './store-thread.js';
import { ThreadClient } from './thread-client.js';

export interface SqliteStoreOptions {
  /** File of the database; it and its folder are made where missing. */
  readonly path: string;
  /** A call that the disk keeps waiting this long is refused with `unavailable`; 5 s by contract V3. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 5000;
const START_DEADLINE_MS = 60_000;

export class SqliteStore implements JobStore {
  readonly #database: ThreadClient<StoreThreadMethods>;
  readonly #inputThread: ThreadClient<InputThreadMethods>;
  readonly #inputs: string;

  private constructor(path: string, deadlineMs: number) {
    this.#inputs = inputsDirectory(path);
    const common = { deadlineMs, startDeadlineMs: START_DEADLINE_MS };
    this.#database = new ThreadClient({ ...common, url: threadUrl('store-thread'), workerData: { path } });
    this.#inputThread = new ThreadClient({
      ...common,
      url: threadUrl('input-thread'),
      workerData: { directory: this.#inputs },
    });
  }

  /** Opens the database for this process alone. Rejects with StoreOpenError. */
  static async open(options: SqliteStoreOptions): Promise<SqliteStore> {
    const store = new SqliteStore(options.path, options.deadlineMs ?? DEADLINE_MS);
    await store.#database.start();
    return store;
  }

  async submit(job: NewJob, input: SubmittedInput | undefined): Promise<Job> {
    const record = input && (await this.#keep(input));
    try {
      return await this.#database.call('submit', [job, record], (late) =>
        // Refused in time, taken later: the client was told to come again, so it must not run twice.
        ignoreFailure(this.cancel(late.id, job.createdAtMs)),
      );
    } catch (error) {
      if (record && 'file' in record) ignoreFailure(this.#inputThread.call('remove', [record.file]));
      throw error;
    }
  }

  async #keep(input: SubmittedInput): Promise<InputRecord> {
    if ('bytes' in input) {
      // A copy of its own: a message would carry all of the buffer that the bytes are a part of.
      const bytes = new Uint8Array(input.bytes);
      if (bytes.length <= INLINE_INPUT_BYTES) return { bytes };
      return { file: await this.#inputThread.call('keep', [{ bytes }], undefined, [bytes.buffer]) };
    }
    if ((await stat(input.path)).size > INLINE_INPUT_BYTES) {
      return { file: await this.#inputThread.call('keep', [input]) };
    }
    const bytes = new Uint8Array(await readFile(input.path));
    await rm(input.path, { force: true });
    return { bytes };
  }

  begin(job: NewJob): Promise<Attempt> {
    return this.#database.call('begin', [job], (late) =>
      ignoreFailure(this.settle(late, { kind: 'cancelled' }, job.createdAtMs)),
    );
  }

  claim(lane: LaneName, nowMs: number): Promise<Attempt | undefined> {
    return this.#database.call('claim', [lane, nowMs], (late) => {
      if (late) ignoreFailure(this.requeue(late));
    });
  }

  async input(jobId: string): Promise<KeptInput | undefined> {
    const record = await this.#database.call('input', [jobId]);
    return record && 'file' in record ? { path: join(this.#inputs, record.file) } : record;
  }

  settle(attempt: Attempt, outcome: Outcome, nowMs: number): Promise<boolean> {
    return this.#database.call('settle', [attempt.job.id, attempt.number, outcome, nowMs]);
  }

  requeue(attempt: Attempt): Promise<boolean> {
    return this.#database.call('requeue', [attempt.job.id, attempt.number]);
  }

  cancel(jobId: string, nowMs: number): Promise<CancelAnswer> {
    return this.#database.call('cancel', [jobId, nowMs]);
  }

  get(jobId: string): Promise<Job | undefined> {
    return this.#database.call('get', [jobId]);
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
