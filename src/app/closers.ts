/** What is open, to be closed in reverse, in a time that has an end: what hangs on a volume is left behind. */

interface Closable {
  close(): unknown;
}

/** For all of it together. */
const CLOSE_MS = 10_000;
/** For each thing, also where another has used up the time: the log comes last. */
const LEAST_MS = 1000;

/** Something did not close in its time, and may keep the process from ending. */
export class StuckError extends Error {
  override readonly name = 'StuckError';
}

export class Closers {
  readonly #open: (() => unknown)[] = [];

  /** Notes a thing that is open; gives it back. */
  add<Thing extends Closable>(thing: Thing): Thing {
    this.#open.push(() => thing.close());
    return thing;
  }

  /**
   * Closes everything, also behind one that fails; rejects with the first failure. Nothing is closed twice.
   * @param limitMs for all of it; what takes longer is left open, which is a failure
   */
  async close(limitMs = CLOSE_MS): Promise<void> {
    const failures: unknown[] = [];
    const endMs = performance.now() + limitMs;
    for (let close = this.#open.pop(); close; close = this.#open.pop()) {
      try {
        await within(Math.max(LEAST_MS, endMs - performance.now()), close);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

async function within(limitMs: number, close: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new StuckError('something that hangs was left behind')), limitMs);
  });
  try {
    await Promise.race([close(), late]);
  } finally {
    clearTimeout(timer);
  }
}
