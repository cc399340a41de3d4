/** What is open, to be closed in reverse. */

interface Closable {
  close(): unknown;
}

export class Closers {
  readonly #open: (() => unknown)[] = [];

  /** Notes a thing that is open; gives it back. */
  add<Thing extends Closable>(thing: Thing): Thing {
    this.#open.push(() => thing.close());
    return thing;
  }

  /** Closes everything, also behind one that fails; rejects with the first failure. Nothing is closed twice. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#open.pop(); close; close = this.#open.pop()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
