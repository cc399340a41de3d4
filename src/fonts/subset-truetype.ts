/** The used glyphs of a TrueType face as a small sfnt: new numbers, no instructions, broken glyphs made blank. */
import type { Face } from '../display/face.js';
import { ByteWriter, i16 } from './bytes.js';
import { COMPONENT, layoutSimpleGlyph, readComponents } from './glyf.js';
import type { TrueTypeProgram } from './glyph-program.js';
import { type SfntTable, TRUETYPE_VERSION, writeSfnt } from './sfnt-writer.js';

const MAX_GLYPHS = 65_535;
const HEADER_BYTES = 10;

interface Limits {
  points: number;
  contours: number;
  components: number;
  depth: number;
}

/** The sfnt whose glyph i is `glyphIds[i]`; the parts of composite glyphs come after them. */
export function subsetToTrueType(face: Face, program: TrueTypeProgram, glyphIds: readonly number[]): Uint8Array {
  const closure = new Closure(glyphIds);
  const glyf = new ByteWriter();
  const offsets: number[] = [];
  const limits: Limits = { points: 0, contours: 0, components: 0, depth: 0 };
  // The list grows while it is walked: parts of composites are added at its end.
  for (let i = 0; i < closure.glyphIds.length; i++) {
    offsets.push(glyf.length);
    writeGlyph(glyf, program.glyphs.bytes(closure.glyphIds[i]!), closure, limits);
    glyf.align(4);
  }
  offsets.push(glyf.length);
  // An empty table is an error to some readers.
  if (glyf.length === 0) glyf.u32(0);
  const glyfBytes = glyf.take();
  const isLong = glyf.length > 0x1fffe;
  const tables = [
    { tag: 'glyf', bytes: glyfBytes },
    { tag: 'loca', bytes: locaTable(offsets, isLong) },
    { tag: 'head', bytes: headTable(face, isLong, glyfBytes, offsets) },
    ...metricsTables(face, program, closure.glyphIds),
    { tag: 'maxp', bytes: maxpTable(closure.glyphIds.length, limits) },
  ];
  return writeSfnt(TRUETYPE_VERSION, tables);
}

/** New numbers for glyphs: the listed ones first, others as they are met. */
class Closure {
  readonly glyphIds: number[];
  readonly #numbers = new Map<number, number>();

