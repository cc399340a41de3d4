/** A secret of the configuration, which no log line, error or JSON text can show by accident. */
import { readFileSync } from 'node:fs';

const LARGEST_SECRET_FILE = 64 * 1024;

/**
 * The secret in a file, without the line end that editors add.
 * @throws the error of the file system, or an Error that says what the file must hold
 */
export function secretIn(file: string): string {
  const content = readFileSync(file);
  const value = content.toString('utf8').trimEnd();
  if (value === '') throw new Error('is empty; it must hold the secret alone');
  if (content.length > LARGEST_SECRET_FILE) throw new Error('is larger than 64 KiB; it must hold the secret alone');
  return value;
}

export class Secret {
  #value: string;
  #file: string | undefined;

  /** @param file where it was read from, if it was */
  constructor(value: string, file?: string) {
    this.#value = value;
    this.#file = file;
  }

  /** The same secret, with the file that it stands in. */
  from(file: string): Secret {
    return new Secret(this.#value, file);
  }

  /** Reads the file again (contract C2). Whether it holds another secret now; false where it holds none. */
  reload(): boolean {
    if (this.#file === undefined) return false;
    try {
      const value = secretIn(this.#file);
      const hasChanged = value !== this.#value;
      this.#value = value;
      return hasChanged;
    } catch {
      return false;
    }
  }

  /** Takes over what another reading of the configuration found, and where. Whether that is another secret. */
  take(other: Secret): boolean {
    const hasChanged = other.#value !== this.#value;
    this.#value = other.#value;
    this.#file = other.#file;
    return hasChanged;
  }

  /** The secret itself; for the one place that needs it. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]';
  }
}
