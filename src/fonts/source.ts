/** Bytes of a font file, read by range: a file of the system is never held whole. */
export interface FontSource {
  readonly byteLength: number;
  /** A view or copy of the range; shorter where the file ends before. */
  read(offset: number, length: number): Uint8Array;
}

export function bytesSource(bytes: Uint8Array): FontSource {
  return {
    byteLength: bytes.length,
    read: (offset, length) => bytes.subarray(Math.max(0, offset), Math.max(0, offset) + Math.max(0, length)),
  };
}
