/** Line attributes as written to the pen of the display list. */
import type { Paint, Stroke } from '../../display/paint.js';
import { mmToPoints } from '../../display/units.js';
import type { Style } from './draw-param.js';

/** 1 point. */
const DEFAULT_WIDTH_MM = 0.353;
/** Dashes shorter than this (all of a period, on the page) cannot be told from a line and cost without end. */
const MIN_DASH_PERIOD_MM = 0.02;

/** Width of the pen in the object's space; never negative. */
export function lineWidth(style: Style): number {
  return Math.abs(style.lineWidth ?? DEFAULT_WIDTH_MM);
}

/**
 * The pen of an object.
 *
 * @param scale what a length of the object's space measures on the page
 */
export function strokeOf(style: Style, paint: Paint, scale: number): Stroke {
  const dash = dashOf(style.dashPattern ?? [], scale);
  return {
    paint,
    widthMm: lineWidth(style),
    cap: capOf(style.cap),
    join: joinOf(style.join),
    miterLimit: miterRatio(style.miterLimit),
    dash,
    dashOffset: dash.length === 0 ? 0 : (style.dashOffset ?? 0),
  };
}

function capOf(cap: string | undefined): Stroke['cap'] {
  const name = cap?.toLowerCase();
  return name === 'round' || name === 'square' ? name : 'butt';
}

function joinOf(join: string | undefined): Stroke['join'] {
  const name = join?.toLowerCase();
  return name === 'round' || name === 'bevel' ? name : 'miter';
}

/** Producers write the ratio itself, or that ratio turned from points to millimetres (format reference 4.5). */
function miterRatio(limit: number | undefined): number {
  if (limit === undefined) return 10;
  const isConverted = Math.abs(limit - 3.528) < 0.01 || Math.abs(limit - 4.234) < 0.01 || limit < 1;
  const ratio = isConverted ? mmToPoints(limit) : limit;
  return Math.min(Math.max(ratio, 1), 100);
}

/** A pattern of dash and gap in pairs, or none where it describes a solid line. */
function dashOf(pattern: readonly number[], scale: number): readonly number[] {
  const period = pattern.reduce((sum, length) => sum + length, 0);
  if (pattern.some((length) => length < 0) || period * scale < MIN_DASH_PERIOD_MM) return [];
  return pattern.length % 2 === 0 ? pattern : [...pattern, ...pattern];
}
