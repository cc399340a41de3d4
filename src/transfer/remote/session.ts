/**
 * One session with a target during one delivery: every step ends in time, and at once when the delivery is stopped. A step
 * is over time when nothing has moved for `timeout_seconds`.
 */
import { type RemoteClient, RemoteFault } from './client.js';
import type { RemoteTarget } from './target.js';

export class RemoteSession {
  readonly target: RemoteTarget;
  readonly #signal: AbortSignal;
  readonly #onAlive: () => void;
  /** Aborted with the first failure: ends what is being opened. */
  readonly #failed = new AbortController();
  #client: RemoteClient | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Starts the time of the step that is in progress anew. */
  #giveTime: (limitMs: number) => void = () => undefined;
  #startedAtMs = 0;

  constructor(target: RemoteTarget, signal: AbortSignal, onAlive: () => void) {
    this.target = target;
    this.#signal = signal;
    this.#onAlive = onAlive;
  }

  /**
   * Something has moved.
   * @param isLast all has been handed over: a slow line may take as long for what is buffered as for what has gone
   */
  alive(isLast = false): void {
    const { timeoutMs } = this.target;
    this.#giveTime(isLast ? Math.max(timeoutMs, performance.now() - this.#startedAtMs) : timeoutMs);
    this.#onAlive();
  }

  /**
   * Runs a step on the session, which is opened with the first.
   * @throws RemoteFault, the reason of the signal, or what the step throws
   */
  async step<Result>(work: (client: RemoteClient) => Promise<Result>): Promise<Result> {
    this.#client ??= await this.#guarded(() => this.#connect());
    const client = this.#client;
    const result = await this.#guarded(() => work(client));
    this.#onAlive();
    return result;
  }

  /** A connection that arrives after its time is ended. */
  async #connect(): Promise<RemoteClient> {
    const client = await this.target.connect(this.#failed.signal, () => this.alive());
    if (this.#failed.signal.aborted) this.target.giveBack(client, false);
    return client;
  }

  async #guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#signal.throwIfAborted();
    const { timeoutMs } = this.target;
    let onAbort = (): void => undefined;
    const stopped = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(this.#signal.reason);
      this.#signal.addEventListener('abort', onAbort, { once: true });
      this.#startedAtMs = performance.now();
      this.#giveTime = (limitMs) => {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => reject(tooSlow(limitMs)), limitMs);
      };
      this.#giveTime(timeoutMs);
    });
    try {
      return await Promise.race([work(), stopped]);
    } catch (error) {
      this.#failed.abort();
      this.#client?.destroy();
      throw this.#signal.aborted ? this.#signal.reason : error;
    } finally {
      this.#giveTime = () => undefined;
      clearTimeout(this.#timer);
      this.#signal.removeEventListener('abort', onAbort);
    }
  }

  /** Gives the connection back, for later jobs where nothing failed on it. */
  close(): void {
    if (this.#client) this.target.giveBack(this.#client, !this.#failed.signal.aborted);
    this.#client = undefined;
  }
}

function tooSlow(limitMs: number): RemoteFault {
  return new RemoteFault('unreachable', `does not answer: nothing moved for ${Math.round(limitMs / 1000)} s`);
}
