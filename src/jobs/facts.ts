/** The table `facts`: single values that outlive the rows they were taken from. */
import type { Statements } from './statements.js';

export class FactTable {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  get(name: string): string | undefined {
    return this.#statements.sql('SELECT value FROM facts WHERE name = ?').pluck().get(name) as string | undefined;
  }

  set(name: string, value: string): void {
    this.#statements
      .sql('INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
      .run(name, value);
  }

  /** Keeps the value that is there. */
  setOnce(name: string, value: string): void {
    this.#statements.sql('INSERT INTO facts VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, value);
  }
}
