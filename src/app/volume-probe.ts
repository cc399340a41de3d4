/** Asks a thread whether folders of one volume take a file. One thread a volume, so that one that hangs hides no other. */
import { hostname } from 'node:os';
import { Worker } from 'node:worker_threads';
import { StuckError } from './closers.js';

export interface VolumeQuestion {
  readonly number: number;
  readonly folder: string;
}

export interface VolumeAnswer {
  readonly number: number;
  /** Absent where all is well. */
  readonly fault?: string;
  /** That this user may still write; absent where it cannot be told. */
  readonly freeBytes?: number;
}

/**
 * Name of the file that is written to try a folder: of this machine and process, because several services may share a
 * folder, and the same after a crash, so that nothing piles up.
 */
export const PROBE_NAME = `.ofd-server-watch-${hostname().replace(/[^\w.-]/g, '_')}-${process.pid}`;

/** A hung thread cannot be ended; closing waits no longer for it. */
const CLOSE_MS = 1000;

export class VolumeProbe {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (answer: VolumeAnswer) => void>();
  #count = 0;

  constructor() {
    this.#worker = new Worker(threadUrl(), {
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    });
    this.#worker.on('message', (answer: VolumeAnswer) => this.#waiting.get(answer.number)?.(answer));
    this.#worker.on('error', (error) => this.#answerAll(error.message));
    this.#worker.on('exit', () => this.#answerAll('the watching thread has ended'));
    this.#worker.unref();
  }

  /** What the folder takes; hangs while its volume does. */
  async check(folder: string): Promise<VolumeAnswer> {
    this.#count += 1;
    const question: VolumeQuestion = { number: this.#count, folder };
    const answer = await new Promise<VolumeAnswer>((resolve) => {
      this.#waiting.set(question.number, resolve);
      this.#worker.postMessage(question);
    });
    this.#waiting.delete(question.number);
    return answer;
  }

  /** Rejects with StuckError where the thread hangs: it would keep the process from ending. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new StuckError('the thread that looks at a volume hangs')), CLOSE_MS);
    });
    await Promise.race([this.#worker.terminate(), late]).finally(() => clearTimeout(timer));
  }

  #answerAll(fault: string): void {
    for (const [number, answer] of this.#waiting) answer({ number, fault });
  }
}

/** A thread runs compiled code; under the test runner this file is source, and the build lies in dist. */
function threadUrl(): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL('../../dist/app/volume-thread.js', import.meta.url)
    : new URL('./volume-thread.js', import.meta.url);
}
