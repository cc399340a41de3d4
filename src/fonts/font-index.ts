/**
 * What is known of the machine's faces without opening them: plain data, read from a few tables, that can be posted to
 * worker threads.
 */

import { readNames } from './names.js';
import { allNames } from './sfnt.js';
import { memberOffsets, readTables } from './sfnt-directory.js';
import type { FontSource } from './source.js';
import { readStyle } from './style.js';

const MAX_NAME_TABLE_BYTES = 1 << 16;

export interface FontRecord {
  readonly file: string;
  /** Member of a collection; 0 for a plain file. */
  readonly member: number;
  /** In all languages of the name table, English first. */
  readonly families: readonly string[];
  readonly fullNames: readonly string[];
  readonly postScriptName: string;
  /** 1…1000, 400 regular. */
  readonly weight: number;
  /** 1…9, 5 normal. */
  readonly width: number;
  readonly isItalic: boolean;
  readonly isSerif: boolean;
  readonly isFixedPitch: boolean;
  /** Whether OS/2 claims Han characters; only the character map knows. */
  readonly coversHan: boolean;
}

/** The faces in order of preference: extra folders first, then the system's, sorted by path. */
export interface FontIndex {
  readonly faces: readonly FontRecord[];
}

/** The records of all faces in a font file; none where it has no outlines that we draw. */
export function describeFaces(source: FontSource, file: string): FontRecord[] {
  const records: FontRecord[] = [];
  memberOffsets(source).forEach((offset, member) => {
    const tables = readTables(source, offset);
    if (tables === undefined || (tables.range('glyf') ?? tables.range('cff ')) === undefined) return;
    const names = readNames(tables.read('name', MAX_NAME_TABLE_BYTES));
    if (names.families.length === 0 && names.postScriptName === '') return;
    const style = readStyle(tables.read('os/2', 96), tables.read('head', 54), tables.read('post', 16), allNames(names));
    records.push({
      file,
      member,
      families: names.families,
      fullNames: names.fullNames,
      postScriptName: names.postScriptName,
      ...style,
    });
  });
  return records;
}
