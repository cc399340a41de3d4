/**
 * Removes products that were written long ago from output_dir, at start and again and again (contract C2, `output_retention`).
 * Goes by the age of the files, because the records of their jobs may be gone before; follows no link.
 */
import { lstat, opendir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { RepeatedWork } from './repeated-work.js';
import { pauseBetweenLooksMs } from './retention.js';

/** After so many entries others have their turn. */
const ENTRIES_A_STEP = 200;
const PAUSE_MS = 50;
/** Deeper folders are none of ours. */
const MAX_DEPTH = 64;

export interface OutputRetentionOptions {
  readonly outputDir: string;
  readonly retentionMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Whether the volume is to be left alone now, because it hangs. */
  readonly mustWait: () => boolean;
  /** After a pass that removed something. */
  readonly onRemoved: (files: number, bytes: number) => void;
  readonly onError: (error: unknown) => void;
}

/** Cleans at start and from then on. */
export function startOutputRetention(options: OutputRetentionOptions): RepeatedWork {
  const work = new RepeatedWork({
    everyMs: pauseBetweenLooksMs(options.retentionMs),
    onError: options.onError,
    pass: (isClosed) => new Pass(options, isClosed).run(),
  });
  work.start();
  return work;
}

class Pass {
  readonly #options: OutputRetentionOptions;
  readonly #isClosed: () => boolean;
  #entries = 0;
  #removed = { files: 0, bytes: 0 };

  constructor(options: OutputRetentionOptions, isClosed: () => boolean) {
    this.#options = options;
    this.#isClosed = isClosed;
  }

  async run(): Promise<void> {
    const { outputDir, retentionMs, now, onRemoved } = this.#options;
    await this.#clean(outputDir, now() - retentionMs, 0);
    if (this.#removed.files > 0) onRemoved(this.#removed.files, this.#removed.bytes);
  }

  /** One folder that cannot be read (`lost+found`) keeps no other from its turn. */
  async #clean(folder: string, beforeMs: number, depth: number): Promise<boolean> {
    try {
      return await this.#cleanFolder(folder, beforeMs, depth);
    } catch (error) {
      const isGone = depth > 0 && (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isGone) this.#options.onError(error);
      return false;
    }
  }

  /** Removes what is older than `beforeMs`, and folders that it has emptied. Whether the folder is empty now. */
  async #cleanFolder(folder: string, beforeMs: number, depth: number): Promise<boolean> {
    let left = 0;
    let removed = 0;
    for await (const entry of await opendir(folder)) {
      if (await this.#mustStop()) return false;
      const path = join(folder, entry.name);
      const isGone = entry.isDirectory()
        ? depth < MAX_DEPTH && (await this.#clean(path, beforeMs, depth + 1)) && (await this.#removeFolder(path))
        : entry.isFile() && (await this.#removeFile(path, beforeMs));
      if (isGone) removed += 1;
      else left += 1;
    }
    return left === 0 && removed > 0;
  }

  async #mustStop(): Promise<boolean> {
    this.#entries += 1;
    if (this.#entries % ENTRIES_A_STEP === 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    return this.#isClosed() || this.#options.mustWait();
  }

  async #removeFile(path: string, beforeMs: number): Promise<boolean> {
    try {
      const { mtimeMs, size } = await lstat(path);
      if (mtimeMs >= beforeMs) return false;
      await unlink(path);
      this.#removed.files += 1;
      this.#removed.bytes += size;
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
      this.#options.onError(error);
      return false;
    }
  }

  /** A job may have put something there meanwhile. */
  async #removeFolder(path: string): Promise<boolean> {
    return rmdir(path).then(
      () => true,
      () => false,
    );
  }
}
