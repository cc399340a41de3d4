/** The load of a soak: scenarios at a bounded rate, with a bounded number of them open at a time. */
import { pause } from './client.js';
import { overtime } from './orderly.js';
import { SCENARIOS } from './scenarios.js';
import type { Scenario, Scene } from './scene.js';

/** More is not begun: on a busy machine the load follows what gets done. */
const MOST_OPEN = 40;
const MOST_OPEN_HEAVY = 4;
const OVERTIME_EVERY_MS = 4 * 60_000;
const REST_EVERY_MS = 6 * 60_000;
/** Threads that a peak has left behind have ended by then, and unused connections are closed: what is held is held for good. */
export const REST_MS = 75_000;

export class Load {
  readonly #scene: Scene;
  readonly #ratePerSecond: number;
  readonly #open = new Set<Promise<void>>();
  #openHeavy = 0;
  started = 0;
  /** Not begun because so many were open. */
  heldBack = 0;
  readonly #onRest: () => Promise<void>;

  /** @param onRest called now and then, when all that was begun has ended, and a minute after that */
  constructor(scene: Scene, ratePerSecond: number, onRest: () => Promise<void>) {
    this.#scene = scene;
    this.#ratePerSecond = ratePerSecond;
    this.#onRest = onRest;
  }

  get open(): number {
    return this.#open.size;
  }

  /** Begins scenarios until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { numbers } = this.#scene;
    let restAtMs = Date.now() + REST_EVERY_MS;
    let overtimeAtMs = Date.now();
    while (!signal.aborted) {
      if (Date.now() >= restAtMs) {
        await this.finish();
        await pause(REST_MS);
        await this.#onRest();
        restAtMs = Date.now() + REST_EVERY_MS;
      }
      // Unevenly, as requests come.
      await pause((-Math.log(1 - numbers.below(1000) / 1000) * 1000) / this.#ratePerSecond);
      // It lasts for minutes, and is to be over at the next rest.
      if (Date.now() >= overtimeAtMs && Date.now() + OVERTIME_EVERY_MS < restAtMs) {
        overtimeAtMs = Date.now() + OVERTIME_EVERY_MS;
        this.#begin(overtime);
      }
      const scenario = this.#pick();
      const isTooMuch = scenario.weight === 'heavy' && this.#openHeavy >= MOST_OPEN_HEAVY;
      if (this.open >= MOST_OPEN || isTooMuch) this.heldBack += 1;
      else this.#begin(scenario);
    }
  }

  /** Resolves when all that was begun has ended. */
  async finish(): Promise<void> {
    await Promise.all(this.#open);
  }

  #begin(scenario: Scenario): void {
    const isHeavy = scenario.weight === 'heavy';
    if (isHeavy) this.#openHeavy += 1;
    this.started += 1;
    const running = scenario
      .run(this.#scene, scenario.name)
      .catch((error: unknown) => {
        const { message, cause } = error as Error;
        this.#scene.ledger.note(scenario.name, 'no answer', [], `${message} ${String(cause ?? '')}`);
      })
      .finally(() => {
        this.#open.delete(running);
        if (isHeavy) this.#openHeavy -= 1;
      });
    this.#open.add(running);
  }

  #pick(): Scenario {
    const { numbers, hasOffice, hasBrowser } = this.#scene;
    const there = SCENARIOS.filter(({ name }) => (name !== 'office' || hasOffice) && (name !== 'web' || hasBrowser));
    const total = there.reduce((sum, { share }) => sum + share, 0);
    let at = (numbers.below(1_000_000) / 1_000_000) * total;
    for (const scenario of there) {
      at -= scenario.share;
      if (at < 0) return scenario;
    }
    return there[0] as Scenario;
  }
}
