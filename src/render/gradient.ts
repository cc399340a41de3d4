/**
 * Gradients as the painters of rasters and SVG want them. Both know only gradients that go on for ever on both sides,
 * and both treat two circles of which neither holds the other in ways of their own.
 */
import { type Matrix, type Point, transformPoint } from '../display/geometry.js';
import type { AxialPaint, Color, GradientStop, RadialPaint } from '../display/paint.js';

export type GradientPaint = AxialPaint | RadialPaint;

/** The stops with an invisible one at each end that does not extend: what a painter repeats outside is then nothing. */
export function stopsWithEdges(paint: GradientPaint): readonly GradientStop[] {
  const stops = [...paint.stops];
  const first = stops[0];
  const last = stops.at(-1);
  if (!paint.extendStart && first !== undefined) stops.unshift({ offset: 0, color: first.color, alpha: 0 });
  if (!paint.extendEnd && last !== undefined) stops.push({ offset: 1, color: last.color, alpha: 0 });
  return stops;
}

export type GradientShape =
  /** Nothing is painted anywhere. */
  | { readonly kind: 'none' }
  /** One colour everywhere. */
  | { readonly kind: 'even'; readonly color: Color; readonly alpha: number }
  | { readonly kind: 'axial' }
  /** One circle strictly inside the other: one colour for each point of the plane, no edge but the ends. */
  | { readonly kind: 'nested' }
  /** The circles make a cone or a strip; points outside it are not painted. */
  | { readonly kind: 'cone' };

/** Which kind of picture a gradient makes; degenerate ones are sorted out here. */
export function gradientShape(paint: GradientPaint): GradientShape {
  const distance = Math.hypot(paint.end.x - paint.start.x, paint.end.y - paint.start.y);
  if (paint.kind === 'axial') return distance > 0 ? { kind: 'axial' } : collapsed(paint);
  const difference = Math.abs(paint.endRadius - paint.startRadius);
  if (distance === 0 && difference === 0) return { kind: 'none' };
  return { kind: distance < difference * 0.9999 ? 'nested' : 'cone' };
}

/** An axis without length is all end: its last colour where that extends. */
function collapsed(paint: AxialPaint): GradientShape {
  const last = paint.stops.at(-1);
  return paint.extendEnd && last !== undefined
    ? { kind: 'even', color: last.color, alpha: last.alpha }
    : { kind: 'none' };
}

/**
 * Pixels (RGBA, alpha not multiplied in) of a radial gradient over `width` × `height` device pixels; `toGradient` leads
 * from device pixels to the gradient's space. A point belongs to the largest circle parameter that is allowed for it.
 */
export function conePixels(paint: RadialPaint, toGradient: Matrix, width: number, height: number): Uint8Array {
  const pixels = new Uint8Array(width * height * 4);
  const parameterAt = circleParameter(paint);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const s = parameterAt(transformPoint(toGradient, x + 0.5, y + 0.5));
      if (s !== undefined) putColor(pixels, (y * width + x) * 4, paint.stops, Math.min(1, Math.max(0, s)));
    }
  }
  return pixels;
}

/**
 * For a point q: the largest s with |q − c(s)| = r(s) ≥ 0, where c and r run linearly from the start circle (s = 0) to
 * the end circle (s = 1), and s outside 0…1 only where that end extends.
 */
function circleParameter(paint: RadialPaint): (q: Point) => number | undefined {
  const cx = paint.end.x - paint.start.x;
  const cy = paint.end.y - paint.start.y;
  const r0 = paint.startRadius;
  const dr = paint.endRadius - r0;
  const a = cx * cx + cy * cy - dr * dr;
  const isAllowed = (s: number): boolean =>
    r0 + s * dr >= 0 && (s >= 0 || paint.extendStart) && (s <= 1 || paint.extendEnd);
  return (q) => {
    const x = q.x - paint.start.x;
    const y = q.y - paint.start.y;
    const b = x * cx + y * cy + r0 * dr;
    const c = x * x + y * y - r0 * r0;
    if (Math.abs(a) < 1e-9 * (cx * cx + cy * cy + dr * dr)) {
      const s = c / (2 * b);
      return b !== 0 && isAllowed(s) ? s : undefined;
    }
    const root = Math.sqrt(b * b - a * c);
    const high = Math.max((b + root) / a, (b - root) / a);
    if (isAllowed(high)) return high;
    const low = Math.min((b + root) / a, (b - root) / a);
    return isAllowed(low) ? low : undefined;
  };
}

function putColor(pixels: Uint8Array, at: number, stops: readonly GradientStop[], t: number): void {
  let upper = 0;
  let high = stops.length - 1;
  while (upper < high) {
    const middle = (upper + high) >> 1;
    if (stops[middle]!.offset < t) upper = middle + 1;
    else high = middle;
  }
  const b = stops[upper]!;
  const a = stops[Math.max(0, upper - 1)]!;
  const span = b.offset - a.offset;
  const part = span > 0 ? (t - a.offset) / span : 1;
  for (let i = 0; i < 3; i++) pixels[at + i] = Math.round(a.color[i]! + (b.color[i]! - a.color[i]!) * part);
  pixels[at + 3] = Math.round(255 * (a.alpha + (b.alpha - a.alpha) * part));
}
