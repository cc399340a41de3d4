/** Work that takes turns. A browser opens six connections to a service, for all of its tabs: no kind of work may take them all. */

export class Lane {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** @param width how many at a time */
  constructor(width: number) {
    this.#free = width;
  }

  /** @param isFirst goes before all that wait, as somebody looks at it */
  async run<Result>(work: () => Promise<Result>, isFirst = false): Promise<Result> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting[isFirst ? 'unshift' : 'push'](resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}

/** Documents on their way to the service. */
export const uploads = new Lane(2);
/** Products on their way to the reader. */
export const downloads = new Lane(2);
