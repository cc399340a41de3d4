/** The schema of the job database: ordered steps, forward only; a step that has been released is never edited. */
import type { Database } from 'better-sqlite3';
import { StoreOpenError } from './store.js';

/** Step n brings the schema from version n to n + 1. */
const STEPS: readonly string[] = [
  `
  CREATE TABLE jobs (
    id                TEXT PRIMARY KEY,
    state             TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
    lane              TEXT NOT NULL,
    is_stream         INTEGER NOT NULL,
    high_priority     INTEGER NOT NULL,
    from_format       TEXT,
    to_format         TEXT NOT NULL,
    request           TEXT NOT NULL,
    input_bytes       INTEGER NOT NULL,
    created_at_ms     INTEGER NOT NULL,
    attempt           INTEGER NOT NULL DEFAULT 0,
    failed_runs       INTEGER NOT NULL DEFAULT 0,
    crashes           INTEGER NOT NULL DEFAULT 0,
    waiting_reason    TEXT,
    waiting_since_ms  INTEGER,
    run_at_ms         INTEGER,
    started_at_ms     INTEGER,
    finished_at_ms    INTEGER,
    from_actual       TEXT,
    output_kind       TEXT,
    output_path       TEXT,
    output_bytes      INTEGER,
    products          TEXT,
    pages             INTEGER,
    warnings          TEXT,
    error_code        TEXT,
    reason            TEXT,
    error             TEXT
  ) STRICT;

  -- What a claim looks for, in its order: jobs that wait stand in an index of their own and cost a claim nothing.
  CREATE INDEX jobs_due ON jobs (lane, high_priority DESC, id) WHERE state = 'queued' AND run_at_ms IS NULL;
  CREATE INDEX jobs_waiting ON jobs (run_at_ms) WHERE state = 'queued' AND run_at_ms IS NOT NULL;
  CREATE INDEX jobs_open ON jobs (state, is_stream) WHERE finished_at_ms IS NULL;
  CREATE INDEX jobs_finished ON jobs (finished_at_ms) WHERE finished_at_ms IS NOT NULL;

  -- Apart from jobs, so that rows stay short: small inputs as bytes, larger ones as the name of a file in 'inputs'.
  CREATE TABLE inputs (
    job_id  TEXT PRIMARY KEY,
    bytes   BLOB,
    file    TEXT
  ) STRICT;

  -- Apart from jobs, because retention removes jobs and a counter must never fall.
  CREATE TABLE counters (
    name         TEXT NOT NULL,
    from_format  TEXT NOT NULL,
    to_format    TEXT NOT NULL,
    state        TEXT NOT NULL,
    value        INTEGER NOT NULL,
    PRIMARY KEY (name, from_format, to_format, state)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE facts (
    name   TEXT PRIMARY KEY,
    value  TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- How often the job came to an end: more than once after a retry by hand.
  ALTER TABLE jobs ADD COLUMN ends INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE jobs ADD COLUMN is_dead_letter INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE jobs ADD COLUMN idempotency_key TEXT;
  ALTER TABLE jobs ADD COLUMN request_hash TEXT;
  UPDATE jobs SET ends = 1 WHERE state IN ('succeeded', 'failed');

  CREATE UNIQUE INDEX jobs_by_key ON jobs (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX jobs_dead ON jobs (id) WHERE is_dead_letter = 1;

  CREATE TABLE notifications (
    id                  TEXT PRIMARY KEY,
    job_id              TEXT NOT NULL,
    target              TEXT NOT NULL,
    event               TEXT NOT NULL,
    body                TEXT NOT NULL,
    state               TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'dead', 'abandoned')),
    attempts            INTEGER NOT NULL DEFAULT 0,
    created_at_ms       INTEGER NOT NULL,
    next_attempt_at_ms  INTEGER,
    delivered_at_ms     INTEGER,
    last_status         INTEGER,
    last_error          TEXT
  ) STRICT;

  CREATE INDEX notifications_due ON notifications (next_attempt_at_ms, id, target)
    WHERE next_attempt_at_ms IS NOT NULL;
  CREATE INDEX notifications_open ON notifications (state) WHERE state IN ('pending', 'abandoned');
  CREATE INDEX notifications_by_job ON notifications (job_id);
  `,
  `
  -- What a run is about to put at a remote target, and what has arrived there (contract S3).
  CREATE TABLE uploads (
    job_id           TEXT NOT NULL,
    name             TEXT NOT NULL,
    size_bytes       INTEGER NOT NULL,
    sha256           TEXT NOT NULL,
    location         TEXT NOT NULL,
    delivered_at_ms  INTEGER,
    PRIMARY KEY (job_id, name)
  ) STRICT, WITHOUT ROWID;

  -- Since when a job's runs have found its target out of reach.
  ALTER TABLE jobs ADD COLUMN unreachable_since_ms INTEGER;
  CREATE INDEX jobs_waiting_for ON jobs (waiting_reason) WHERE state = 'queued' AND run_at_ms IS NOT NULL;

  -- Attempts before it was last sent again by hand: the rest counts for max_attempts.
  ALTER TABLE notifications ADD COLUMN earlier_attempts INTEGER NOT NULL DEFAULT 0;
  UPDATE notifications SET next_attempt_at_ms = created_at_ms WHERE state = 'abandoned';
  CREATE INDEX notifications_by_time ON notifications (created_at_ms, id);

  CREATE TABLE batches (
    id               TEXT PRIMARY KEY,
    total            INTEGER NOT NULL,
    notify           TEXT,
    created_at_ms    INTEGER NOT NULL,
    finished_at_ms   INTEGER,
    ends             INTEGER NOT NULL DEFAULT 0,
    idempotency_key  TEXT,
    request_hash     TEXT
  ) STRICT;
  CREATE UNIQUE INDEX batches_by_key ON batches (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX batches_finished ON batches (finished_at_ms) WHERE finished_at_ms IS NOT NULL;

  -- How an item ended outlives the record of its job; NULL while it goes on.
  CREATE TABLE batch_items (
    batch_id    TEXT NOT NULL,
    item_index  INTEGER NOT NULL,
    job_id      TEXT,
    is_replay   INTEGER NOT NULL,
    end_state   TEXT,
    error_code  TEXT,
    reason      TEXT,
    error       TEXT,
    PRIMARY KEY (batch_id, item_index)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX batch_items_by_job ON batch_items (job_id) WHERE job_id IS NOT NULL;
  CREATE INDEX batch_items_open ON batch_items (batch_id) WHERE end_state IS NULL;
  `,
];

/** Brings an open database to the schema of this program, each step in a transaction of its own. */
export function migrate(database: Database, path: string): void {
  const found = database.pragma('user_version', { simple: true }) as number;
  if (found > STEPS.length) {
    throw new StoreOpenError(
      'newer',
      `db_path ${path} was written by a newer version (schema ${found}, this program knows ${STEPS.length}): ` +
        'start the newer version, or restore the backup taken before the upgrade',
    );
  }
  for (let version = found; version < STEPS.length; version += 1) {
    database.transaction(() => {
      database.exec(STEPS[version] as string);
      database.pragma(`user_version = ${version + 1}`);
    })();
  }
}
