/**
 * Runs steps of conversions in worker threads, so that the event loop stays free and a conversion can be stopped at any instant.
 *
 * A thread is idle or runs one task. Idle threads are kept and reused (the one used last first, its caches are warm);
 * more are started while tasks wait, up to `maxThreads`, and those that a peak has left behind end when they were idle for
 * long: each holds some 50 MiB. A task that is aborted stops at its next page; where that does not
 * come soon, its thread is ended. A thread that is ended, dies or runs out of heap is replaced, and only its own task fails.
 *
 * A thread that is ended in the middle of reading its modules never gives their descriptors back. So it gets its first task
 * when it has read them all, and one whose task is aborted before that becomes an idle thread.
 */
import { Worker } from 'node:worker_threads';
import { ServiceError } from '../errors.js';
import { askToStop, endThread, letGoOn, newGuard, type ThreadGuard } from '../thread-guard.js';
import type { ConversionHooks, ConversionResult, StepRunner, StepTask } from './converter-types.js';
import type { ThreadReply, ThreadSettings } from './engines/thread-types.js';
import { MemoryWatch } from './memory-watch.js';
import { watchPulse } from './thread-pulse.js';

/** Why a thread was ended: its time had come, memory was short, it failed, or its task was to stop. */
export type ThreadEnd = 'recycled' | 'memory' | 'crashed' | 'stopped';

export interface ThreadConverterOptions {
  readonly maxThreads: number;
  /** JavaScript heap of one thread in MiB; pixels and fonts lie outside and have their own budgets. */
  readonly heapMb?: number;
  readonly fontDirs: readonly string[];
  /**
   * Nobody else in this process has anything to do meanwhile, and it ends soon: the threads give way to nobody, and read
   * modules when they need them.
   */
  readonly isForeground?: boolean;
  /** A thread is retired after so many tasks, to give back what native libraries keep. */
  readonly tasksPerThread?: number;
  /** A thread that still holds so much between two tasks is retired. */
  readonly idleMemoryBytes?: number;
  /** A thread that had no task for so long is retired, unless it is the last or was warmed. */
  readonly idleMs?: number;
  /** Resident memory of the process above which the largest conversion is ended; no limit where absent. */
  readonly maxResidentBytes?: number;
  readonly onThreadEnd?: (reason: ThreadEnd) => void;
}

const DEFAULT_HEAP_MB = 1024;
const DEFAULT_TASKS_PER_THREAD = 500;
const DEFAULT_IDLE_MEMORY_BYTES = 512 * 1024 * 1024;
const DEFAULT_IDLE_MS = 60_000;
/**
 * V8 takes up to 48 for new objects and does not give them back: half of that costs no time with PDF and some tenth with
 * JSON of hundreds of pages.
 */
const YOUNG_HEAP_MB = 24;
/** A conversion ends within two seconds of its abort (contract R3): what is left then is for the end of the thread. */
const STOP_MS = 500;

interface Thread {
  readonly worker: Worker;
  readonly guard: ThreadGuard;
  /** Resolves when it can take a task. */
  readonly ready: Promise<void>;
  tasks: number;
  /** JavaScript heap and buffers, as the thread last told. */
  memoryBytes: number;
  /** Ends the task that it runs. */
  fail: ((failure: BrokenThread) => void) | undefined;
  isEnding: boolean;
  /** Runs while it is idle. */
  idleTimer: NodeJS.Timeout | undefined;
}

export class ThreadConverter implements StepRunner {
  readonly #options: ThreadConverterOptions;
  readonly #idle: Thread[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #threads = new Set<Thread>();
  readonly #memoryWatch: MemoryWatch | undefined;
  /** Threads that stay however long they are idle. */
  #lasting = 1;
  #isClosed = false;

