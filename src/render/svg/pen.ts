/** Strokes as attributes. */
import type { GlyphRun, PathItem } from '../../display/list.js';
import type { Paint, Stroke } from '../../display/paint.js';
import { attribute, decimalsFor, fixed } from './markup.js';

/** SVG has no thinnest line that all viewers know; this one is a pixel at 170 dpi and still seen at 96. */
const THINNEST_LINE_MM = 0.15;

/** A dash and gap that are shorter together look like a whole line and take viewers for ever to draw. */
const SHORTEST_DASH_MM = 0.02;

/**
 * Width, ends, corners and dashes of the item's stroke. `factor`: from the stroke's lengths to those of the element;
 * `scale`: millimetres of a unit of the element.
 */
export function penAttributes(item: PathItem | GlyphRun, stroke: Stroke, factor: number, scale: number): string {
  const decimals = decimalsFor(scale) + 1;
  const length = (value: number) => fixed(value * factor, decimals);
  // Round filled letters a line adds weight; widened, it would make every small text bold.
  const isWeight = item.kind === 'glyphs' && item.fill !== undefined;
  const thinnest = isWeight ? 0 : THINNEST_LINE_MM / (scale || 1);
  const period = stroke.dash.reduce((sum, dash) => sum + dash, 0) * factor * scale;
  const hasDashes = period >= SHORTEST_DASH_MM;
  return (
    attribute('stroke-width', fixed(Math.max(stroke.widthMm * factor, thinnest), decimals)) +
    (stroke.cap === 'butt' ? '' : attribute('stroke-linecap', stroke.cap)) +
    (stroke.join === 'miter'
      ? attribute('stroke-miterlimit', fixed(stroke.miterLimit, 4))
      : attribute('stroke-linejoin', stroke.join)) +
    (hasDashes ? attribute('stroke-dasharray', stroke.dash.map(length).join(' ')) : '') +
    (hasDashes && stroke.dashOffset !== 0 ? attribute('stroke-dashoffset', length(stroke.dashOffset)) : '')
  );
}

/** The line that makes a face bold that has no bold member. */
export function boldStroke(paint: Paint, widthMm: number): Stroke {
  return { paint, widthMm, cap: 'round', join: 'round', miterLimit: 10, dash: [], dashOffset: 0 };
}
