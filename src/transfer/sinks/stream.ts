/** Sink `stream`: the one product of a synchronous conversion, handed to the request that waits for it. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { ServiceError } from '../../errors.js';
import { type Delivery, type Sink, type SinkFile, type SinkKind, type StreamedProduct, totalBytes } from '../sink.js';

export const streamSink: SinkKind = {
  kind: 'stream',
  check(destination) {
    if (destination.dir) {
      throw new ServiceError('invalid_request', 'output.dir belongs to output.kind "dir"; a stream is written nowhere');
    }
  },
  open: () => new StreamSink(),
};

/** Keeps the file open, so that it can be sent when the workspace is gone already. */
export class StreamSink implements Sink {
  #product: StreamedProduct | undefined;

  async deliver(files: readonly SinkFile[], signal: AbortSignal): Promise<Delivery> {
    const [file] = files;
    if (!file || files.length > 1) {
      throw new ServiceError('internal_error', `A stream carries one product, not ${files.length}`);
    }
    const handle = await open(file.path, 'r');
    try {
      signal.throwIfAborted();
      await verify(file, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
    const { name, sizeBytes, sha256 } = file;
    this.#product = { name, sizeBytes, sha256, body: handle.createReadStream({ start: 0 }) };
    return {
      output: { kind: 'stream', path: name, sizeBytes: totalBytes(files) },
      receipts: [{ name, sizeBytes, sha256, location: '', reused: false }],
    };
  }

  /** The delivered product, once. The handle is closed with its body. */
  take(): StreamedProduct {
    const product = this.#product;
    if (!product) throw new ServiceError('internal_error', 'Nothing was delivered to the stream');
    this.#product = undefined;
    return product;
  }

  /** Closes what nobody took. */
  discard(): void {
    this.#product?.body.destroy();
    this.#product = undefined;
  }
}

/** The bytes that will be sent are those that were made (contract X3). */
async function verify(file: SinkFile, handle: FileHandle): Promise<void> {
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream({ start: 0, autoClose: false })) hash.update(chunk as Buffer);
  if (hash.digest('hex') === file.sha256) return;
  throw new ServiceError('checksum_mismatch', `${file.name} changed between its making and its sending`, {
    reason: 'internal',
  });
}
