// Connections that are kept between jobs (contract S5).
import { afterEach, describe, expect, it } from 'vitest';
import { Pool, type PoolOptions } from '../../src/transfer/pool.js';

class Connection {
  isDead = false;
  isDestroyed = false;
  probes = 0;
  readonly number: number;

  constructor(number: number) {
    this.number = number;
  }

  async probe(): Promise<void> {
    this.probes += 1;
    if (this.isDead) throw new Error('dead');
  }

  destroy(): void {
    this.isDestroyed = true;
  }
}

const signal = new AbortController().signal;
const onAlive = (): void => undefined;
let made: Connection[] = [];
let nowMs = 0;
let pool: Pool<Connection>;

function open(options: Partial<PoolOptions> = {}): Pool<Connection> {
  made = [];
  nowMs = 0;
  const connect = async (): Promise<Connection> => {
    const connection = new Connection(made.length);
    made.push(connection);
    return connection;
  };
  pool = new Pool(connect, { maxIdle: 2, idleTtlMs: 1000, probeTimeoutMs: 50, now: () => nowMs, ...options });
  return pool;
}

afterEach(() => pool.close());

describe('a pool', () => {
  it('gives the connection that was used last, when it answers', async () => {
    open();
    const [first, second] = [await pool.take(signal, onAlive), await pool.take(signal, onAlive)];
    pool.giveBack(first, true);
    pool.giveBack(second, true);
    expect(await pool.take(signal, onAlive)).toBe(second);
    expect(second.probes).toBe(1);
    expect(made).toHaveLength(2);
  });

  it('makes a new one where those that were kept are dead or do not answer', async () => {
    open();
    const [dead, silent] = [await pool.take(signal, onAlive), await pool.take(signal, onAlive)];
    dead.isDead = true;
    silent.probe = () => new Promise(() => undefined);
    pool.giveBack(dead, true);
    pool.giveBack(silent, true);
    expect((await pool.take(signal, onAlive)).number).toBe(2);
    expect([dead.isDestroyed, silent.isDestroyed]).toEqual([true, true]);
  });

  it('waits for one that does not answer, not for each', async () => {
    open({ maxIdle: 10, probeTimeoutMs: 200 });
    const silent = await Promise.all(Array.from({ length: 10 }, () => pool.take(signal, onAlive)));
    for (const connection of silent) {
      connection.probe = () => new Promise(() => undefined);
      pool.giveBack(connection, true);
    }
    const startedAt = performance.now();
    expect((await pool.take(signal, onAlive)).number).toBe(10);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(silent.every(({ isDestroyed }) => isDestroyed)).toBe(true);
  });

  it('keeps none that failed, and no more than max_idle', async () => {
    open();
    const all = await Promise.all([1, 2, 3, 4].map(() => pool.take(signal, onAlive)));
    pool.giveBack(all[0]!, false);
    for (const connection of all.slice(1)) pool.giveBack(connection, true);
    expect(all.map(({ isDestroyed }) => isDestroyed)).toEqual([true, false, false, true]);
    expect(pool.idle).toBe(2);
  });

  it('ends what is idle longer than idle_ttl, also when nobody comes for it', async () => {
    open({ sweepMs: 10 });
    const old = await pool.take(signal, onAlive);
    pool.giveBack(old, true);
    nowMs = 999;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(old.isDestroyed).toBe(false);
    nowMs = 1000;
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect([old.isDestroyed, pool.idle]).toEqual([true, 0]);
  });

  it('ends all when it is closed, those in use when they come back', async () => {
    open();
    const [idle, used] = [await pool.take(signal, onAlive), await pool.take(signal, onAlive)];
    pool.giveBack(idle, true);
    pool.close();
    expect([idle.isDestroyed, used.isDestroyed]).toEqual([true, false]);
    pool.giveBack(used, true);
    expect(used.isDestroyed).toBe(true);
  });
});
