/**
 * Opens a face of whatever a font file turns out to be: TrueType, OpenType with CFF, a collection's member, bare CFF,
 * Type 1, WOFF. The content decides, never a name. What is missing is made up (spec 7.9); undefined where nothing can
 * be shown.
 */
import { i16, latin1, u16, u32 } from './bytes.js';
import { type CffTables, OP, readCff } from './cff.js';
import { readCharacterMap } from './cmap.js';
import { FontFace } from './font-face.js';
import { GlyfTable } from './glyf.js';
import {
  CffProgram,
  cffFontMatrix,
  type GlyphProgram,
  mapByGlyphNames,
  TrueTypeProgram,
  Type1GlyphProgram,
} from './glyph-program.js';
import { HorizontalMetrics } from './metrics.js';
import { type FontNames, readNames } from './names.js';
import { memberOffsets, readTables, type SfntTables } from './sfnt-directory.js';
import { bytesSource, type FontSource } from './source.js';
import { readStyle } from './style.js';
import { readType1 } from './type1-program.js';
import { unpackWoff } from './woff.js';

const MAX_TABLE_BYTES = 16 << 20;
const MAX_TYPE1_BYTES = 32 << 20;
const NO_TABLE = new Uint8Array(0);

export interface OpenOptions {
  /** Becomes the face's key. */
  readonly key: string;
  /** Member of a collection, from 0; by default the one that `fontName` names, else the first that opens. */
  readonly member?: number;
  readonly fontName?: string;
}

/** Opens a face, or gives undefined where the bytes are no font that can be shown. Never throws. */
export function openFace(source: FontSource, options: OpenOptions): FontFace | undefined {
  try {
    return openByContent(source, options);
  } catch {
    return undefined;
  }
}

function openByContent(source: FontSource, options: OpenOptions): FontFace | undefined {
  const start = source.read(0, 4);
  const tag = latin1(start);
  if (tag === 'ttcf') return openMember(source, options);
  if (tag === 'wOF2') return undefined;
  if (tag === 'wOFF') {
    const unpacked = unpackWoff(source.read(0, source.byteLength));
    return unpacked && openSfnt(bytesSource(unpacked), 0, options.key);
  }
  if (tag.startsWith('%!') || (start[0] === 0x80 && start[1] === 1)) return openType1(source, options.key);
  const isBareCff = start[0] === 1 && start[1] === 0 && start[2]! >= 4;
  return isBareCff ? openBareCff(source, options.key) : openSfnt(source, 0, options.key);
}

function openMember(source: FontSource, options: OpenOptions): FontFace | undefined {
  const offsets = memberOffsets(source);
  const first = options.member ?? memberNamed(source, offsets, options.fontName);
  const order = options.member === undefined ? [first, ...offsets.keys()] : [first];
  for (const member of order) {
    const offset = offsets[member];
    const face = offset === undefined ? undefined : openSfnt(source, offset, options.key);
    if (face !== undefined) return face;
  }
  return undefined;
}

function memberNamed(source: FontSource, offsets: readonly number[], fontName: string | undefined): number {
  const plain = (name: string): string =>
    name
      .toLowerCase()
      .replace(/^[a-z]{6}\+/, '')
      .replace(/[\s_-]/g, '');
  const wanted = plain(fontName ?? '');
  const found = offsets.findIndex((offset) => {
    const names = readNames(readTables(source, offset)?.read('name', MAX_TABLE_BYTES) ?? NO_TABLE);
    return [...names.fullNames, names.postScriptName, ...names.families].some((name) => plain(name) === wanted);
  });
  return Math.max(0, found);
}

