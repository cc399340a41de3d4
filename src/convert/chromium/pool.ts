/**
 * The browsers that conversions share: one at a time takes new work. It is replaced after so many conversions, when it
 * ended by itself, and when it has had nothing to do for a while; one that is replaced ends when its last work is done.
 */
import { ServiceError } from '../../errors.js';
import { Browser, type BrowserSettings, rejectOnAbort } from './browser.js';

/** Why a browser was ended. */
export type BrowserEnd = 'recycled' | 'crashed' | 'memory' | 'stopped';

export interface BrowserPoolOptions {
  /** Found out when the first browser is started. */
  readonly settings: () => Promise<BrowserSettings>;
  readonly conversionsPerBrowser: number;
  readonly idleMs: number;
  readonly onBrowserEnd?: ((reason: BrowserEnd) => void) | undefined;
}

interface Place {
  readonly starting: Promise<Browser>;
  /** Ends a start that nobody waits for any more. */
  readonly stop: AbortController;
  browser: Browser | undefined;
  conversions: number;
  active: number;
  /** How many lost it when it ended. */
  losers: number;
  idleTimer: NodeJS.Timeout | undefined;
}

/** The browser ended in the middle of the work. */
export class LostBrowser extends Error {
  override readonly name = 'LostBrowser';
  readonly failure: ServiceError;
  /** Other work was lost with it: nobody knows whose fault it was. */
  readonly wasShared: boolean;

  constructor(failure: ServiceError, wasShared: boolean) {
    super(failure.message);
    this.failure = failure;
    this.wasShared = wasShared;
  }
}

export class BrowserPool {
  readonly #options: BrowserPoolOptions;
  readonly #places = new Set<Place>();
  #current: Place | undefined;
  #lastAlone: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: BrowserPoolOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` with a browser. Rejects when the signal aborts before the browser is there; `work` listens itself.
   * @param log takes what the browser prints meanwhile
   * @throws LostBrowser where the browser ended
   */
  async use<Result>(
    signal: AbortSignal,
    log: (bytes: Uint8Array) => void,
    work: (browser: Browser) => Promise<Result>,
  ): Promise<Result> {
    const place = this.#current ?? this.#open(log);
    this.#current = place.conversions + 1 < this.#options.conversionsPerBrowser ? place : undefined;
    return this.#useAt(place, signal, log, work);
  }

  /** The same with a browser that nothing else is done with, one after the other. */
  useAlone<Result>(
    signal: AbortSignal,
    log: (bytes: Uint8Array) => void,
    work: (browser: Browser) => Promise<Result>,
  ): Promise<Result> {
    const mine = this.#lastAlone.then(() => {
      signal.throwIfAborted();
      return this.#useAt(this.#open(log), signal, log, work);
    });
    this.#lastAlone = mine.catch(() => undefined);
    return mine;
  }

  async #useAt<Result>(
    place: Place,
    signal: AbortSignal,
    log: (bytes: Uint8Array) => void,
    work: (browser: Browser) => Promise<Result>,
  ): Promise<Result> {
    const done = new AbortController();
    clearTimeout(place.idleTimer);
    place.active += 1;
    place.conversions += 1;
    try {
      const browser = await Promise.race([place.starting, rejectOnAbort(signal, done.signal)]);
      const stopListening = browser.listen(log);
      try {
        return await work(browser);
      } catch (error) {
        if (!browser.isLost || signal.aborted) throw error;
        await browser.ended;
        throw new LostBrowser(browser.failure(), place.losers > 1);
      } finally {
        stopListening();
      }
    } finally {
      done.abort();
      place.active -= 1;
      if (place.active === 0) await this.#rest(place);
    }
  }

  /** Ends every browser; work that goes on with one fails. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#current = undefined;
    await Promise.all([...this.#places].map((place) => this.#end(place)));
  }

  #open(log: (bytes: Uint8Array) => void): Place {
    if (this.#isClosed) throw closed();
    const stop = new AbortController();
    const starting = this.#options.settings().then((settings) => Browser.start(settings, log, stop.signal));
    const counts = { conversions: 0, active: 0, losers: 0 };
    const place: Place = { starting, stop, browser: undefined, idleTimer: undefined, ...counts };
    this.#places.add(place);
    starting.then(
      (browser) => {
        place.browser = browser;
        void browser.ended.then(() => this.#forget(place));
      },
      () => this.#forget(place),
    );
    return place;
  }

  /** Nobody works with it now. */
  async #rest(place: Place): Promise<void> {
    if (place === this.#current && place.browser !== undefined) {
      place.idleTimer = setTimeout(() => void this.#end(place), this.#options.idleMs).unref();
    } else if (this.#places.has(place)) {
      await this.#end(place);
    }
  }

  async #end(place: Place): Promise<void> {
    clearTimeout(place.idleTimer);
    if (place === this.#current) this.#current = undefined;
    place.stop.abort(closed());
    const browser = await place.starting.catch(() => undefined);
    await browser?.close();
  }

  #forget(place: Place): void {
    clearTimeout(place.idleTimer);
    place.losers = place.active;
    if (place === this.#current) this.#current = undefined;
    if (!this.#places.delete(place) || this.#isClosed) return;
    const { browser } = place;
    // Its start was called off: there was nothing that could end.
    if (!browser && place.stop.signal.aborted) return;
    const isStopped = browser?.end?.cause === 'stopped';
    if (isStopped) this.#options.onBrowserEnd?.(place.active > 0 ? 'stopped' : 'recycled');
    else this.#options.onBrowserEnd?.(browser?.end?.cause === 'memory' ? 'memory' : 'crashed');
  }
}

function closed(): ServiceError {
  return new ServiceError('shutting_down', 'The Chromium engine is closed');
}
