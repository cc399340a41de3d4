/** The statements of one database connection, each compiled once. */
import type { Database, Statement } from 'better-sqlite3';

export class Statements {
  readonly #database: Database;
  readonly #compiled = new Map<string, Statement>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** The statement of this text. */
  sql(text: string): Statement {
    let statement = this.#compiled.get(text);
    if (!statement) {
      statement = this.#database.prepare(text);
      this.#compiled.set(text, statement);
    }
    return statement;
  }
}
