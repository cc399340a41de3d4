/** Puts tables together as an sfnt file with the right directory and checksums. */
import { ByteWriter, u32 } from './bytes.js';

export interface SfntTable {
  readonly tag: string;
  readonly bytes: Uint8Array;
}

export const TRUETYPE_VERSION = 0x00010000;

/** The tables sorted by tag; 'head' gets the checksum adjustment of the whole file. */
export function writeSfnt(version: number, unsorted: readonly SfntTable[]): Uint8Array {
  const tables = [...unsorted].sort((a, b) => (a.tag < b.tag ? -1 : a.tag > b.tag ? 1 : 0));
  const writer = new ByteWriter();
  const log = Math.floor(Math.log2(Math.max(1, tables.length)));
  writer.u32(version);
  writer.u16(tables.length);
  writer.u16(16 << log);
  writer.u16(log);
  writer.u16((tables.length - (1 << log)) * 16);
  let offset = 12 + tables.length * 16;
  let headAt = -1;
  for (const { tag, bytes } of tables) {
    if (tag === 'head' && bytes.length >= 12) headAt = offset;
    writer.latin1(tag);
    writer.u32(checksum(bytes, tag === 'head'));
    writer.u32(offset);
    writer.u32(bytes.length);
    offset += (bytes.length + 3) & ~3;
  }
  for (const { bytes } of tables) {
    writer.bytes(bytes);
    writer.align(4);
  }
  const file = writer.take();
  if (headAt >= 0) {
    const view = new DataView(file.buffer);
    view.setUint32(headAt + 8, 0);
    view.setUint32(headAt + 8, (0xb1b0afba - checksum(file, false)) >>> 0);
  }
  return file;
}

/** Sum of the big-endian words, zeros after the end; of 'head' without its adjustment. */
function checksum(bytes: Uint8Array, isHead: boolean): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4) if (!isHead || at !== 8) sum = (sum + u32(bytes, at)) >>> 0;
  return sum;
}
