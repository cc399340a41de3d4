/** Which blocks of 256 characters a 'cmap' reaches into: half a kilobyte a face, so that a search opens few faces. */
import { u16, u32 } from './bytes.js';
import { memberOffsets, readTables } from './sfnt-directory.js';
import type { FontSource } from './source.js';

const PAGES = 0x1100;
const MAX_TABLE_BYTES = 16 << 20;
const MAX_RANGES = 200_000;

/** One bit a block of 256 code points; a set bit says that some of them may have a glyph. */
export class CoveredPages {
  readonly #bits = new Uint8Array(PAGES / 8);

  has(codePoint: number): boolean {
    const page = codePoint >> 8;
    return page < PAGES && (this.#bits[page >> 3]! & (1 << (page & 7))) !== 0;
  }

  add(first: number, last: number): void {
    for (let page = first >>> 8; page <= last >>> 8 && page < PAGES; page++) this.#bits[page >> 3]! |= 1 << (page & 7);
  }
}

/** The blocks of a face in a font file; none where it has no character map. */
export function readCoveredPages(source: FontSource, member: number): CoveredPages {
  const tables = readTables(source, memberOffsets(source)[member] ?? 0);
  return coveredPages(tables?.read('cmap', MAX_TABLE_BYTES) ?? new Uint8Array(0));
}

/** The blocks of all subtables of a 'cmap'; those that are not by Unicode count as reaching everywhere below U+10000. */
export function coveredPages(table: Uint8Array): CoveredPages {
  const pages = new CoveredPages();
  const count = Math.min(u16(table, 2), 64);
  for (let at = 4; at < 4 + count * 8; at += 8) {
    const platform = u16(table, at);
    const encoding = u16(table, at + 2);
    const offset = u32(table, at + 4);
    if (offset + 6 > table.length) continue;
    const isUnicode = platform === 0 || (platform === 3 && (encoding === 1 || encoding === 10));
    if (isUnicode) addSubtable(table.subarray(offset), pages);
    else if (platform === 3 && encoding !== 0) pages.add(0, 0xffff);
    else pages.add(0, 0xff);
    if (platform === 3 && encoding === 0) pages.add(0xf000, 0xf0ff);
  }
  return pages;
}

function addSubtable(bytes: Uint8Array, pages: CoveredPages): void {
  const format = u16(bytes, 0);
  if (format === 0 || format === 2) pages.add(0, 0xffff);
  else if (format === 4) {
    const size = u16(bytes, 6);
    for (let i = 0; i < size && 18 + size + i <= bytes.length; i += 2) {
      const end = u16(bytes, 14 + i);
      const start = u16(bytes, 16 + size + i);
      if (start !== 0xffff) pages.add(start, end);
    }
  } else if (format === 6) pages.add(u16(bytes, 6), u16(bytes, 6) + u16(bytes, 8));
  else if (format === 10) pages.add(u32(bytes, 12), Math.min(0x10ffff, u32(bytes, 12) + u32(bytes, 16)));
  else if (format === 12 || format === 13) {
    const count = Math.min(u32(bytes, 12), MAX_RANGES, Math.floor((bytes.length - 16) / 12));
    for (let i = 0; i < count; i++) pages.add(u32(bytes, 16 + i * 12), u32(bytes, 20 + i * 12));
  }
}
