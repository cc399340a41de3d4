/** The private directory of one attempt: under temp_dir, mode 0700, gone when the attempt is over (contract R8). */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../make-folder.js';

/**
 * Where a daemon keeps the workspaces of its attempts. Daemons may share one temp_dir, but never a database: its path
 * tells them apart, so that none sweeps away what another is working on.
 */
export function workspaceRoot(tempDir: string, dbPath: string): string {
  const name = createHash('sha256').update(resolve(dbPath)).digest('hex').slice(0, 16);
  return join(tempDir, `work-${name}`);
}

/** Makes the root anew and empty. To be called by the process that holds the database, before any attempt runs. */
export async function sweepWorkspaces(root: string): Promise<void> {
  await rm(root, { recursive: true, force: true });
  await makeFolder(root, 0o700);
}

/** Runs `work` with a directory of its own under `root`, and removes that directory however `work` ends. */
export async function inWorkspace<T>(root: string, name: string, work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(root, `${name}-`));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}
