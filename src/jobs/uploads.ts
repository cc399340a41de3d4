/**
 * The table `uploads`: what a job is about to put at its remote target, written before the first byte goes, and what has
 * arrived. By it a later run knows its own files from those of others, and sends none twice (contract S3, X3).
 */
import type { Statements } from './statements.js';

/** A file of a job as it is to lie, or lies, at the target. */
export interface PlannedUpload {
  readonly name: string;
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Address at the target. */
  readonly location: string;
}

export interface KnownUpload extends PlannedUpload {
  /** False where it may or may not have arrived. */
  readonly isDelivered: boolean;
}

interface UploadRow {
  readonly name: string;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly location: string;
  readonly delivered_at_ms: number | null;
}

export class UploadTable {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  of(jobId: string): KnownUpload[] {
    const rows = this.#statements.sql('SELECT * FROM uploads WHERE job_id = ? ORDER BY name').all(jobId) as UploadRow[];
    return rows.map((row) => ({
      name: row.name,
      sizeBytes: row.size_bytes,
      sha256: row.sha256,
      location: row.location,
      isDelivered: row.delivered_at_ms !== null,
    }));
  }

  /** What is known of a file with other content, or for another place, does not hold any more. */
  plan(jobId: string, files: readonly PlannedUpload[]): void {
    for (const { name, sizeBytes, sha256, location } of files) {
      this.#statements
        .sql(
          `INSERT INTO uploads (job_id, name, size_bytes, sha256, location)
           SELECT ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM jobs WHERE id = ?)
           ON CONFLICT (job_id, name) DO UPDATE SET size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
             location = excluded.location, delivered_at_ms = NULL
           WHERE size_bytes <> excluded.size_bytes OR sha256 <> excluded.sha256 OR location <> excluded.location`,
        )
        .run(jobId, name, sizeBytes, sha256, location, jobId);
    }
  }

  /** The file lies at the target, whole. */
  delivered(jobId: string, { name, sha256 }: PlannedUpload, nowMs: number): void {
    this.#statements
      .sql('UPDATE uploads SET delivered_at_ms = ? WHERE job_id = ? AND name = ? AND sha256 = ?')
      .run(nowMs, jobId, name, sha256);
  }

  /** Of a job that will never run again, or whose record goes. */
  removeOf(jobId: string): void {
    this.#statements.sql('DELETE FROM uploads WHERE job_id = ?').run(jobId);
  }
}
