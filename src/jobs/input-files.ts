/**
 * The folder `inputs` beside the database, where inputs too large for it are kept. Synchronous: used from the store's
 * threads only, so that a volume that hangs takes no thread of the process's common pool with it.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolderSync } from '../make-folder.js';

/** Up to this size an input is a row of the database (contract A5). */
export const INLINE_INPUT_BYTES = 64 * 1024;

/** Written and flushed in pieces of this size, so that a slow disk can be told from one that hangs. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** A flush of more could take a slow disk longer than a call may be silent. */
const LARGEST_FLUSH_BYTES = 16 * 1024 * 1024;

export function inputsDirectory(databasePath: string): string {
  return join(dirname(databasePath), 'inputs');
}

/**
 * Takes an input into the folder; durable when it returns.
 * @param onAlive called after each piece
 * @returns the name of the file in the folder
 */
export function keepInput(
  directory: string,
  input: { readonly bytes: Uint8Array } | { readonly path: string },
  onAlive: () => void,
): string {
  makeFolderSync(directory, 0o700);
  const name = randomUUID();
  const path = join(directory, name);
  try {
    if ('bytes' in input) writeDurably(path, piecesOf(input.bytes), onAlive);
    else adopt(input.path, path, onAlive);
    syncDirectory(directory);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
  return name;
}

/** Moves a file in, or copies it where it lies on another volume, or is too large for one flush. */
function adopt(from: string, to: string, onAlive: () => void): void {
  if (statSync(from).size > LARGEST_FLUSH_BYTES || !isMoved(from, to)) {
    writeDurably(to, piecesOfFile(from), onAlive);
    rmSync(from, { force: true });
    return;
  }
  const descriptor = openSync(to, 'r+');
  try {
    fchmodSync(descriptor, 0o600);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** False where the places are on different volumes. */
function isMoved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    return false;
  }
}

function writeDurably(path: string, pieces: Iterable<Uint8Array>, onAlive: () => void): void {
  const descriptor = openSync(path, 'wx', 0o600);
  try {
    for (const piece of pieces) {
      for (let at = 0; at < piece.length; ) at += writeSync(descriptor, piece, at, piece.length - at);
      fdatasyncSync(descriptor);
      onAlive();
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function* piecesOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

function* piecesOfFile(path: string): Iterable<Uint8Array> {
  const descriptor = openSync(path, 'r');
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  try {
    for (;;) {
      const length = readSync(descriptor, buffer, 0, buffer.length, null);
      if (length === 0) return;
      yield buffer.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function removeInputs(directory: string, names: readonly string[]): void {
  for (const name of names) rmSync(join(directory, name), { force: true });
}

/** Removes what no job names: left by a crash between the file and its row. Returns how many there were. */
export function sweepInputs(directory: string, wanted: readonly string[]): number {
  const keep = new Set(wanted);
  const orphans = listDirectory(directory).filter((name) => !keep.has(name));
  removeInputs(directory, orphans);
  return orphans.length;
}

function listDirectory(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
