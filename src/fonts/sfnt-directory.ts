/**
 * The table directory of an sfnt file and the members of a collection. Order, checksums and search fields are not
 * looked at; tags are compared without case ('os/2' occurs); ranges that leave the file are cut (spec 7.9).
 */
import { latin1, u16, u32 } from './bytes.js';
import { type FontSource, windowSource } from './source.js';

const MAX_MEMBERS = 256;
const MAX_TABLES = 512;

export interface TableRange {
  readonly offset: number;
  readonly length: number;
}

/** The tables of one face by lower-case tag. */
export class SfntTables {
  readonly source: FontSource;
  readonly #ranges: ReadonlyMap<string, TableRange>;

  constructor(source: FontSource, ranges: ReadonlyMap<string, TableRange>) {
    this.source = source;
    this.#ranges = ranges;
  }

  range(tag: string): TableRange | undefined {
    return this.#ranges.get(tag);
  }

  /** The first bytes of a table, empty where it is absent. */
  read(tag: string, maxLength = Infinity): Uint8Array {
    const range = this.#ranges.get(tag);
    if (range === undefined) return new Uint8Array(0);
    return this.source.read(range.offset, Math.min(range.length, maxLength));
  }

  window(tag: string): FontSource | undefined {
    const range = this.#ranges.get(tag);
    return range && windowSource(this.source, range.offset, range.length);
  }
}

/** Where the directories of the file's faces stand: one for a plain file, several for a collection. */
export function memberOffsets(source: FontSource): number[] {
  const header = source.read(0, 12);
  if (latin1(header, 0, 4) !== 'ttcf') return [0];
  const count = Math.min(u32(header, 8), MAX_MEMBERS);
  const table = source.read(12, count * 4);
  const offsets: number[] = [];
  for (let i = 0; i + 3 < table.length; i += 4) offsets.push(u32(table, i));
  return offsets;
}

/** Reads the directory at `offset`; undefined where no table of it lies in the file. */
export function readTables(source: FontSource, offset: number): SfntTables | undefined {
  const count = Math.min(u16(source.read(offset + 4, 2), 0), MAX_TABLES);
  const directory = source.read(offset + 12, count * 16);
  const ranges = new Map<string, TableRange>();
  for (let at = 0; at + 15 < directory.length; at += 16) {
    const tag = latin1(directory, at, at + 4)
      .toLowerCase()
      .replaceAll('\0', ' ');
    const start = u32(directory, at + 8);
    const length = Math.min(u32(directory, at + 12), source.byteLength - start);
    if (length > 0 && !ranges.has(tag)) ranges.set(tag, { offset: start, length });
  }
  return ranges.size > 0 ? new SfntTables(source, ranges) : undefined;
}
