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

/** Milliseconds before it is tried again; what is there even then is swept at the next start. */
const TRY_AGAIN_MS = [1000, 10_000, 60_000, 600_000];

/**
 * Removes a folder with all that is in it. Never rejects: on a network volume a file that is still open keeps its folder
 * (`.nfs…`), which is no fault of the work that was done there; it is tried again until the file is closed.
 */
export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => removeLater(path, 0));
}

function removeLater(path: string, tries: number): void {
  const waitMs = TRY_AGAIN_MS[tries];
  if (waitMs === undefined) return;
  const again = async (): Promise<void> =>
    rm(path, { recursive: true, force: true }).catch(() => removeLater(path, tries + 1));
  setTimeout(() => void again(), waitMs).unref();
}

/**
 * Runs `make`, which makes something in the root; a second time where the root is gone: old temporary files are cleaned up
 * on many machines, and a root without work for days is one of them.
 */
export async function inRoot<T>(root: string, make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await makeFolder(root, 0o700);
    return make();
  }
}

/** Runs `work` with a directory of its own under `root`, and removes that directory however `work` ends. */
export async function inWorkspace<T>(root: string, name: string, work: (directory: string) => Promise<T>): Promise<T> {
  const directory = await inRoot(root, () => mkdtemp(join(root, `${name}-`)));
  try {
    return await work(directory);
  } finally {
    await removeFolder(directory);
  }
}
