/** Opens the job database for this process alone: created if missing, locked, checked, migrated, and set to flush. */
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { makeFolderSync } from '../make-folder.js';
import { migrate } from './migrations.js';
import { StoreOpenError } from './store.js';

/** The log beside the database is cut back to this size after a checkpoint. */
const JOURNAL_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * @param path file of the database; its folder is made where missing
 * @throws StoreOpenError: `held` where another process has it open
 */
export function openDatabase(path: string): Database {
  let database: Database | undefined;
  try {
    createPrivately(path);
    // No waiting for a lock: whoever holds it keeps it until its process ends.
    database = new Sqlite(path, { timeout: 0 });
    // The lock is taken with the first access and dies with the process, however that ends.
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('journal_mode = WAL');
    // The build's default for WAL is NORMAL, which may lose the last commits when the machine stops.
    database.pragma('synchronous = FULL');
    // What was removed is overwritten where that costs no writing of its own: passwords of documents among it.
    database.pragma('secure_delete = FAST');
    // Each operation of a transaction has a savepoint, whose pages would go through temporary files otherwise.
    database.pragma('temp_store = MEMORY');
    database.pragma(`journal_size_limit = ${JOURNAL_LIMIT_BYTES}`);
    database.exec('BEGIN EXCLUSIVE; COMMIT');
    migrate(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw openFault(path, error);
  }
}

/** Requests lie in the database: it is readable by its owner only, as are the files that SQLite makes beside it. */
function createPrivately(path: string): void {
  makeFolderSync(dirname(path));
  closeSync(openSync(path, 'a', 0o600));
}

function openFault(path: string, error: unknown): StoreOpenError {
  if (error instanceof StoreOpenError) return error;
  const { code = '', message } = error as Error & { code?: string };
  const options = { cause: error };
  if (code.startsWith('SQLITE_BUSY')) {
    return new StoreOpenError(
      'held',
      `db_path ${path} is held by another running process: stop it, or give this one a db_path of its own`,
      options,
    );
  }
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return new StoreOpenError(
      'damaged',
      `db_path ${path} is not a sound SQLite database (${message}): restore a backup, or move the file away to start empty`,
      options,
    );
  }
  return new StoreOpenError(
    'unreachable',
    `db_path ${path} cannot be opened (${message}): it must be a file that this user may create and write`,
    options,
  );
}
