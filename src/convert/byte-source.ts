/** Bytes that can be read at any place, wherever they lie. */
export interface ByteSource {
  readonly sizeBytes: number;
  /** The bytes from `at` on, fewer than `length` where the source ends before. */
  read(at: number, length: number): Promise<Buffer>;
}

/** A source of bytes that are in memory. */
export function sourceOf(bytes: Buffer): ByteSource {
  return { sizeBytes: bytes.length, read: async (at, length) => bytes.subarray(at, at + length) };
}