  constructor(glyphIds: readonly number[]) {
    this.glyphIds = [...glyphIds];
    glyphIds.forEach((glyphId, i) => {
      if (!this.#numbers.has(glyphId)) this.#numbers.set(glyphId, i);
    });
  }

  /** Undefined where the font is full. */
  numberOf(glyphId: number): number | undefined {
    const known = this.#numbers.get(glyphId);
    if (known !== undefined || this.glyphIds.length >= MAX_GLYPHS) return known;
    this.#numbers.set(glyphId, this.glyphIds.length);
    this.glyphIds.push(glyphId);
    return this.glyphIds.length - 1;
  }
}

function writeGlyph(glyf: ByteWriter, bytes: Uint8Array, closure: Closure, limits: Limits): void {
  if (bytes.length < HEADER_BYTES + 2) return;
  if (i16(bytes, 0) < 0) {
    writeComposite(glyf, bytes, closure, limits);
    return;
  }
  const layout = layoutSimpleGlyph(bytes);
  if (layout === undefined || layout.contourCount === 0) return;
  limits.points = Math.max(limits.points, layout.pointCount);
  limits.contours = Math.max(limits.contours, layout.contourCount);
  glyf.bytes(bytes.subarray(0, layout.instructionsAt));
  glyf.u16(0);
  glyf.bytes(bytes.subarray(layout.flagsAt, layout.end));
}

function writeComposite(glyf: ByteWriter, bytes: Uint8Array, closure: Closure, limits: Limits): void {
  const components = readComponents(bytes).map((component) => ({
    component,
    number: closure.numberOf(component.glyphId),
  }));
  const kept = components.filter(({ number }) => number !== undefined);
  if (kept.length === 0) return;
  limits.components = Math.max(limits.components, kept.length);
  limits.depth = 8;
  glyf.bytes(bytes.subarray(0, HEADER_BYTES));
  kept.forEach(({ component, number }, i) => {
    const flags = component.flags & ~(COMPONENT.instructions | COMPONENT.more);
    glyf.u16(i + 1 < kept.length ? flags | COMPONENT.more : flags);
    glyf.u16(number!);
    glyf.bytes(bytes.subarray(component.at + 4, component.next));
  });
}

function locaTable(offsets: readonly number[], isLong: boolean): Uint8Array {
  const loca = new ByteWriter();
  for (const offset of offsets) {
    if (isLong) loca.u32(offset);
    else loca.u16(offset / 2);
  }
  return loca.take();
}

function headTable(face: Face, isLong: boolean, glyf: Uint8Array, offsets: readonly number[]): Uint8Array {
  const box = [0, 0, 0, 0];
  for (let i = 0; i + 1 < offsets.length; i++) {
    if (offsets[i + 1]! === offsets[i]!) continue;
    for (const side of [0, 1]) box[side] = Math.min(box[side]!, i16(glyf, offsets[i]! + 2 + side * 2));
    for (const side of [2, 3]) box[side] = Math.max(box[side]!, i16(glyf, offsets[i]! + 2 + side * 2));
  }
  const head = new ByteWriter();
  head.u32(TRUETYPE_VERSION);
  head.u32(TRUETYPE_VERSION);
  head.u32(0);
  head.u32(0x5f0f3cf5);
  head.u16(0);
  head.u16(face.unitsPerEm);
  // No dates: the same glyphs give the same bytes.
  for (let i = 0; i < 4; i++) head.u32(0);
  for (const side of box) head.u16(side & 0xffff);
  head.u16((face.isBold ? 1 : 0) | (face.isItalic ? 2 : 0));
  head.u16(8);
  head.u16(2);
  head.u16(isLong ? 1 : 0);
  head.u16(0);
  return head.take();
}

/** 'hhea' and 'hmtx': the widths are those that the face tells everybody. */
function metricsTables(face: Face, program: TrueTypeProgram, glyphIds: readonly number[]): SfntTable[] {
  const hmtx = new ByteWriter();
  let widest = 0;
  for (const glyphId of glyphIds) {
    const advance = Math.max(0, Math.min(0xffff, Math.round(face.advance(glyphId))));
    widest = Math.max(widest, advance);
    hmtx.u16(advance);
    hmtx.u16(program.bearing(glyphId) & 0xffff);
  }
  const hhea = new ByteWriter();
  hhea.u32(TRUETYPE_VERSION);
  hhea.u16(Math.round(face.ascent) & 0xffff);
  hhea.u16(Math.round(face.descent) & 0xffff);
  hhea.u16(0);
  hhea.u16(widest);
  for (let i = 0; i < 3; i++) hhea.u16(0);
  hhea.u16(1);
  for (let i = 0; i < 7; i++) hhea.u16(0);
  hhea.u16(glyphIds.length);
  return [
    { tag: 'hhea', bytes: hhea.take() },
    { tag: 'hmtx', bytes: hmtx.take() },
  ];
}

function maxpTable(glyphCount: number, limits: Limits): Uint8Array {
  const maxp = new ByteWriter();
  maxp.u32(TRUETYPE_VERSION);
  maxp.u16(glyphCount);
  maxp.u16(limits.points);
  maxp.u16(limits.contours);
  // Of composites only bounds are known; readers use them to reserve room.
  maxp.u16(limits.components > 0 ? Math.min(0xffff, limits.points * limits.components) : 0);
  maxp.u16(limits.components > 0 ? Math.min(0xffff, limits.contours * limits.components) : 0);
  maxp.u16(2);
  for (let i = 0; i < 6; i++) maxp.u16(0);
  maxp.u16(limits.components);
  maxp.u16(limits.depth);
  return maxp.take();
}
