/**
 * TrueType outlines: 'loca' and 'glyf', simple and composite glyphs, quadratic curves. A glyph that cannot be read is
 * empty. Instructions are not run.
 */
import { Path } from '../display/geometry.js';
import { i8, i16, u16, u32 } from './bytes.js';
import type { TableRange } from './sfnt-directory.js';
import type { FontSource } from './source.js';

const MAX_COMPOSITE_DEPTH = 8;
const MAX_COMPONENTS = 256;
/** Of one glyph; the largest drawings seen have a tenth of it. */
const MAX_POINTS = 20_000;

const ON_CURVE = 0x01;
const X_SHORT = 0x02;
const Y_SHORT = 0x04;
const REPEAT = 0x08;
const X_SAME_OR_POSITIVE = 0x10;
const Y_SAME_OR_POSITIVE = 0x20;

/** Flags of a component. */
export const COMPONENT = {
  wordArguments: 0x0001,
  argumentsAreOffsets: 0x0002,
  scale: 0x0008,
  more: 0x0020,
  scaleXY: 0x0040,
  matrix: 0x0080,
  instructions: 0x0100,
  useMyMetrics: 0x0200,
  scaledOffset: 0x0800,
} as const;

/** Points of a glyph in font units; `ends` has the last point of each contour. */
interface GlyphPoints {
  readonly x: number[];
  readonly y: number[];
  readonly onCurve: boolean[];
  readonly ends: number[];
}

export interface Component {
  readonly flags: number;
  readonly glyphId: number;
  readonly first: number;
  readonly second: number;
  /** [a b c d] as in x' = a·x + c·y, y' = b·x + d·y. */
  readonly matrix: readonly [number, number, number, number];
  /** Where the flags and the glyph id of this component stand, and where the next one starts. */
  readonly at: number;
  readonly next: number;
}

interface Budget {
  components: number;
  points: number;
}

interface Assembled {
  readonly points: GlyphPoints;
  /** The glyph whose metrics rule, and its xMin by its header. */
  readonly metricsGlyphId: number;
  readonly xMin: number;
}

/** The glyphs of one 'glyf' table. */
export class GlyfTable {
  readonly glyphCount: number;
  readonly #source: FontSource;
  readonly #glyf: TableRange;
  readonly #loca: Uint8Array;
  readonly #isLong: boolean;

  constructor(source: FontSource, glyf: TableRange, loca: Uint8Array, isLong: boolean, glyphCount: number) {
    this.#source = source;
    this.#glyf = glyf;
    this.#loca = loca;
    this.#isLong = isLong;
    this.glyphCount = Math.min(glyphCount, Math.floor(loca.length / (isLong ? 4 : 2)));
  }

  /** The description of a glyph as it stands in the file; empty for a blank one. */
  bytes(glyphId: number): Uint8Array {
    if (glyphId < 0 || glyphId >= this.glyphCount) return new Uint8Array(0);
    const start = this.#offset(glyphId);
    const entries = this.#loca.length / (this.#isLong ? 4 : 2);
    // Without its last entry (cut tables) the final glyph runs to the end of the table.
    const end = glyphId + 1 < entries ? this.#offset(glyphId + 1) : this.#glyf.length;
    if (end <= start + 10) return new Uint8Array(0);
    return this.#source.read(this.#glyf.offset + start, Math.min(end - start, 1 << 20));
  }

  /**
   * The outline, moved so that its left edge stands at the side bearing: every rasteriser does this, whatever the
   * header's flags say. `bearing` gives a glyph's side bearing, or undefined where the font has none.
   */
  outline(glyphId: number, bearing: (glyphId: number) => number | undefined): Path {
    const path = new Path();
    const assembled = this.#assemble(glyphId, 0, { components: 0, points: 0 });
    if (assembled === undefined) return path;
    const side = bearing(assembled.metricsGlyphId);
    const shift = side === undefined ? 0 : side - assembled.xMin;
    tracePoints(assembled.points, shift, path);
    return path;
  }

