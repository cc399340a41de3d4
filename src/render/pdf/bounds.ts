/** Boxes that surely hold what an item paints: for the BBox of forms and masks, where too large does no harm. */
import { type Box, growBox, type Matrix, transformBox } from '../../display/geometry.js';
import type { GlyphRun, Item, PathItem } from '../../display/list.js';
import type { Stroke } from '../../display/paint.js';

/** Ink beyond its em square that a glyph may have, in ems. */
const GLYPH_OVERHANG = 2;

const UNIT_SQUARE: Box = { x: 0, y: 0, width: 1, height: 1 };

/** The box of all items in the space that they stand in; undefined where there is nothing. */
export function boundsOfItems(items: readonly Item[]): Box | undefined {
  let bounds: Box | undefined;
  for (const item of items) {
    const box = boundsOfItem(item);
    if (box) bounds = bounds ? unite(bounds, box) : box;
  }
  return bounds;
}

export function boundsOfItem(item: Item): Box | undefined {
  switch (item.kind) {
    case 'group': {
      const inner = boundsOfItems(item.items);
      return inner && transformBox(item.matrix, inner);
    }
    case 'path':
      return boundsOfPath(item);
    case 'glyphs':
      return boundsOfRun(item);
    case 'image':
      return transformBox(item.matrix, UNIT_SQUARE);
  }
}

function boundsOfPath(item: PathItem): Box | undefined {
  const box = item.path.controlBounds();
  return box && transformBox(item.matrix, item.stroke ? growBox(box, penReach(item.stroke)) : box);
}

function boundsOfRun(run: GlyphRun): Box | undefined {
  if (run.glyphIds.length === 0) return undefined;
  const [a, b, c, d] = run.shape;
  let bounds: Box | undefined;
  for (let i = 0; i < run.glyphIds.length; i++) {
    const advanceEm = run.face.advance(run.glyphIds[i]!) / run.face.unitsPerEm;
    const em = { x: 0, y: -1, width: Math.max(1, advanceEm * (run.xScale?.[i] ?? 1)), height: 1 };
    const place: Matrix = [a * run.sizeMm, b * run.sizeMm, c * run.sizeMm, d * run.sizeMm, run.x[i]!, run.y[i]!];
    const box = transformBox(place, growBox(em, GLYPH_OVERHANG));
    bounds = bounds ? unite(bounds, box) : box;
  }
  const reach = run.emboldenMm + (run.stroke ? penReach(run.stroke) : 0);
  return bounds && transformBox(run.matrix, growBox(bounds, reach));
}

/** How far from its line a pen paints, mitres and square caps included; at least what a hairline needs. */
function penReach(stroke: Stroke): number {
  const half = stroke.widthMm / 2;
  return Math.max(1, half * Math.max(2, stroke.join === 'miter' ? stroke.miterLimit : 1));
}

function unite(a: Box, b: Box): Box {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  const right = Math.max(a.x + a.width, b.x + b.width);
  const bottom = Math.max(a.y + a.height, b.y + b.height);
  return { x, y, width: right - x, height: bottom - y };
}
