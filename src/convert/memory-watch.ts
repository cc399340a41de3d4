/** Looks at the resident memory of the process, and calls for relief while it is over its limit (contract R2). */

export interface MemoryWatchOptions {
  readonly limitBytes: number;
  /** Gives memory back. False where nothing was left to do. */
  readonly relieve: () => boolean;
  /** Resident memory of the process in bytes. */
  readonly read?: () => number;
  readonly everyMs?: number;
}

const LOOK_EVERY_MS = 500;
/** Looks that are left out after relief: memory comes back when a thread has ended, and not before. */
const PAUSE_LOOKS = 4;

export class MemoryWatch {
  readonly #timer: NodeJS.Timeout;

  constructor({ limitBytes, relieve, read = process.memoryUsage.rss, everyMs = LOOK_EVERY_MS }: MemoryWatchOptions) {
    let pause = 0;
    this.#timer = setInterval(() => {
      pause = Math.max(0, pause - 1);
      if (pause === 0 && read() > limitBytes && relieve()) pause = PAUSE_LOOKS;
    }, everyMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