function openSfnt(source: FontSource, offset: number, key: string): FontFace | undefined {
  const tables = readTables(source, offset);
  if (tables === undefined) return undefined;
  const hhea = tables.read('hhea', 36);
  const metrics = new HorizontalMetrics(tables.read('hmtx', MAX_TABLE_BYTES), hhea);
  const head = tables.read('head', 54);
  const opened = openTrueType(tables, head, metrics) ?? openCffTable(tables, head);
  if (opened === undefined || opened.program.glyphCount === 0) return undefined;
  const names = readNames(tables.read('name', MAX_TABLE_BYTES));
  const os2 = tables.read('os/2', 96);
  const map = readCharacterMap(tables.read('cmap', MAX_TABLE_BYTES));
  const [ascent, descent] = verticalExtent(hhea, os2, opened.unitsPerEm);
  return new FontFace({
    key,
    familyName: names.families[0] ?? names.postScriptName,
    postScriptName: names.postScriptName || (opened.cff?.postScriptName ?? ''),
    unitsPerEm: opened.unitsPerEm,
    ascent,
    descent,
    style: readStyle(os2, head, tables.read('post', 16), allNames(names)),
    program: opened.program,
    glyphForCodePoint: map && ((codePoint) => map.glyphFor(codePoint)),
    metrics,
  });
}

/** All names in one string, to guess the style from. */
export function allNames(names: FontNames): string {
  return [...names.families, ...names.fullNames, names.postScriptName, names.style].join(' ');
}

interface OpenedProgram {
  readonly program: GlyphProgram;
  readonly unitsPerEm: number;
  readonly cff?: CffTables;
}

function openTrueType(tables: SfntTables, head: Uint8Array, metrics: HorizontalMetrics): OpenedProgram | undefined {
  const glyf = tables.range('glyf');
  const loca = tables.read('loca', 4 * 65_537);
  if (glyf === undefined || loca.length < 4) return undefined;
  const declared = u16(tables.read('maxp', 6), 4);
  const isLong = isLongLoca(loca, declared, glyf.length, head.length >= 52 ? u16(head, 50) === 1 : undefined);
  const counted = Math.floor(loca.length / (isLong ? 4 : 2)) - 1;
  const glyphs = new GlyfTable(tables.source, glyf, loca, isLong, declared || counted);
  return {
    program: new TrueTypeProgram(glyphs, (glyphId) => (metrics.isEmpty ? undefined : metrics.bearing(glyphId))),
    unitsPerEm: declaredUnits(head) ?? guessedUnits(glyphs),
  };
}

/** The length of the table against the number of glyphs tells the format; where both fit, the offsets do. */
function isLongLoca(loca: Uint8Array, glyphCount: number, glyfLength: number, declared: boolean | undefined): boolean {
  const entries = glyphCount + 1;
  if (glyphCount > 0 && declared === true && loca.length === entries * 4) return true;
  if (glyphCount > 0 && declared === false && loca.length === entries * 2) return false;
  const long = soundEntries(loca, true, glyphCount, glyfLength);
  const short = soundEntries(loca, false, glyphCount, glyfLength);
  return long === short ? (declared ?? loca.length >= entries * 4) : long > short;
}

/** Share of neighbouring offsets that rise and stay in the table. */
function soundEntries(loca: Uint8Array, isLong: boolean, glyphCount: number, glyfLength: number): number {
  const size = isLong ? 4 : 2;
  const available = Math.floor(loca.length / size) - 1;
  const count = glyphCount > 0 ? Math.min(glyphCount, available) : available;
  let sound = 0;
  for (let i = 0; i < count; i++) {
    const start = isLong ? u32(loca, i * 4) : u16(loca, i * 2) * 2;
    const end = isLong ? u32(loca, i * 4 + 4) : u16(loca, i * 2 + 2) * 2;
    if (start <= end && end <= glyfLength) sound++;
  }
  return count <= 0 ? 0 : sound / (glyphCount || count);
}

function declaredUnits(head: Uint8Array): number | undefined {
  const units = head.length >= 20 ? u16(head, 18) : 0;
  return units >= 16 && units <= 16_384 ? units : undefined;
}

/** Without 'head': glyphs that reach beyond 1300 units were drawn on an em of 2048. */
function guessedUnits(glyphs: GlyfTable): number {
  for (let glyphId = 0; glyphId < Math.min(glyphs.glyphCount, 500); glyphId++) {
    const bytes = glyphs.bytes(glyphId);
    if (Math.max(i16(bytes, 6), i16(bytes, 8)) > 1300) return 2048;
  }
  return 1000;
}

