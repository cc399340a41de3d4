/**
 * The bytes of an upload on their way in: small ones stay in memory, larger ones go to a file as they come, and the
 * digest is made on the way, so that no upload is ever held whole (contract A5, X2).
 */
import { createHash, type Hash, hash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ByteSource, sourceOf, withFileSource } from '../convert/byte-source.js';
import { inRoot } from '../convert/workspace.js';
import { ServiceError } from '../errors.js';
import { INLINE_INPUT_BYTES } from '../jobs/input-files.js';
import type { SubmittedInput } from '../jobs/store.js';

const RETRY_AFTER_SECONDS = 60;

/** An upload that has arrived whole. Its owner calls `discard` in the end, also where the file was handed on. */
export interface Upload {
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly input: SubmittedInput;
  /** Runs `work` with the bytes open for reading. */
  read<Result>(work: (source: ByteSource) => Promise<Result>): Promise<Result>;
  discard(): Promise<void>;
}

/** Takes the bytes of one upload. It ends with `finish` or with `discard`. */
export class UploadWriter {
  readonly #folder: string;
  readonly #path: string;
  /** Of an upload in a file; the digest of one in memory is made when somebody asks for it. */
  #hash: Hash | undefined;
  #held: Buffer[] = [];
  #sizeBytes = 0;
  #handle: FileHandle | undefined;

  /** @param folder where a large upload becomes a file; swept when the service starts */
  constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, `upload-${randomUUID()}`);
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Takes the next bytes. The next call waits for the promise, where there is one.
   * @throws ServiceError `insufficient_storage` where the volume of temp_dir is full
   */
  write(bytes: Buffer): Promise<void> | undefined {
    this.#sizeBytes += bytes.length;
    if (this.#handle || this.#sizeBytes > INLINE_INPUT_BYTES) return this.#toFile(bytes);
    this.#held.push(bytes);
    return undefined;
  }

  async #toFile(bytes: Buffer): Promise<void> {
    const pieces = [...this.#held, bytes];
    this.#held = [];
    this.#hash ??= createHash('sha256');
    for (const piece of pieces) this.#hash.update(piece);
    try {
      this.#handle ??= await inRoot(this.#folder, () => open(this.#path, 'wx+', 0o600));
      for (const piece of pieces) await this.#handle.writeFile(piece);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
      throw new ServiceError('insufficient_storage', `No space left in temp_dir for the upload (${code})`, {
        cause: error,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
  }

  /** All bytes are there. */
  async finish(): Promise<Upload> {
    const sizeBytes = this.#sizeBytes;
    if (!this.#handle || !this.#hash) return uploadOf(Buffer.concat(this.#held, sizeBytes));
    const sha256 = this.#hash.digest('hex');
    await this.#close();
    const path = this.#path;
    return {
      sizeBytes,
      sha256,
      input: { path },
      read: (work) => withFileSource(path, work),
      discard: () => rm(path, { force: true }),
    };
  }

  /** The upload is not wanted. */
  async discard(): Promise<void> {
    this.#held = [];
    if (!this.#handle) return;
    await this.#close();
    await rm(this.#path, { force: true });
  }

  async #close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }
}

/** An upload that is there already, in memory. */
export function uploadOf(bytes: Buffer): Upload {
  return {
    sizeBytes: bytes.length,
    get sha256() {
      return hash('sha256', bytes, 'hex');
    },
    input: { bytes },
    read: (work) => work(sourceOf(bytes)),
    discard: async () => undefined,
  };
}
