/** Lines on a raster: as the item's matrix makes them, but nowhere thinner than a pixel. */
import {
  CLOSE,
  COORDINATES_OF_VERB,
  IDENTITY,
  invert,
  type Matrix,
  MOVE,
  meanScale,
  multiply,
  Path,
  transformBox,
} from '../../display/geometry.js';
import type { Stroke } from '../../display/paint.js';
import { snapLine } from './snap.js';

/** A path and the pen that draws it. */
export interface DeviceLine {
  readonly path: Path;
  /** Space of that path, in which the pen is round → device. */
  readonly matrix: Matrix;
  /** In that space. */
  readonly width: number;
  /** Factor from the stroke's dash lengths to that space. */
  readonly dashScale: number;
}

/** A dash and gap that are shorter together, in pixels, look like a whole line and take for ever to draw. */
const SHORTEST_DASH_PX = 0.5;
/** A line of more dashes goes far beyond any page; the raster library would draw them one by one. */
const MOST_DASHES = 50_000;

/** Dash lengths in the line's space; none for a solid line. */
export function dashesOf(line: DeviceLine, stroke: Stroke): number[] {
  const dashes = stroke.dash.map((length) => length * line.dashScale);
  const period = dashes.reduce((sum, length) => sum + length, 0);
  const isFine = period * meanScale(line.matrix) < SHORTEST_DASH_PX;
  const isEndless = line.path.verbs.length > MOST_DASHES || polygonLength(line.path) > MOST_DASHES * period;
  return isFine || isEndless ? [] : dashes;
}

/** What a segment costs at least, in pixels. */
const SEGMENT_PIXELS = 800;

/** About how many pixels a line over `path` paints, or could have painted in the time that its segments take. */
export function strokedPixels(path: Path, { matrix, width }: DeviceLine): number {
  const scale = meanScale(matrix);
  const pixels = polygonLength(path) * scale * Math.max(1, width * scale);
  return Math.max(pixels, SEGMENT_PIXELS * path.verbs.length);
}

/** Pixels; a line that reaches further leaves every page so far behind that its curves don't matter. */
const FARTHEST_PX = 1_000_000;

/** The path to hand to the raster library: curves that would take it seconds, for their size, as straight lines. */
export function strokable({ path, matrix }: DeviceLine, cap: Stroke['cap']): Path {
  const bounds = path.controlBounds();
  const box = bounds && transformBox(matrix, bounds);
  if (box !== undefined && Math.max(box.width, box.height) > FARTHEST_PX) return straightened(path);
  return cap === 'butt' ? path : withDots(path, DOT_PX / meanScale(matrix));
}

/** Length of what stands for a line without any: too short to be seen, long enough for single precision. */
const DOT_PX = 0.01;
const DOT_PRECISION = 1e-6;

/** The raster library leaves out figures of one point, whose caps are dots: they become lines of next to no length. */
function withDots(path: Path, length: number): Path {
  const { verbs, coordinates: c } = path;
  const dotted = new Path();
  let hasDots = false;
  let at = 0;
  for (let from = 0; from < verbs.length; ) {
    let end = from + 1;
    while (end < verbs.length && verbs[end] !== MOVE) end++;
    const figure = verbs.slice(from, end);
    const next = figure.reduce((sum, verb) => sum + COORDINATES_OF_VERB[verb as 0], at);
    const [x, y] = [c[at]!, c[at + 1]!];
    if (figure.length > 1 && isOnePoint(c, at, next)) {
      const reach = Math.max(length, Math.abs(x) * DOT_PRECISION);
      dotted.moveTo(x, y);
      dotted.lineTo(x + reach, y);
      hasDots = true;
    } else {
      for (const verb of figure) dotted.verbs.push(verb);
      for (let i = at; i < next; i++) dotted.coordinates.push(c[i]!);
    }
    at = next;
    from = end;
  }
  return hasDots ? dotted : path;
}

/** Whether all points from index `from` up to `to` are one. */
function isOnePoint(coordinates: readonly number[], from: number, to: number): boolean {
  for (let i = from + 2; i < to; i += 2) {
    if (coordinates[i] !== coordinates[from] || coordinates[i + 1] !== coordinates[from + 1]) return false;
  }
  return true;
}

function straightened(path: Path): Path {
  const straight = new Path();
  let at = 0;
  for (const verb of path.verbs) {
    at += COORDINATES_OF_VERB[verb as 0];
    if (verb === CLOSE) straight.close();
    else if (verb === MOVE) straight.moveTo(path.coordinates[at - 2]!, path.coordinates[at - 1]!);
    else straight.lineTo(path.coordinates[at - 2]!, path.coordinates[at - 1]!);
  }
  return straight;
}

