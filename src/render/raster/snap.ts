/**
 * Moves what is parallel to the axes onto whole pixels, as readers of PDF do: lines of tables come out even and sharp,
 * cells and strips of pictures meet without a seam.
 */
import {
  type Box,
  CLOSE,
  LINE,
  type Matrix,
  MOVE,
  Path,
  transformBox,
  transformPoint,
} from '../../display/geometry.js';
import type { Stroke } from '../../display/paint.js';
import { axisScales } from '../bounds.js';

/** Pixels; a line a little off the axis by so much is still taken for parallel. */
const TOLERANCE_PX = 0.02;
/** Wider lines show no difference. */
const WIDEST_PX = 4.5;

/** The matrix of a picture with its edges at whole pixels, at least one apart; as it was where they are not parallel. */
export function snapPicture(m: Matrix): Matrix {
  const [a, b, c, d, e, f] = m;
  const upright = isUpright(m);
  if (!upright && !isTurned(m)) return m;
  const across = snapSpan(e, upright ? a : c);
  const down = snapSpan(f, upright ? d : b);
  return upright
    ? [across.length, 0, 0, down.length, across.start, down.start]
    : [0, down.length, across.length, 0, across.start, down.start];
}

function snapSpan(start: number, length: number): { readonly start: number; readonly length: number } {
  const from = Math.round(start);
  const to = Math.round(start + length);
  return to === from ? { start: Math.floor(start), length: length < 0 ? -1 : 1 } : { start: from, length: to - from };
}

/** A rectangle of whole pixels for `box` under `m`; undefined where the sides are not parallel to the axes. */
export function snapRectangle(box: Box, m: Matrix): Box | undefined {
  if (!isUpright(m) && !isTurned(m)) return undefined;
  const from = transformPoint(m, box.x, box.y);
  const to = transformPoint(m, box.x + box.width, box.y + box.height);
  const across = snapSpan(from.x, to.x - from.x);
  const down = snapSpan(from.y, to.y - from.y);
  return { x: across.start, y: down.start, width: across.length, height: down.length };
}

/** All pixels that `box` under `m` touches; undefined where its sides are not parallel to the axes. */
export function coveringPixels(box: Box, m: Matrix): Box | undefined {
  if (!isUpright(m) && !isTurned(m)) return undefined;
  const device = transformBox(m, box);
  const x = Math.floor(device.x + TOLERANCE_PX);
  const y = Math.floor(device.y + TOLERANCE_PX);
  const width = Math.ceil(device.x + device.width - TOLERANCE_PX) - x;
  const height = Math.ceil(device.y + device.height - TOLERANCE_PX) - y;
  return { x, y, width: Math.max(1, width), height: Math.max(1, height) };
}

/**
 * The line in device space with its edges between pixels, and its width in whole pixels; undefined where it is wide,
 * has a part that is not parallel to the axes, or would vanish because it is shorter than a pixel.
 */
export function snapLine(path: Path, m: Matrix, stroke: Stroke): { path: Path; widthPx: number } | undefined {
  const scales = axisScales(m);
  const width = stroke.widthMm * scales.x;
  const isRound = Math.abs(width - stroke.widthMm * scales.y) < 0.1;
  if (!isRound || width > WIDEST_PX || !(isUpright(m) || isTurned(m))) return undefined;
  const widthPx = Math.max(1, Math.round(width));
  const snap = (value: number) => (widthPx % 2 === 1 ? Math.floor(value) + 0.5 : Math.round(value));
  const snapped = new Path();
  let last = { x: 0, y: 0 };
  let at = 0;
  for (const verb of path.verbs) {
    if (verb === CLOSE) {
      snapped.close();
      continue;
    }
    if (verb !== MOVE && verb !== LINE) return undefined;
    const point = transformPoint(m, path.coordinates[at]!, path.coordinates[at + 1]!);
    at += 2;
    if (verb === MOVE) snapped.moveTo(snap(point.x), snap(point.y));
    else if (Math.min(Math.abs(point.x - last.x), Math.abs(point.y - last.y)) > TOLERANCE_PX) return undefined;
    else snapped.lineTo(snap(point.x), snap(point.y));
    last = point;
  }
  return losesFigure(path, snapped) ? undefined : { path: snapped, widthPx };
}

/** Whether a figure that had some length has none after it was moved. Both paths have the same verbs. */
function losesFigure(path: Path, moved: Path): boolean {
  const { verbs, coordinates: before } = path;
  const after = moved.coordinates;
  let [hadLength, hasLength] = [false, true];
  let at = 0;
  for (const verb of verbs) {
    if (verb === CLOSE) continue;
    if (verb === MOVE) {
      if (hadLength && !hasLength) return true;
      hadLength = hasLength = false;
    } else {
      hadLength ||= before[at] !== before[at - 2] || before[at + 1] !== before[at - 1];
      hasLength ||= after[at] !== after[at - 2] || after[at + 1] !== after[at - 1];
    }
    at += 2;
  }
  return hadLength && !hasLength;
}

function isUpright([, b, c]: Matrix): boolean {
  return Math.max(Math.abs(b), Math.abs(c)) < 1e-3;
}

function isTurned([a, , , d]: Matrix): boolean {
  return Math.max(Math.abs(a), Math.abs(d)) < 1e-3;
}
