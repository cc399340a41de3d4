/**
 * Delivers what stands in the outbox, so many at a time as there are workers. At least once: what was on its way when
 * the process ended is sent again, under the same id.
 *
 * A target whose last call did not get through has one worker until one does, so that receivers that hang keep nobody
 * else's notifications waiting.
 */
import type { DeliveryResult, Notification, Outbox } from '../jobs/notification.js';
import { deliver, type NotifyTarget, resultOf } from './delivery.js';

export interface NotifierOptions {
  readonly outbox: Outbox;
  readonly targets: ReadonlyMap<string, NotifyTarget>;
  readonly workers: number;
  /** Wait after the first attempt; doubled for each one after, at most ten minutes. */
  readonly backoffMs: number;
  /** Wait between the attempts after `max_attempts`, for as long as a notification is kept; 0 makes none. */
  readonly slowRetryMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How often it looks by itself, for notifications whose wait is over; 1 s where absent. */
  readonly pollMs?: number;
  readonly onAttempt?: (notification: Notification, result: DeliveryResult) => void;
  readonly onError: (error: unknown) => void;
}

const POLL_MS = 1000;
/** What is on its way at the end may still arrive for so long. */
const CLOSE_MS = 2000;
/** Pause before the store is asked again to take a result. */
const SETTLE_PAUSE_MS = 500;

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #deliveries = new Map<Promise<void>, string>();
  readonly #failing = new Set<string>();
  readonly #stop = new AbortController();
  #poll: NodeJS.Timeout | undefined;
  #claims: Promise<void> | undefined;
  #isAskedAgain = false;
  #isClosed = false;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  start(): void {
    this.#poll = setInterval(() => this.wake(), this.#options.pollMs ?? POLL_MS);
    this.wake();
  }

  /** There may be a notification. */
  wake(): void {
    this.#isAskedAgain = true;
    this.#claims ??= this.#claimAll()
      .catch(this.#options.onError)
      .finally(() => {
        this.#claims = undefined;
      });
  }

  /** One claim at a time: whether a target is left alone depends on the one before. */
  async #claimAll(): Promise<void> {
    const { outbox, workers, now } = this.#options;
    while (this.#isAskedAgain) {
      this.#isAskedAgain = false;
      while (!this.#isClosed && this.#deliveries.size < workers) {
        const claimed = await outbox.claimNotification(now(), this.#busyTargets());
        if (!claimed) break;
        this.#begin(claimed);
      }
    }
  }

  #busyTargets(): string[] {
    const busy = new Set(this.#deliveries.values());
    return [...this.#failing].filter((target) => busy.has(target));
  }

  #begin(claimed: Notification): void {
    const delivery = this.#handle(claimed)
      .catch(this.#options.onError)
      .finally(() => {
        this.#deliveries.delete(delivery);
        if (!this.#isClosed) this.wake();
      });
    this.#deliveries.set(delivery, claimed.target);
  }

  async #handle(claimed: Notification): Promise<void> {
    const result = await this.#attempt(claimed);
    if (!result) {
      await this.#options.outbox.releaseNotification(claimed);
      return;
    }
    if (result.state === 'pending' || result.state === 'abandoned') this.#failing.add(claimed.target);
    else this.#failing.delete(claimed.target);
    await this.#settle(claimed, result);
    this.#options.onAttempt?.(claimed, result);
  }

  /** Undefined where the end of the service cut it short. */
  async #attempt(claimed: Notification): Promise<DeliveryResult | undefined> {
    const { targets, backoffMs, slowRetryMs, now } = this.#options;
    const target = targets.get(claimed.target);
    if (!target) return { state: 'dead', error: `notify target "${claimed.target}" is not configured any more` };
    try {
      let answer = await deliver(claimed, target, now(), this.#stop.signal);
      // The secret may have been changed on both sides since it was read (contract C2).
      const isRefused = 'status' in answer && (answer.status === 401 || answer.status === 403);
      if (isRefused && target.secret?.reload()) answer = await deliver(claimed, target, now(), this.#stop.signal);
      return resultOf(answer, claimed, { maxAttempts: target.maxAttempts, backoffMs, slowRetryMs }, now());
    } catch (error) {
      if (this.#stop.signal.aborted) return undefined;
      throw error;
    }
  }

  /** Again and again while the store does not answer: the notification would be sent again without need. */
  async #settle(claimed: Notification, result: DeliveryResult): Promise<void> {
    const { outbox, now, onError } = this.#options;
    while (!this.#stop.signal.aborted) {
      try {
        await outbox.settleNotification(claimed, result, now());
        return;
      } catch (error) {
        onError(error);
        await pause(SETTLE_PAUSE_MS);
      }
    }
  }

  /** Sends no more, waits a moment for what is on its way, and gives the rest back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#poll);
    await this.#claims;
    const timer = setTimeout(() => this.#stop.abort(new Error('The service ends')), CLOSE_MS);
    await Promise.all(this.#deliveries.keys());
    clearTimeout(timer);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
