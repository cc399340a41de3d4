/**
 * Transactions of the database: many operations share one, and so one flush of the disk. What an operation leaves to be
 * removed outside the database counts once it is durable.
 */
import type { Database } from 'better-sqlite3';
import type { RunsOfJob } from './attempt-log-files.js';
import type { Statements } from './statements.js';

type Answer<T> = { value: T } | { error: unknown };

export class Transactions {
  readonly #database: Database;
  readonly #statements: Statements;
  /** Input files that no row names any more. */
  #files: string[] = [];
  /** Jobs that were pruned, whose logs go too. */
  #runs: RunsOfJob[] = [];
  #count = 0;

  constructor(database: Database, statements: Statements) {
    this.#database = database;
    this.#statements = statements;
  }

  /** Since the start: those that changed something, and so cost a flush. */
  get count(): number {
    return this.#count;
  }

  /** Of the operation in progress: files that may be removed when it is durable. */
  leaveFiles(files: readonly string[]): void {
    this.#files.push(...files);
  }

  /** Of the operation in progress: jobs whose logs may be removed when it is durable. */
  leaveRuns(runs: readonly RunsOfJob[]): void {
    this.#runs.push(...runs);
  }

  /** What may be removed now; to be asked after a transaction, each is given once. */
  takeLeft(): { readonly files: readonly string[]; readonly runs: readonly RunsOfJob[] } {
    const left = { files: this.#files, runs: this.#runs };
    this.#files = [];
    this.#runs = [];
    return left;
  }

  /**
   * Runs all `operations` in one transaction. Each has a savepoint of its own: one that throws is undone alone, and its
   * error stands in the answer.
   * @throws the error of the common commit; nothing has happened then
   */
  run<T>(operations: readonly (() => T)[]): Answer<T>[] {
    const forget = this.#mark();
    const changesBefore = this.#totalChanges();
    this.#statements.sql('BEGIN IMMEDIATE').run();
    try {
      const answers = operations.map((operation) => this.#inSavepoint(operation));
      this.#statements.sql('COMMIT').run();
      if (this.#totalChanges() !== changesBefore) this.#count += 1;
      return answers;
    } catch (error) {
      forget();
      if (this.#database.inTransaction) this.#statements.sql('ROLLBACK').run();
      throw error;
    }
  }

  #inSavepoint<T>(operation: () => T): Answer<T> {
    const forget = this.#mark();
    this.#statements.sql('SAVEPOINT operation').run();
    try {
      const value = operation();
      this.#statements.sql('RELEASE operation').run();
      return { value };
    } catch (error) {
      // A full or failing disk ends the whole transaction by itself: then every operation of it has failed.
      if (!this.#database.inTransaction) throw error;
      forget();
      this.#statements.sql('ROLLBACK TO operation').run();
      this.#statements.sql('RELEASE operation').run();
      return { error };
    }
  }

  /** Gives back the function that forgets what is left from here on. */
  #mark(): () => void {
    const [files, runs] = [this.#files.length, this.#runs.length];
    return () => {
      this.#files.length = files;
      this.#runs.length = runs;
    };
  }

  #totalChanges(): number {
    return this.#statements.sql('SELECT total_changes()').pluck().get() as number;
  }
}
