/** Numbers that look random and are the same for the same seed. */

export interface Numbers {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** Whether something happens that happens once in `times`. */
  once(times: number): boolean;
  /** One of `items`, which are not empty. */
  pick<T>(items: readonly T[]): T;
}

/** Neighbouring seeds give unlike numbers. */
export function numbersFrom(seed: number): Numbers {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, once: (times) => below(times) === 0, pick: (items) => items[below(items.length)]! };
}
