/** A bounded cache; what was used longest ago goes first, so that the same pages in the same order find the same. */
export class Cache<V> {
  readonly #capacity: number;
  readonly #weigh: (value: V) => number;
  readonly #values = new Map<string, V>();
  #weight = 0;

  /** `weigh` gives what a value takes of `capacity`; by default each takes one. */
  constructor(capacity: number, weigh: (value: V) => number = () => 1) {
    this.#capacity = capacity;
    this.#weigh = weigh;
  }

  get(key: string): V | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#remove(key);
    this.#values.set(key, value);
    this.#weight += this.#weigh(value);
    for (const oldest of this.#values.keys()) {
      if (this.#weight <= this.#capacity || oldest === key) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#weight -= this.#weigh(value);
  }
}
