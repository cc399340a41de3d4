/**
 * Calls into a worker thread that may hang with its volume: every call has a deadline (contract V3). A thread that ends
 * is started again by the next call.
 */
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../errors.js';
import { errorOfReply, START_ID, type ThreadReply, type ThreadRequest } from './thread-messages.js';

type Method = (...args: never[]) => unknown;

/** The thread gave no answer: what was asked of it may have been done, or be done yet. */
export class NoAnswerError extends ServiceError {
  constructor(message: string, cause?: Error) {
    super('unavailable', message, { retryAfterSeconds: 5, ...(cause && { cause }) });
  }
}

export interface ThreadClientOptions {
  /** The thread's compiled file. */
  readonly url: URL;
  readonly workerData: unknown;
  /** Silence of the thread after which a call gives up. */
  readonly deadlineMs: number;
  /** Time the thread may take to start: a database with a long log is read first. */
  readonly startDeadlineMs: number;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const SILENT = "The job store does not answer: is the database's volume there?";

/** A thread that cannot start is not tried more often than this. */
const RESTART_PAUSE_MS = 1000;

export class ThreadClient<Methods extends { [name in keyof Methods]: Method }> {
  readonly #options: ThreadClientOptions;
  readonly #pending = new Map<number, Pending>();
  /** What to do with the answer of a call that nobody waits for any more. */
  readonly #late = new Map<number, (value: unknown) => void>();
  #worker: Worker | undefined;
  #lastId = START_ID;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  /** A call has had no answer in time, and nothing has come since. */
  #isSilent = false;
  #isClosed = false;

  constructor(options: ThreadClientOptions) {
    this.#options = options;
  }

  /** Starts the thread. Rejects with StoreOpenError where it cannot work. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#wait(START_ID, this.#options.startDeadlineMs, () => resolve(), reject);
      this.#spawn();
    });
  }

  /**
   * @param onLate given the answer where it comes after the deadline: the caller has been told that nothing happened,
   *   so it must be undone
   * @param transfer buffers among the arguments that the thread takes over
   * @throws ServiceError `unavailable` after the deadline, or what the thread answers
   */
  call<Name extends keyof Methods & string>(
    method: Name,
    args: Parameters<Methods[Name]>,
    onLate?: (value: ReturnType<Methods[Name]>) => void,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<ReturnType<Methods[Name]>> {
    return new Promise((resolve, reject) => {
      const worker = this.#worker ?? this.#restart();
      // What is said to a silent thread would pile up before it; what it was asked before tells when it is back.
      // The last call is said in any case: a thread that comes back gives up what it holds.
      if (!worker || (this.#isSilent && !this.#isClosed)) {
        const text = worker ? SILENT : 'The job store is not running';
        // Not at once: a caller that asks again and again would let no answer in.
        setImmediate(() => reject(new ServiceError('unavailable', text, { retryAfterSeconds: 5 })));
        return;
      }
      this.#lastId += 1;
      const id = this.#lastId;
      this.#wait(id, this.#options.deadlineMs, resolve as (value: unknown) => void, reject, onLate);
      worker.postMessage({ id, method, args } satisfies ThreadRequest, transfer);
    });
  }

  #wait(
    id: number,
    deadlineMs: number,
    resolve: (value: unknown) => void,
    reject: (error: Error) => void,
    onLate?: (value: never) => void,
  ): void {
    const giveUp = (): void => {
      if (!this.#pending.delete(id)) return;
      this.#isSilent = true;
      if (onLate) this.#late.set(id, onLate as (value: unknown) => void);
      reject(new NoAnswerError(`${SILENT} (waited ${deadlineMs} ms)`));
    };
    // One more turn of the loop: where this thread was the busy one, the answer lies in the port already.
    const timer = setTimeout(() => setImmediate(giveUp), deadlineMs);
    this.#pending.set(id, { resolve, reject, timer });
  }

  #restart(): Worker | undefined {
    if (this.#isClosed || performance.now() - this.#startedAtMs < RESTART_PAUSE_MS) return undefined;
    return this.#spawn();
  }

  #spawn(): Worker {
    this.#startedAtMs = performance.now();
    const worker = new Worker(this.#options.url, { workerData: this.#options.workerData });
    let failure: Error | undefined;
    this.#isSilent = false;
    worker.on('message', (replies: readonly ThreadReply[]) => {
      this.#isSilent = false;
      for (const reply of replies) {
        failure ??= reply.kind === 'start_error' ? errorOfReply(reply) : undefined;
        this.#receive(reply);
      }
    });
    worker.on('error', (error) => {
      failure = new NoAnswerError(`The job store's thread failed: ${error.message}`, error);
    });
    worker.once('exit', () => this.#forget(worker, failure));
    this.#worker = worker;
    return worker;
  }

  #receive(reply: ThreadReply): void {
    const pending = this.#pending.get(reply.id);
    if (!pending) {
      if (reply.kind === 'value') this.#late.get(reply.id)?.(reply.value);
      if (reply.kind !== 'alive') this.#late.delete(reply.id);
      return;
    }
    if (reply.kind === 'alive') {
      pending.timer.refresh();
      return;
    }
    clearTimeout(pending.timer);
    this.#pending.delete(reply.id);
    if (reply.kind === 'value') pending.resolve(reply.value);
    else pending.reject(errorOfReply(reply) as Error);
  }

  /** A thread has ended: nothing that was asked of it will be answered. */
  #forget(worker: Worker, failure: Error | undefined): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#late.clear();
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(failure ?? new NoAnswerError('The job store has been closed'));
    }
    this.#pending.clear();
  }

  /** Calls `method` as the last one, and waits for the thread to end; a thread that hangs is left behind. */
  async close<Name extends keyof Methods & string>(method: Name, args: Parameters<Methods[Name]>): Promise<void> {
    const worker = this.#worker;
    if (this.#isClosed || !worker) {
      this.#isClosed = true;
      return;
    }
    this.#isClosed = true;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    try {
      await this.call(method, args);
      await ended;
    } catch (error) {
      worker.unref();
      throw error;
    }
  }
}
