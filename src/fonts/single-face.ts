/** One face as a file of its own: libraries that take no collections, or that need not see the whole of one, get this. */
import { memberOffsets, readTables } from './sfnt-directory.js';
import { TRUETYPE_VERSION, writeSfnt } from './sfnt-writer.js';
import type { FontSource } from './source.js';

/** All that is needed to draw letters, vertical ones included. */
const TABLES = [
  ...(['CFF ', 'GSUB', 'OS/2', 'VORG', 'cmap', 'cvt ', 'fpgm', 'gasp', 'glyf', 'head', 'hhea', 'hmtx'] as const),
  ...(['loca', 'maxp', 'name', 'post', 'prep', 'vhea', 'vmtx'] as const),
] as const;
const OPENTYPE_VERSION = 0x4f54544f; // 'OTTO'

/** Undefined where `source` has no such member with outlines. */
export function singleFace(source: FontSource, member: number): Uint8Array | undefined {
  const offset = memberOffsets(source)[member];
  const tables = offset === undefined ? undefined : readTables(source, offset);
  const hasCff = tables?.range('cff ') !== undefined;
  if (tables === undefined || !(hasCff || tables.range('glyf'))) return undefined;
  const kept = TABLES.flatMap((tag) => {
    const bytes = tables.read(tag.toLowerCase());
    return bytes.length > 0 ? [{ tag, bytes }] : [];
  });
  return writeSfnt(hasCff ? OPENTYPE_VERSION : TRUETYPE_VERSION, kept);
}
