/** WOFF 1 → the sfnt inside. WOFF 2 is not read: no OFD writer embeds it. */
import { inflateSync } from '../zlib.js';
import { latin1, u16, u32 } from './bytes.js';
import { type SfntTable, writeSfnt } from './sfnt-writer.js';

const MAX_FONT_BYTES = 64 << 20;

/** The sfnt of a WOFF file; undefined where its tables cannot be inflated or are too large. */
export function unpackWoff(file: Uint8Array): Uint8Array | undefined {
  const tables: SfntTable[] = [];
  const count = Math.min(u16(file, 12), 512);
  let total = 0;
  for (let at = 44; at < 44 + count * 20 && at + 20 <= file.length; at += 20) {
    const start = u32(file, at + 4);
    const packed = file.subarray(start, start + u32(file, at + 8));
    const length = u32(file, at + 12);
    total += length;
    if (total > MAX_FONT_BYTES) return undefined;
    const bytes = packed.length < length ? inflateTable(packed, length) : packed;
    if (bytes !== undefined) tables.push({ tag: latin1(file, at, at + 4), bytes });
  }
  return tables.length > 0 ? writeSfnt(u32(file, 4), tables) : undefined;
}

function inflateTable(packed: Uint8Array, length: number): Uint8Array | undefined {
  try {
    return inflateSync(packed, { maxOutputLength: length });
  } catch {
    return undefined;
  }
}
