/** A product on its way to a target: read in pieces, hashed on the way, stopped where it is not what was made (X3). */
import { createHash, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { ServiceError } from '../../errors.js';
import type { SinkFile } from '../sink.js';
import type { OutgoingFile } from './client.js';

const CHUNK_BYTES = 128 * 1024;

export class HashedFile implements OutgoingFile {
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly #file: SinkFile;
  readonly #onChunk: (isLast: boolean) => void;
  #hash: Hash = createHash('sha256');
  #read = 0;
  #failure: unknown;

  /** @param onChunk called whenever the network has taken a piece; `isLast` of what `next` was asked for */
  constructor(file: SinkFile, onChunk: (isLast: boolean) => void) {
    this.sizeBytes = file.sizeBytes;
    this.sha256 = file.sha256;
    this.#file = file;
    this.#onChunk = onChunk;
  }

  next(lengthBytes = this.sizeBytes - this.#read): Readable {
    return Readable.from(this.#pieces(lengthBytes), { objectMode: false, highWaterMark: CHUNK_BYTES });
  }

  get failure(): unknown {
    return this.#failure;
  }

  restart(): void {
    this.#hash = createHash('sha256');
    this.#read = 0;
  }

  async *#pieces(lengthBytes: number): AsyncGenerator<Buffer> {
    const handle = await open(this.#file.path, 'r').catch((error: unknown) => this.#fail(error));
    // Whoever reads throws its own failure in where a piece is handed over: that is none of the file.
    let isReading = true;
    try {
      const end = this.#read + lengthBytes;
      while (this.#read < end) {
        const length = Math.min(CHUNK_BYTES, end - this.#read);
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, this.#read);
        if (bytesRead === 0) throw this.#changed();
        const piece = buffer.subarray(0, bytesRead);
        this.#hash.update(piece);
        this.#read += bytesRead;
        if (this.#read === this.sizeBytes) this.#checkWhole((await handle.stat()).size);
        this.#onChunk(this.#read === end);
        isReading = false;
        yield piece;
        isReading = true;
      }
      if (this.sizeBytes === 0) this.#checkWhole((await handle.stat()).size);
    } catch (error) {
      if (isReading) this.#fail(error);
      throw error;
    } finally {
      await handle.close();
    }
  }

  #fail(error: unknown): never {
    this.#failure = error;
    throw error;
  }

  #checkWhole(sizeOnDisk: number): void {
    if (sizeOnDisk !== this.sizeBytes || this.#hash.digest('hex') !== this.sha256) throw this.#changed();
  }

  #changed(): ServiceError {
    return new ServiceError('checksum_mismatch', `${this.#file.name} changed between its making and its sending`, {
      reason: 'internal',
    });
  }
}

/** Lower-case hexadecimal digest and length of a stream, which is given up where it turns out longer than `maxBytes`. */
export async function digestOf(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly sha256: string; readonly sizeBytes: number }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const piece of pieces) {
    hash.update(piece);
    sizeBytes += piece.length;
    if (sizeBytes > maxBytes) break;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}
