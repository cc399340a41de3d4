/**
 * Room for synchronous conversions: so many at a time in each lane, apart from the lane's own workers (contract A4).
 * Nobody waits for a slot.
 */
import { ServiceError } from '../errors.js';
import type { LaneName } from '../jobs/job.js';

/** A client that comes again after so long has a fair chance. */
const RETRY_AFTER_SECONDS = 2;

export interface StreamSlot {
  /** Ends the conversion in it, with the ServiceError that the client shall see. */
  readonly stop: AbortController;
  release(): void;
}

export class StreamSlots {
  readonly #capacity: Readonly<Record<LaneName, number>>;
  readonly #taken: Readonly<Record<LaneName, Set<StreamSlot>>> = { fast: new Set(), heavy: new Set() };
  #onFree: (() => void) | undefined;
  #isDraining = false;

  constructor(capacity: Readonly<Record<LaneName, number>>) {
    this.#capacity = capacity;
  }

  /** Conversions in progress. */
  get active(): number {
    return this.#taken.fast.size + this.#taken.heavy.size;
  }

  /** Conversions in progress and slots of each lane. */
  get usage(): Readonly<Record<LaneName, { readonly active: number; readonly slots: number }>> {
    const of = (lane: LaneName): { active: number; slots: number } => ({
      active: this.#taken[lane].size,
      slots: this.#capacity[lane],
    });
    return { fast: of('fast'), heavy: of('heavy') };
  }

  /**
   * A slot, to be released. Throws `server_busy` where the lane has none left, `shutting_down` for a request whose body
   * came too late.
   */
  take(lane: LaneName): StreamSlot {
    if (this.#isDraining) throw shuttingDown();
    const taken = this.#taken[lane];
    if (taken.size >= this.#capacity[lane]) {
      throw new ServiceError(
        'server_busy',
        `All ${this.#capacity[lane]} slots for synchronous conversions of lane ${lane} are taken; come again, or use output.kind "dir"`,
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      );
    }
    const slot: StreamSlot = {
      stop: new AbortController(),
      release: () => {
        taken.delete(slot);
        if (this.active === 0) this.#onFree?.();
      },
    };
    taken.add(slot);
    return slot;
  }

  /**
   * Gives none any more. Waits until none is taken, at most `graceMs`; then tells the rest to stop and waits until they
   * have.
   */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    await this.#free(graceMs);
    for (const slot of [...this.#taken.fast, ...this.#taken.heavy]) slot.stop.abort(shuttingDown());
    await this.#free(STOP_MS);
  }

  async #free(limitMs: number): Promise<void> {
    if (this.active === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
      this.#onFree = resolve;
    });
    clearTimeout(timer);
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError('shutting_down', 'The server is shutting down; send the request again later');
}

/** An engine stops within two seconds; its files and its record need a moment more. */
const STOP_MS = 5000;