  #offset(index: number): number {
    return this.#isLong ? u32(this.#loca, index * 4) : u16(this.#loca, index * 2) * 2;
  }

  #assemble(glyphId: number, depth: number, budget: Budget): Assembled | undefined {
    const bytes = this.bytes(glyphId);
    if (bytes.length < 12 || depth > MAX_COMPOSITE_DEPTH) return undefined;
    if (i16(bytes, 0) >= 0) {
      const points = readSimpleGlyph(bytes);
      if (points === undefined) return undefined;
      budget.points += points.x.length;
      return budget.points > MAX_POINTS ? undefined : { points, metricsGlyphId: glyphId, xMin: i16(bytes, 2) };
    }
    const whole: GlyphPoints = { x: [], y: [], onCurve: [], ends: [] };
    let metrics = { metricsGlyphId: glyphId, xMin: i16(bytes, 2) };
    for (const component of readComponents(bytes)) {
      if (++budget.components > MAX_COMPONENTS) return undefined;
      const part = this.#assemble(component.glyphId, depth + 1, budget);
      if (part === undefined) continue;
      if (component.flags & COMPONENT.useMyMetrics) metrics = part;
      appendComponent(whole, part.points, component);
    }
    return { points: whole, metricsGlyphId: metrics.metricsGlyphId, xMin: metrics.xMin };
  }
}

/** Where the parts of a simple glyph's description stand. */
export interface SimpleLayout {
  readonly contourCount: number;
  readonly pointCount: number;
  /** First byte after the contour ends, i.e. of the instructions' length. */
  readonly instructionsAt: number;
  readonly flagsAt: number;
  readonly xAt: number;
  readonly yAt: number;
  /** First byte after the last coordinate. */
  readonly end: number;
}

/** Finds the parts of a simple glyph; undefined where its data end early or its contours make no sense. */
export function layoutSimpleGlyph(bytes: Uint8Array): SimpleLayout | undefined {
  const contourCount = i16(bytes, 0);
  const instructionsAt = 10 + contourCount * 2;
  if (instructionsAt + 2 > bytes.length) return undefined;
  let pointCount = 0;
  for (let at = 10; at < instructionsAt; at += 2) {
    const next = u16(bytes, at) + 1;
    // A contour without a point is an error to the usual rasteriser: such a glyph is blank everywhere.
    if (next <= pointCount) return undefined;
    pointCount = next;
  }
  const flagsAt = instructionsAt + 2 + u16(bytes, instructionsAt);
  let at = flagsAt;
  let xLength = 0;
  let yLength = 0;
  for (let i = 0; i < pointCount; ) {
    if (at >= bytes.length) return undefined;
    const flag = bytes[at++]!;
    const repeat = flag & REPEAT ? (bytes[at++] ?? 0) + 1 : 1;
    if (i + repeat > pointCount) return undefined;
    xLength += repeat * (flag & X_SHORT ? 1 : flag & X_SAME_OR_POSITIVE ? 0 : 2);
    yLength += repeat * (flag & Y_SHORT ? 1 : flag & Y_SAME_OR_POSITIVE ? 0 : 2);
    i += repeat;
  }
  const end = at + xLength + yLength;
  if (end > bytes.length || pointCount > MAX_POINTS) return undefined;
  return { contourCount, pointCount, instructionsAt, flagsAt, xAt: at, yAt: at + xLength, end };
}

/** Points of a simple glyph; undefined where it is broken. */
function readSimpleGlyph(bytes: Uint8Array): GlyphPoints | undefined {
  const layout = layoutSimpleGlyph(bytes);
  if (layout === undefined) return undefined;
  const points: GlyphPoints = { x: [], y: [], onCurve: [], ends: [] };
  for (let i = 0; i < layout.contourCount; i++) points.ends.push(u16(bytes, 10 + i * 2));
  let { flagsAt, xAt, yAt } = layout;
  let x = 0;
  let y = 0;
  while (points.x.length < layout.pointCount) {
    const flag = bytes[flagsAt++]!;
    let repeat = flag & REPEAT ? bytes[flagsAt++]! + 1 : 1;
    while (repeat-- > 0 && points.x.length < layout.pointCount) {
      if (flag & X_SHORT) x += flag & X_SAME_OR_POSITIVE ? bytes[xAt++]! : -bytes[xAt++]!;
      else if (!(flag & X_SAME_OR_POSITIVE)) {
        x += i16(bytes, xAt);
        xAt += 2;
      }
      if (flag & Y_SHORT) y += flag & Y_SAME_OR_POSITIVE ? bytes[yAt++]! : -bytes[yAt++]!;
      else if (!(flag & Y_SAME_OR_POSITIVE)) {
        y += i16(bytes, yAt);
        yAt += 2;
      }
      points.x.push(x);
      points.y.push(y);
      points.onCurve.push((flag & ON_CURVE) !== 0);
    }
  }
  return points;
}