  constructor(options: ThreadConverterOptions) {
    this.#options = options;
    const { maxResidentBytes } = options;
    this.#memoryWatch =
      maxResidentBytes === undefined
        ? undefined
        : new MemoryWatch({ limitBytes: maxResidentBytes, relieve: () => this.#relieve() });
  }

  /** Threads that are alive, busy or idle. */
  get threadCount(): number {
    return this.#threads.size;
  }

  async run(task: StepTask, hooks: ConversionHooks): Promise<ConversionResult> {
    const thread = await this.#acquire(hooks.signal);
    if (hooks.signal.aborted) {
      this.#keep(thread);
      throw abortFailure(hooks.signal);
    }
    try {
      const result = await runOn(thread, task, hooks);
      this.#release(thread);
      return result;
    } catch (error) {
      if (!(error instanceof BrokenThread)) {
        this.#release(thread);
        throw error;
      }
      await this.#discard(thread, error.end);
      throw error.failure;
    }
  }

  /** Starts so many threads, with their engines loaded and their fonts known; so many stay. */
  async warm(threads: number): Promise<void> {
    this.#lasting = Math.max(1, threads);
    const { signal } = new AbortController();
    const started = await Promise.all(Array.from({ length: threads }, () => this.#acquire(signal)));
    for (const thread of started) this.#keep(thread);
  }

  /** Stops every thread; tasks still running reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#memoryWatch?.close();
    await Promise.all([...this.#threads].map((thread) => this.#discard(thread, 'stopped')));
  }

  async #acquire(signal: AbortSignal): Promise<Thread> {
    for (;;) {
      throwIfAborted(signal);
      if (this.#isClosed) throw new ServiceError('shutting_down', 'The converter is closed');
      const idle = this.#idle.pop();
      clearTimeout(idle?.idleTimer);
      if (idle) return idle;
      if (this.#threads.size < this.#options.maxThreads) return this.#started(this.#spawn(), signal);
      await this.#nextFree(signal);
    }
  }

  async #started(thread: Thread, signal: AbortSignal): Promise<Thread> {
    let onAbort = (): void => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(abortFailure(signal));
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      await Promise.race([thread.ready, aborted]);
      return thread;
    } catch (error) {
      if (!signal.aborted) await this.#discard(thread, 'crashed');
      thread.ready.then(
        () => this.#keep(thread),
        () => undefined,
      );
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
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
    const { fontDirs, isForeground = false } = this.#options;
    const guard = newGuard();
    const settings: ThreadSettings = { fontDirs, isForeground, guard };
    const worker = new Worker(threadUrl(), {
      workerData: settings,
      resourceLimits: {
        maxOldGenerationSizeMb: this.#options.heapMb ?? DEFAULT_HEAP_MB,
        ...(!isForeground && { maxYoungGenerationSizeMb: YOUNG_HEAP_MB }),
      },
    });
    // Each task listens while it runs; this one keeps an error between tasks from ending the process.
    worker.on('error', () => undefined);
    const ready = untilReady(worker);
    const thread: Thread = {
      worker,
      guard,
      ready,
      tasks: 0,
      memoryBytes: 0,
      fail: undefined,
      isEnding: false,
      idleTimer: undefined,
    };
    worker.once('exit', () => this.#forget(thread));
    this.#threads.add(thread);
    return thread;
  }

  #release(thread: Thread): void {
    thread.tasks += 1;
    const { tasksPerThread, idleMemoryBytes } = this.#options;
    const isOld = thread.tasks >= (tasksPerThread ?? DEFAULT_TASKS_PER_THREAD);
    if (isOld || thread.memoryBytes > (idleMemoryBytes ?? DEFAULT_IDLE_MEMORY_BYTES)) {
      void this.#discard(thread, 'recycled');
      return;
    }
    letGoOn(thread.guard);
    this.#keep(thread);
  }

  /** It waits for its next task. */
  #keep(thread: Thread): void {
    if (this.#isClosed) void this.#discard(thread, 'stopped');
    else {
      this.#idle.push(thread);
      const idleMs = this.#options.idleMs ?? DEFAULT_IDLE_MS;
      thread.idleTimer = setTimeout(() => this.#retire(thread), idleMs).unref();
    }
    this.#waiting.shift()?.();
  }

  /** It was idle for long. */
  #retire(thread: Thread): void {
    const staying = [...this.#threads].filter(({ isEnding }) => !isEnding);
    if (staying.length <= this.#lasting) return;
    this.#idle.splice(this.#idle.indexOf(thread), 1);
    void this.#discard(thread, 'recycled');
  }

  /** First what idle threads keep; then the largest conversion goes, and the others go on. */
  #relieve(): boolean {
    const idle = this.#idle.splice(0);
    for (const thread of idle) void this.#discard(thread, 'memory');
    if (idle.length > 0) return true;
    const busy = [...this.#threads].filter(({ fail }) => fail !== undefined);
    const [largest] = busy.sort((a, b) => b.memoryBytes - a.memoryBytes);
    largest?.fail?.(new BrokenThread('memory', tooLarge('The document needs more memory than the service has left')));
    return largest !== undefined;
  }

  async #discard(thread: Thread, reason: ThreadEnd): Promise<void> {
    if (!thread.isEnding && !this.#isClosed) this.#options.onThreadEnd?.(reason);
    thread.isEnding = true;
    clearTimeout(thread.idleTimer);
    await endThread(thread.worker, thread.guard);
    this.#forget(thread);
  }

  #forget(thread: Thread): void {
    clearTimeout(thread.idleTimer);
    if (!this.#threads.delete(thread)) return;
    const at = this.#idle.indexOf(thread);
    if (at >= 0) this.#idle.splice(at, 1);
    this.#waiting.shift()?.();
  }
}

/** The thread can't be used again; `failure` is what the caller sees. */
class BrokenThread extends Error {
  readonly end: ThreadEnd;
  readonly failure: ServiceError;

  constructor(end: ThreadEnd, failure: ServiceError) {
    super(failure.message);
    this.end = end;
    this.failure = failure;
  }
}

/** A thread that ends meanwhile is forgotten by itself. */
function untilReady(worker: Worker): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    const onEnd = (error: Error | number): void =>
      reject(threadFailure(error instanceof Error ? error : new Error('the thread has ended')));
    worker.once('error', onEnd).once('exit', onEnd);
    worker.once('message', () => {
      worker.off('error', onEnd).off('exit', onEnd);
      resolve();
    });
  });
  ready.catch(() => undefined);
  return ready;
}

function runOn(thread: Thread, task: StepTask, hooks: ConversionHooks): Promise<ConversionResult> {
  const { worker } = thread;
  return new Promise((resolve, reject) => {
    const onMessage = (reply: ThreadReply): void => {
      thread.memoryBytes = reply.memoryBytes;
      if (reply.kind === 'opened') hooks.onOpened?.(reply.format);
      else if (reply.kind === 'progress') hooks.onProgress?.(reply.done, reply.total);
      else if (reply.kind === 'alive') hooks.onAlive?.();
      else if (reply.kind === 'log') hooks.log?.(reply.bytes);
      else if (reply.kind === 'done' || reply.kind === 'failed') finish(() => end(reply));
    };
    const end = (reply: ThreadReply & { readonly kind: 'done' | 'failed' }): void => {
      if (hooks.signal.aborted) reject(abortFailure(hooks.signal));
      else if (reply.kind === 'done') resolve(reply.result);
      else reject(new ServiceError(reply.code, reply.message, reply.reason ? { reason: reply.reason } : {}));
    };
    const fail = (failure: BrokenThread): void => finish(() => reject(failure));
    const onError = (error: Error): void => fail(new BrokenThread('crashed', threadFailure(error)));
    const onExit = (code: number): void => onError(new Error(`worker thread ended with code ${code}`));
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      askToStop(thread.guard);
      timer = setTimeout(() => fail(new BrokenThread('stopped', abortFailure(hooks.signal))), STOP_MS);
    };
    const endPulse = watchPulse(worker, () => hooks.onAlive?.());
    const finish = (settle: () => void): void => {
      endPulse();
      clearTimeout(timer);
      thread.fail = undefined;
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      hooks.signal.removeEventListener('abort', onAbort);
      settle();
    };
    thread.fail = fail;
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    hooks.signal.addEventListener('abort', onAbort, { once: true });
    worker.postMessage(task);
  });
}

function threadFailure(error: Error & { code?: string }): ServiceError {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? tooLarge('The document needs more memory than a conversion may take', error)
    : new ServiceError('engine_crashed', `The engine's thread crashed: ${error.message}`, {
        reason: 'internal',
        cause: error,
      });
}

function tooLarge(message: string, cause?: Error): ServiceError {
  return new ServiceError('conversion_failed', message, { reason: 'too_large', ...(cause && { cause }) });
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
    ? new URL('../../dist/convert/engines/thread.js', import.meta.url)
    : new URL('./engines/thread.js', import.meta.url);
}