function openCffTable(tables: SfntTables, head: Uint8Array): OpenedProgram | undefined {
  const window = tables.window('cff ');
  const cff = window && readCff(window);
  if (cff === undefined) return undefined;
  const declared = declaredUnits(head);
  const own = unitsOfMatrix(cff);
  const unitsPerEm = declared ?? own;
  // In an sfnt only the proportions of the matrix count, not its scale: 'head' gives that.
  return { program: new CffProgram(cff, declared === undefined ? unitsPerEm : own), unitsPerEm, cff };
}

function unitsOfMatrix(cff: CffTables): number {
  const matrix = cffFontMatrix(cff, 0);
  const units = matrix === undefined ? 1000 : Math.round(1 / Math.abs(matrix[3] || matrix[0]));
  return units >= 16 && units <= 65_536 ? units : 1000;
}

function openBareCff(source: FontSource, key: string): FontFace | undefined {
  const cff = readCff(source);
  if (cff === undefined) return undefined;
  const unitsPerEm = unitsOfMatrix(cff);
  const program = new CffProgram(cff, unitsPerEm);
  const map = cff.isCidKeyed ? undefined : mapByGlyphNames(program.glyphCount, (glyphId) => cff.glyphName(glyphId));
  const names = [cff.postScriptName, cff.string(OP.fullName), cff.string(OP.familyName), cff.string(OP.weight)].join(
    ' ',
  );
  const style = readStyle(NO_TABLE, NO_TABLE, NO_TABLE, names);
  return new FontFace({
    key,
    familyName: cff.string(OP.familyName) || cff.postScriptName,
    postScriptName: cff.postScriptName,
    unitsPerEm,
    ascent: unitsPerEm * 0.88,
    descent: unitsPerEm * -0.12,
    style: {
      ...style,
      isItalic: style.isItalic || (cff.number(OP.italicAngle) ?? 0) !== 0,
      isFixedPitch: style.isFixedPitch || (cff.number(OP.isFixedPitch) ?? 0) !== 0,
    },
    program,
    glyphForCodePoint: map && ((codePoint) => map.get(codePoint) ?? 0),
    metrics: undefined,
  });
}

function openType1(source: FontSource, key: string): FontFace | undefined {
  const type1 = readType1(source.read(0, MAX_TYPE1_BYTES));
  if (type1 === undefined) return undefined;
  const scale = Math.abs(type1.fontMatrix?.[3] ?? 0.001);
  const unitsPerEm = scale > 1e-5 && scale < 0.1 ? Math.round(1 / scale) : 1000;
  const program = new Type1GlyphProgram(type1, unitsPerEm);
  const map = mapByGlyphNames(program.glyphCount, (glyphId) => type1.glyphNames[glyphId]!);
  const names = [type1.fontName, type1.familyName, type1.fullName, type1.weight].join(' ');
  const style = readStyle(NO_TABLE, NO_TABLE, NO_TABLE, names);
  return new FontFace({
    key,
    familyName: type1.familyName || type1.fontName,
    postScriptName: type1.fontName,
    unitsPerEm,
    ascent: unitsPerEm * 0.8,
    descent: unitsPerEm * -0.2,
    style: {
      ...style,
      isItalic: style.isItalic || type1.italicAngle !== 0,
      isFixedPitch: style.isFixedPitch || type1.isFixedPitch,
    },
    program,
    glyphForCodePoint: (codePoint) => map?.get(codePoint) ?? type1.glyphOfCode.get(codePoint) ?? 0,
    metrics: undefined,
  });
}

/** Ascent and descent in font units; 0.88 and −0.12 of the em where the tables give nothing sensible. */
function verticalExtent(hhea: Uint8Array, os2: Uint8Array, unitsPerEm: number): [number, number] {
  const candidates: [number, number][] = [];
  if (hhea.length >= 8) candidates.push([i16(hhea, 4), i16(hhea, 6)]);
  if (os2.length >= 72) candidates.push([i16(os2, 68), i16(os2, 70)]);
  for (const [ascent, descent] of candidates) {
    const isSensible = ascent > 0 && ascent < 4 * unitsPerEm && Math.abs(descent) < 4 * unitsPerEm;
    if (isSensible) return [ascent, -Math.abs(descent)];
  }
  return [unitsPerEm * 0.88, unitsPerEm * -0.12];
}
