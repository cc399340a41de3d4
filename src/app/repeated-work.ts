/** Work that is done at start and again and again after that, one pass at a time. */

export interface RepeatedWorkOptions {
  /** From the start of one pass to that of the next. */
  readonly everyMs: number;
  /** Looks at `isClosed` between its steps, and ends where that is true. */
  readonly pass: (isClosed: () => boolean) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export class RepeatedWork {
  readonly #options: RepeatedWorkOptions;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #work: Promise<void> = Promise.resolve();

  constructor(options: RepeatedWorkOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.#begin(), this.#options.everyMs);
    this.#begin();
  }

  /** Resolves when the step in progress is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#work;
  }

  #begin(): void {
    const { pass, onError } = this.#options;
    this.#work = this.#work.then(() => pass(() => this.#isClosed)).catch(onError);
  }
}
