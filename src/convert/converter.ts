/**
 * Runs conversions in worker threads, so that the event loop stays free and a conversion can be stopped at any instant.
 *
 * A thread is idle or runs one task. Idle threads are kept and reused (the one used last first, its caches are warm);
 * more are started while tasks wait, up to `maxThreads`. A thread that is aborted, dies or runs out of heap is replaced,
 * and only its own task fails.
 */
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../errors.js';
import type { ConversionHooks, ConversionResult, ConversionTask, Converter } from './converter-types.js';
import type { ThreadReply, ThreadSettings } from './engines/ofd-thread-types.js';

export interface ThreadConverterOptions {
  readonly maxThreads: number;
  /** JavaScript heap of one thread in MiB; pixels and fonts lie outside and have their own budgets. */
  readonly heapMb?: number;
  readonly fontDirs: readonly string[];
}

const DEFAULT_HEAP_MB = 1024;
/** A thread is retired after so many tasks, to give back what native libraries keep. */
const TASKS_PER_THREAD = 500;

interface Thread {
  readonly worker: Worker;
  tasks: number;
}

export class ThreadConverter implements Converter {
  readonly #options: ThreadConverterOptions;
  readonly #idle: Thread[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #threads = new Set<Thread>();
  #isClosed = false;

  constructor(options: ThreadConverterOptions) {
    this.#options = options;
  }

  /** Threads that are alive, busy or idle. */
  get threadCount(): number {
    return this.#threads.size;
  }

  async run(task: ConversionTask, hooks: ConversionHooks): Promise<ConversionResult> {
    const thread = await this.#acquire(hooks.signal);
    try {
      const result = await runOn(thread.worker, task, hooks);
      this.#release(thread);
      return result;
    } catch (error) {
      if (isThreadIntact(error)) this.#release(thread);
      else await this.#discard(thread);
      throw error instanceof BrokenThread ? error.failure : error;
    }
  }

  /** Stops every thread; tasks still running reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => this.#discard(thread)));
  }

  async #acquire(signal: AbortSignal): Promise<Thread> {
    for (;;) {
      throwIfAborted(signal);
      if (this.#isClosed) throw new ServiceError('shutting_down', 'The converter is closed');
      const idle = this.#idle.pop();
      if (idle) return idle;
      if (this.#threads.size < this.#options.maxThreads) return this.#spawn();
      await this.#nextFree(signal);
    }
  }

  /** Resolves when a thread may be free, or when the task is aborted; the caller looks again. */
  #nextFree(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(wake);
    });
  }

  #spawn(): Thread {
    const settings: ThreadSettings = { fontDirs: this.#options.fontDirs };
    const worker = new Worker(threadUrl(), {
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMb ?? DEFAULT_HEAP_MB },
    });
    // Each task listens while it runs; this one keeps an error between tasks from ending the process.
    worker.on('error', () => undefined);
    const thread: Thread = { worker, tasks: 0 };
    worker.once('exit', () => this.#forget(thread));
    this.#threads.add(thread);
    return thread;
  }

  #release(thread: Thread): void {
    thread.tasks += 1;
    if (this.#isClosed || thread.tasks >= TASKS_PER_THREAD) {
      void this.#discard(thread);
      return;
    }
    this.#idle.push(thread);
    this.#waiting.shift()?.();
  }

  async #discard(thread: Thread): Promise<void> {
    await thread.worker.terminate();
    this.#forget(thread);
  }

  #forget(thread: Thread): void {
    if (!this.#threads.delete(thread)) return;
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#waiting.shift()?.();
  }
}

/** The thread can't be used again; `failure` is what the caller sees. */
class BrokenThread extends Error {
  readonly failure: ServiceError;

  constructor(failure: ServiceError) {
    super(failure.message);
    this.failure = failure;
  }
}

function isThreadIntact(error: unknown): boolean {
  return error instanceof ServiceError;
}

function runOn(worker: Worker, task: ConversionTask, hooks: ConversionHooks): Promise<ConversionResult> {
  return new Promise((resolve, reject) => {
    const onMessage = (reply: ThreadReply): void => {
      if (reply.kind === 'progress') hooks.onProgress?.(reply.done, reply.total);
      else if (reply.kind === 'done') finish(() => resolve(reply.result));
      else
        finish(() => reject(new ServiceError(reply.code, reply.message, reply.reason ? { reason: reply.reason } : {})));
    };
    const onError = (error: Error): void => finish(() => reject(new BrokenThread(threadFailure(error))));
    const onExit = (code: number): void =>
      finish(() => reject(new BrokenThread(threadFailure(new Error(`worker thread ended with code ${code}`)))));
    const onAbort = (): void => finish(() => reject(new BrokenThread(abortFailure(hooks.signal))));
    const finish = (settle: () => void): void => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      hooks.signal.removeEventListener('abort', onAbort);
      settle();
    };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    hooks.signal.addEventListener('abort', onAbort, { once: true });
    worker.postMessage(task);
  });
}

function threadFailure(error: Error & { code?: string }): ServiceError {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new ServiceError('conversion_failed', 'The document needs more memory than a conversion may take', {
        reason: 'too_large',
        cause: error,
      })
    : new ServiceError('engine_crashed', `The OFD engine crashed: ${error.message}`, {
        reason: 'internal',
        cause: error,
      });
}

function abortFailure(signal: AbortSignal): ServiceError {
  return signal.reason instanceof ServiceError
    ? signal.reason
    : new ServiceError('cancelled', 'The conversion was cancelled', { cause: signal.reason });
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortFailure(signal);
}

/** A thread runs compiled code; under the test runner this file is source, and the build lies in dist. */
function threadUrl(): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL('../../dist/convert/engines/ofd-thread.js', import.meta.url)
    : new URL('./engines/ofd-thread.js', import.meta.url);
}
