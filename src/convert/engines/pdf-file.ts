/** A PDF on disk, read by range: small ones are held whole, large ones block by block. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { PdfError, type PdfSource } from '../../pdf/index.js';

const MAX_HELD_BYTES = 32 * 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;
const MAX_BLOCKS = 256;
const COPY_BYTES = 1024 * 1024;
/** The library counts bytes of a file in 32 bits, the last of them a sign. */
const MAX_FILE_BYTES = 2 ** 31 - 1;

export interface PdfFile extends PdfSource {
  /** All bytes in order. */
  blocks(): Iterable<Uint8Array>;
  close(): void;
}

/** @throws PdfError `too_large` for a file that the library cannot count, errors of the file system as they are */
export function openPdfFile(path: string): PdfFile {
  const descriptor = openSync(path, 'r');
  try {
    const byteLength = fstatSync(descriptor).size;
    if (byteLength > MAX_FILE_BYTES) {
      throw new PdfError('too_large', `The PDF has ${byteLength} bytes, at most ${MAX_FILE_BYTES} are read`);
    }
    return new FileOnDisk(descriptor, byteLength);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

class FileOnDisk implements PdfFile {
  readonly byteLength: number;
  readonly #descriptor: number;
  readonly #blockBytes: number;
  /** By number, the least recently used first. */
  readonly #blocks = new Map<number, Uint8Array>();

  constructor(descriptor: number, byteLength: number) {
    this.#descriptor = descriptor;
    this.byteLength = byteLength;
    this.#blockBytes = byteLength <= MAX_HELD_BYTES ? Math.max(1, byteLength) : BLOCK_BYTES;
  }

  read(offset: number, into: Uint8Array): boolean {
    for (let done = 0; done < into.length; ) {
      const at = offset + done;
      const number = Math.floor(at / this.#blockBytes);
      const block = this.#block(number);
      const start = at - number * this.#blockBytes;
      const part = block.subarray(start, start + into.length - done);
      if (part.length === 0) return false;
      into.set(part, done);
      done += part.length;
    }
    return true;
  }

  *blocks(): Iterable<Uint8Array> {
    for (let at = 0; at < this.byteLength; at += COPY_BYTES) {
      yield this.#readAt(at, Math.min(COPY_BYTES, this.byteLength - at));
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #block(number: number): Uint8Array {
    const at = number * this.#blockBytes;
    const block =
      this.#blocks.get(number) ?? this.#readAt(at, Math.min(this.#blockBytes, Math.max(0, this.byteLength - at)));
    this.#blocks.delete(number);
    this.#blocks.set(number, block);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(oldest!);
    return block;
  }

  #readAt(at: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const got = readSync(this.#descriptor, bytes, done, length - done, at + done);
      if (got === 0) break;
      done += got;
    }
    return bytes.subarray(0, done);
  }
}
