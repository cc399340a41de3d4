/** Bytes that can be read at any place, wherever they lie. */
import { open } from 'node:fs/promises';

export interface ByteSource {
  readonly sizeBytes: number;
  /** The bytes from `at` on, fewer than `length` where the source ends before. */
  read(at: number, length: number): Promise<Buffer>;
}

/** A source of bytes that are in memory. */
export function sourceOf(bytes: Buffer): ByteSource {
  return { sizeBytes: bytes.length, read: async (at, length) => bytes.subarray(at, at + length) };
}

/** Runs `work` with a file open for reading. Errors of the disk come as they are. */
export async function withFileSource<Result>(
  path: string,
  work: (source: ByteSource) => Promise<Result>,
): Promise<Result> {
  const handle = await open(path, 'r');
  try {
    const { size: sizeBytes } = await handle.stat();
    return await work({
      sizeBytes,
      read: async (at, length) => {
        const wanted = Buffer.allocUnsafe(Math.max(0, Math.min(length, sizeBytes - at)));
        const { bytesRead } = await handle.read(wanted, 0, wanted.length, at);
        return wanted.subarray(0, bytesRead);
      },
    });
  } finally {
    await handle.close();
  }
}
