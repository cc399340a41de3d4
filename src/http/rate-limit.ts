/** How often a key may ask: a bucket of one minute's requests that fills up again evenly. */
const MINUTE_MS = 60_000;

export class RateLimit {
  readonly #perMinute: number;
  #left: number;
  #atMs: number | undefined;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#left = perMinute;
  }

  /**
   * Takes one request.
   * @param nowMs of a clock that never goes back
   * @returns 0, or the seconds after which the next request will be taken; this one was not
   */
  take(nowMs: number): number {
    const passedMs = nowMs - (this.#atMs ?? nowMs);
    this.#atMs = nowMs;
    this.#left = Math.min(this.#perMinute, this.#left + (passedMs * this.#perMinute) / MINUTE_MS);
    if (this.#left < 1) return Math.ceil(((1 - this.#left) * MINUTE_MS) / this.#perMinute / 1000);
    this.#left -= 1;
    return 0;
  }
}
