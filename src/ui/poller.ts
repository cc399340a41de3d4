/** The one loop that asks the service how things are: one request at a time, none while nobody sees the page. */
import { ApiError } from './api.js';

/** Something to ask for. */
export interface Look {
  /** At least between two of them; asked before each. */
  readonly everyMs: () => number;
  readonly run: () => Promise<void>;
}

const LONGEST_PAUSE_MS = 30_000;

export class Poller {
  readonly #looks: readonly Look[];
  readonly #onError: (error: unknown) => void;
  readonly #onPause: (pauseMs: number) => void;
  readonly #lookedAtMs = new Map<Look, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  /** Grows while the key makes more requests than it may. */
  #pauseMs = 0;
  #notBeforeMs = 0;

  /** @param onPause the key has made too many requests: none is made for that time */
  constructor(looks: readonly Look[], onError: (error: unknown) => void, onPause: (pauseMs: number) => void) {
    this.#looks = looks;
    this.#onError = onError;
    this.#onPause = onPause;
    document.addEventListener('visibilitychange', () => this.schedule());
  }

  /** Asks for all of it as soon as may be. */
  wake(): void {
    this.#lookedAtMs.clear();
    this.schedule();
  }

  /** Asks for this as soon as may be. */
  hasten(look: Look): void {
    this.#lookedAtMs.delete(look);
    this.schedule();
  }

  /** Something may be due sooner than it was. */
  schedule(): void {
    clearTimeout(this.#timer);
    if (this.#isRunning || document.hidden) return;
    const dueMs = Math.max(this.#notBeforeMs, Math.min(...this.#looks.map((look) => this.#dueMs(look))));
    this.#timer = setTimeout(() => void this.#round(), Math.max(0, dueMs - performance.now()));
  }

  #dueMs(look: Look): number {
    const lookedAtMs = this.#lookedAtMs.get(look);
    return lookedAtMs === undefined ? 0 : lookedAtMs + look.everyMs();
  }

  async #round(): Promise<void> {
    this.#isRunning = true;
    const refusal = await this.#lookAtAll();
    this.#pauseMs = refusal ? this.#longerPauseMs(refusal) : this.#pauseMs < 2000 ? 0 : this.#pauseMs / 2;
    this.#notBeforeMs = performance.now() + this.#pauseMs;
    if (refusal) this.#onPause(this.#pauseMs);
    this.#isRunning = false;
    this.schedule();
  }

  /** All that are due, up to the first that is refused as one request too many. */
  async #lookAtAll(): Promise<ApiError | undefined> {
    for (const look of this.#looks) {
      if (this.#dueMs(look) > performance.now()) continue;
      this.#lookedAtMs.set(look, performance.now());
      try {
        await look.run();
      } catch (error) {
        if (error instanceof ApiError && error.code === 'rate_limited') return error;
        this.#onError(error);
      }
      // Unless it has been hastened meanwhile.
      if (this.#lookedAtMs.has(look)) this.#lookedAtMs.set(look, performance.now());
    }
    return undefined;
  }

  #longerPauseMs({ retryAfterMs = 0 }: ApiError): number {
    return Math.min(LONGEST_PAUSE_MS, Math.max(retryAfterMs, 1000, 2 * this.#pauseMs));
  }
}
