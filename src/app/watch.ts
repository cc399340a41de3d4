/** Looks at something again and again in the background, with a deadline; what it finds is told at once to whoever asks. */

export interface WatchOptions {
  /** What is looked at, as a reason names it. */
  readonly name: string;
  /** Resolves where all is well, rejects with the reason; may hang. */
  readonly probe: () => Promise<void>;
  /** Pause between two looks. */
  readonly everyMs: number;
  /** A look that takes longer is a fault by itself, until it ends. */
  readonly deadlineMs: number;
  /** It was well and is no longer, or the other way round; with why it is not. */
  readonly onChange?: (fault: string | undefined) => void;
}

export class Watch {
  readonly #options: WatchOptions;
  #fault: string | undefined;
  #faultSinceMs: number | undefined;
  #lateSinceMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#fault = `${options.name}: not looked at yet`;
  }

  /** Why it is not well; undefined where it is. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Since when looks have found it not well (milliseconds since 1970); undefined where the last one has not. */
  get faultSinceMs(): number | undefined {
    return this.#faultSinceMs;
  }

  /** Since when a look has had no answer (milliseconds since 1970); undefined where the last one had. */
  get lateSinceMs(): number | undefined {
    return this.#lateSinceMs;
  }

  /** Resolves after the first look, or at its deadline. */
  async start(): Promise<void> {
    let isFirstDone: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      isFirstDone = resolve;
    });
    void this.#look(isFirstDone);
    await first;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #look(onKnown: () => void): Promise<void> {
    const { name, probe, everyMs, deadlineMs } = this.#options;
    const wasWell = this.#faultSinceMs === undefined;
    const late = setTimeout(() => {
      this.#fault = `${name}: no answer for ${deadlineMs} ms`;
      this.#lateSinceMs ??= Date.now() - deadlineMs;
      this.#faultSinceMs ??= this.#lateSinceMs;
      this.#tell(wasWell);
      onKnown();
    }, deadlineMs);
    try {
      await probe();
      this.#fault = undefined;
      this.#faultSinceMs = undefined;
    } catch (error) {
      this.#faultSinceMs ??= Date.now();
      this.#fault = `${name}: ${error instanceof Error ? error.message : String(error)}`;
    }
    clearTimeout(late);
    this.#tell(wasWell && this.#lateSinceMs === undefined);
    this.#lateSinceMs = undefined;
    onKnown();
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#look(() => undefined), everyMs);
  }

  #tell(wasWell: boolean): void {
    if (wasWell !== (this.#faultSinceMs === undefined)) this.#options.onChange?.(this.#fault);
  }
}