/** Length of the polygon through all points of a path, which is no shorter than the path. */
function polygonLength({ coordinates: c }: Path): number {
  let length = 0;
  for (let i = 2; i + 1 < c.length; i += 2) length += Math.hypot(c[i]! - c[i - 2]!, c[i + 1]! - c[i - 1]!);
  return length;
}

/** A line that shows wherever it goes, sharp where it follows the axes. */
export function visibleLine(path: Path, toDevice: Matrix, stroke: Stroke): DeviceLine {
  const snapped = snapLine(path, toDevice, stroke);
  if (snapped !== undefined) {
    return { path: snapped.path, matrix: IDENTITY, width: snapped.widthPx, dashScale: meanScale(toDevice) };
  }
  const { matrix, width, dashScale, fromPath } = devicePen(toDevice, stroke);
  return { path: fromPath === undefined ? path : path.transformed(fromPath), matrix, width, dashScale };
}

/** A line exactly as wide as the stroke says, which may be less than a pixel. */
export function trueLine(path: Path, toDevice: Matrix, stroke: Stroke): DeviceLine {
  return { path, matrix: toDevice, width: stroke.widthMm, dashScale: 1 };
}

interface Pen {
  /** The space that the pen is round in → device. Never flat. */
  readonly matrix: Matrix;
  /** Space of the path → that space; undefined where they are one. */
  readonly fromPath?: Matrix;
  /** In the pen's space. */
  readonly width: number;
  /** Factor for dash lengths, so that they keep their size on the page where the pen was widened. */
  readonly dashScale: number;
}

/**
 * The pen for `stroke` under `toDevice`. An uneven matrix makes an elliptical pen; each of its axes is widened to one
 * pixel where it is thinner, which leaves `toDevice` itself where both are wide enough.
 */
export function devicePen(toDevice: Matrix, stroke: Stroke): Pen {
  const [major, minor] = axes(toDevice);
  if (minor.scale * stroke.widthMm >= 1) return { matrix: toDevice, width: stroke.widthMm, dashScale: 1 };
  const width = stroke.widthMm > 0 ? stroke.widthMm : 1;
  const least = 1 / width;
  const wasScale = meanScale(toDevice);
  // With no width at all, only the directions of the axes count.
  const majorScale = stroke.widthMm > 0 ? Math.max(major.scale, least) : 1;
  const minorScale = stroke.widthMm > 0 ? Math.max(minor.scale, least) : 1;
  // U·Σ·Vᵀ with the raised scales.
  const matrix: Matrix = [
    major.ux * majorScale * major.vx + minor.ux * minorScale * minor.vx,
    major.uy * majorScale * major.vx + minor.uy * minorScale * minor.vx,
    major.ux * majorScale * major.vy + minor.ux * minorScale * minor.vy,
    major.uy * majorScale * major.vy + minor.uy * minorScale * minor.vy,
    toDevice[4],
    toDevice[5],
  ];
  const toPen = invert(matrix);
  const dashScale = wasScale / Math.sqrt(majorScale * minorScale);
  return { matrix, width, dashScale, ...(toPen && { fromPath: multiply(toPen, toDevice) }) };
}

interface Axis {
  readonly scale: number;
  /** Direction in the item's space. */
  readonly vx: number;
  readonly vy: number;
  /** Where that direction points on the device. */
  readonly ux: number;
  readonly uy: number;
}

/** The two perpendicular directions that stay perpendicular under `m` (its singular vectors), the longer first. */
function axes(m: Matrix): readonly [Axis, Axis] {
  const [a, b, c, d] = m;
  const angle = 0.5 * Math.atan2(2 * (a * c + b * d), a * a + b * b - c * c - d * d);
  const vx = Math.cos(angle);
  const vy = Math.sin(angle);
  const x = a * vx + c * vy;
  const y = b * vx + d * vy;
  const scale = Math.hypot(x, y);
  const ux = scale > 0 ? x / scale : 1;
  const uy = scale > 0 ? y / scale : 0;
  const isMirrored = a * d - b * c < 0;
  const minorScale = Math.hypot(-a * vy + c * vx, -b * vy + d * vx);
  return [
    { scale, vx, vy, ux, uy },
    isMirrored
      ? { scale: minorScale, vx: -vy, vy: vx, ux: uy, uy: -ux }
      : { scale: minorScale, vx: -vy, vy: vx, ux: -uy, uy: ux },
  ];
}
