/** Bytes of a font file, read by range: a file of the system is never held whole. */
export interface FontSource {
  readonly byteLength: number;
  /** A view or copy of the range; shorter where the file ends before. Never throws. */
  read(offset: number, length: number): Uint8Array;
}

export function bytesSource(bytes: Uint8Array): FontSource {
  return {
    byteLength: bytes.length,
    read: (offset, length) => bytes.subarray(Math.max(0, offset), Math.max(0, offset) + Math.max(0, length)),
  };
}

/** A part of `source` as a source of its own; a range beyond the end is cut. */
export function windowSource(source: FontSource, start: number, length: number): FontSource {
  const byteLength = Math.max(0, Math.min(length, source.byteLength - start));
  return {
    byteLength,
    read(offset, size) {
      const from = Math.max(0, offset);
      return source.read(start + from, Math.max(0, Math.min(size, byteLength - from)));
    },
  };
}