/** The components of a composite glyph, up to the end of its data. */
export function readComponents(bytes: Uint8Array): Component[] {
  const components: Component[] = [];
  let at = 10;
  let flags: number = COMPONENT.more;
  while (flags & COMPONENT.more && at + 6 <= bytes.length && components.length < MAX_COMPONENTS) {
    const component = readComponent(bytes, at);
    if (component.next > bytes.length) break;
    components.push(component);
    flags = component.flags;
    at = component.next;
  }
  return components;
}

function readComponent(bytes: Uint8Array, at: number): Component {
  const flags = u16(bytes, at);
  const isWord = (flags & COMPONENT.wordArguments) !== 0;
  const isOffset = (flags & COMPONENT.argumentsAreOffsets) !== 0;
  const argument = (i: number): number => {
    if (isWord) return isOffset ? i16(bytes, at + 4 + i * 2) : u16(bytes, at + 4 + i * 2);
    return isOffset ? i8(bytes, at + 4 + i) : (bytes[at + 4 + i] ?? 0);
  };
  let next = at + (isWord ? 8 : 6);
  const scale = (): number => {
    next += 2;
    return i16(bytes, next - 2) / 16384;
  };
  let matrix: Component['matrix'] = [1, 0, 0, 1];
  if (flags & COMPONENT.scale) {
    const both = scale();
    matrix = [both, 0, 0, both];
  } else if (flags & COMPONENT.scaleXY) matrix = [scale(), 0, 0, scale()];
  else if (flags & COMPONENT.matrix) matrix = [scale(), scale(), scale(), scale()];
  return { flags, glyphId: u16(bytes, at + 2), first: argument(0), second: argument(1), matrix, at, next };
}

function appendComponent(whole: GlyphPoints, part: GlyphPoints, component: Component): void {
  const [a, b, c, d] = component.matrix;
  let dx = component.first;
  let dy = component.second;
  if (!(component.flags & COMPONENT.argumentsAreOffsets)) {
    // The arguments are points that have to coincide: one of what stands already, one of the new part.
    const partX = part.x[dy] ?? 0;
    const partY = part.y[dy] ?? 0;
    const x = (whole.x[dx] ?? 0) - (a * partX + c * partY);
    dy = (whole.y[dx] ?? 0) - (b * partX + d * partY);
    dx = x;
  } else if (component.flags & COMPONENT.scaledOffset) {
    dx *= Math.hypot(a, b);
    dy *= Math.hypot(c, d);
  }
  const before = whole.x.length;
  for (let i = 0; i < part.x.length; i++) {
    whole.x.push(a * part.x[i]! + c * part.y[i]! + dx);
    whole.y.push(b * part.x[i]! + d * part.y[i]! + dy);
    whole.onCurve.push(part.onCurve[i]!);
  }
  for (const end of part.ends) whole.ends.push(before + end);
}

/** Draws the contours: two control points in a row have a point of the curve halfway between them. */
function tracePoints(points: GlyphPoints, shift: number, path: Path): void {
  let first = 0;
  for (const end of points.ends) {
    if (end > first) traceContour(points, first, end, shift, path);
    first = end + 1;
  }
}

function traceContour(points: GlyphPoints, first: number, last: number, shift: number, path: Path): void {
  const { x, y, onCurve } = points;
  const count = last - first + 1;
  let start = first;
  while (start <= last && !onCurve[start]) start++;
  const hasStart = start <= last;
  if (!hasStart) start = first;
  const startX = (hasStart ? x[start]! : (x[first]! + x[last]!) / 2) + shift;
  const startY = hasStart ? y[start]! : (y[first]! + y[last]!) / 2;
  path.moveTo(startX, startY);
  let controlX = 0;
  let controlY = 0;
  let hasControl = false;
  for (let i = hasStart ? 1 : 0; i < count; i++) {
    const index = first + ((start - first + i) % count);
    const px = x[index]! + shift;
    const py = y[index]!;
    if (onCurve[index]) {
      if (hasControl) path.quadTo(controlX, controlY, px, py);
      else path.lineTo(px, py);
      hasControl = false;
      continue;
    }
    if (hasControl) path.quadTo(controlX, controlY, (controlX + px) / 2, (controlY + py) / 2);
    controlX = px;
    controlY = py;
    hasControl = true;
  }
  if (hasControl) path.quadTo(controlX, controlY, startX, startY);
  path.close();
}
