/**
 * Folders with all that lead to them. Node's own `recursive` never returns where the parent is there and still answers
 * ENOENT (/proc does), so each step is taken once here.
 */
import { mkdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Makes `path` and what is missing above it, each with `mode`; what is there stays. Rejects with the system's error. */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (isThere(error)) return;
    if (!lacksParent(error, path)) throw error;
    await makeFolder(dirname(resolve(path)), mode);
    await mkdir(path, mode).catch((again: unknown) => {
      if (!isThere(again)) throw again;
    });
  }
}

/** The same for threads and programs that have nothing else to do. */
export function makeFolderSync(path: string, mode?: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (isThere(error)) return;
    if (!lacksParent(error, path)) throw error;
    makeFolderSync(dirname(resolve(path)), mode);
    try {
      mkdirSync(path, mode);
    } catch (again) {
      if (!isThere(again)) throw again;
    }
  }
}

const isThere = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST';

const lacksParent = (error: unknown, path: string): boolean =>
  (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(resolve(path)) !== resolve(path);
