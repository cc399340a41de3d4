/**
 * Connections of one target that are kept between jobs (contract S5): tried before each use, ended when they were idle too
 * long, and never taken back after a failure. Nothing limits how many are in use at a time but the number of workers.
 */

/** What can be kept. */
export interface Poolable {
  /** Fails where the connection is dead; one round trip. */
  probe(): Promise<void>;
  destroy(): void;
}

export interface PoolOptions {
  /** Kept at most; a connection that comes back above it is ended. */
  readonly maxIdle: number;
  /** Longest that one is kept unused, in milliseconds. */
  readonly idleTtlMs: number;
  /** How long a probe may take, in milliseconds. */
  readonly probeTimeoutMs: number;
  /** Between two rounds of the sweeper, in milliseconds; 30 s where absent. */
  readonly sweepMs?: number;
  readonly now?: () => number;
}

const SWEEP_MS = 30_000;

type Connect<Connection> = (signal: AbortSignal, onAlive: () => void) => Promise<Connection>;

interface Idle<Connection> {
  readonly connection: Connection;
  readonly sinceMs: number;
}

export class Pool<Connection extends Poolable> {
  readonly #connect: Connect<Connection>;
  readonly #options: PoolOptions;
  readonly #now: () => number;
  readonly #sweeper: NodeJS.Timeout;
  /** Oldest first. */
  #idle: Idle<Connection>[] = [];
  #isClosed = false;

  constructor(connect: Connect<Connection>, options: PoolOptions) {
    this.#connect = connect;
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#sweeper = setInterval(() => this.sweep(), options.sweepMs ?? SWEEP_MS);
    this.#sweeper.unref();
  }

  get idle(): number {
    return this.#idle.length;
  }

  /**
   * The connection that was used last and answers, or a new one.
   * @param signal gives up connecting
   * @param onAlive called with every sign of the server's
   */
  async take(signal: AbortSignal, onAlive: () => void): Promise<Connection> {
    this.sweep();
    for (let item = this.#idle.pop(); item; item = this.#idle.pop()) {
      const { connection } = item;
      try {
        await withinTime(connection.probe(), this.#options.probeTimeoutMs);
        return connection;
      } catch (error) {
        connection.destroy();
        // Its line is silent: those that were used before would take as long each, and more than whoever waits has.
        if (error instanceof NoAnswer) this.#endIdle();
      }
    }
    return this.#connect(signal, onAlive);
  }

  /** @param isHealthy false where anything failed on it: it is ended, for it may be half broken */
  giveBack(connection: Connection, isHealthy: boolean): void {
    if (!isHealthy || this.#isClosed || this.#idle.length >= this.#options.maxIdle) connection.destroy();
    else this.#idle.push({ connection, sinceMs: this.#now() });
  }

  /** Ends what was idle too long. */
  sweep(): void {
    const oldest = this.#now() - this.#options.idleTtlMs;
    const isStale = ({ sinceMs }: Idle<Connection>): boolean => sinceMs <= oldest;
    for (const { connection } of this.#idle.filter(isStale)) connection.destroy();
    this.#idle = this.#idle.filter((item) => !isStale(item));
  }

  /** Ends the idle ones now, and those in use when they come back. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    this.#endIdle();
  }

  #endIdle(): void {
    for (const { connection } of this.#idle) connection.destroy();
    this.#idle = [];
  }
}

class NoAnswer extends Error {}

async function withinTime(work: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new NoAnswer('No answer in time')), limitMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
