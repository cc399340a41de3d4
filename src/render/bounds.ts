/** Where items are drawn, and which of their clips matter: most clips of real pages cut nothing off. */
import {
  type Box,
  CLOSE,
  growBox,
  intersectBoxes,
  LINE,
  type Matrix,
  MOVE,
  type Path,
  transformBox,
} from '../display/geometry.js';
import type { Clip, GlyphRun, Item, PathItem } from '../display/list.js';
import type { Stroke } from '../display/paint.js';
import { glyphBox, glyphMatrix, isRunVisible } from './glyph-run.js';

/** Millimetres that a box may stick out of a clip and still count as inside. */
const TOLERANCE_MM = 1e-4;

const boxesOfLists = new WeakMap<readonly Item[], { readonly box: Box | undefined }>();

/**
 * A box that holds everything the item paints, in the space of its group, its clips counted in; never too small, apart
 * from pens that a device widens. Undefined where nothing is painted.
 */
export function itemBounds(item: Item): Box | undefined {
  let box = unclippedBounds(item);
  for (const clip of item.clips) {
    const clipBox = clip.path.controlBounds();
    box = box && clipBox && intersectBoxes(box, clipBox);
  }
  return box;
}

/** The same for a list, in the list's own space. */
export function listBounds(items: readonly Item[]): Box | undefined {
  const known = boxesOfLists.get(items);
  if (known !== undefined) return known.box;
  const box = items.reduce<Box | undefined>((sum, item) => joinBoxes(sum, itemBounds(item)), undefined);
  boxesOfLists.set(items, { box });
  return box;
}

/**
 * The clips that cut something off the item; those that hold it whole are left out. Undefined where the clips leave
 * nothing of it, or nothing is painted.
 */
export function effectiveClips(item: Item): readonly Clip[] | undefined {
  const box = unclippedBounds(item);
  if (box === undefined) return undefined;
  const clips: Clip[] = [];
  for (const clip of item.clips) {
    const clipBox = clip.path.controlBounds();
    if (clipBox === undefined || intersectBoxes(box, clipBox) === undefined) return undefined;
    const rectangle = rectangleOf(clip.path);
    if (rectangle === undefined || !contains(rectangle, box)) clips.push(clip);
  }
  return clips;
}

/** The rectangle that the path is, sides parallel to the axes; undefined for any other path. */
export function rectangleOf(path: Path): Box | undefined {
  const { verbs, coordinates: c } = path;
  const corners = c.length / 2;
  if (corners !== 4 && corners !== 5) return undefined;
  for (let i = 0; i < verbs.length; i++) {
    const wanted = i === 0 ? MOVE : i < corners ? LINE : CLOSE;
    if (verbs[i] !== wanted) return undefined;
  }
  if (corners === 5 && (c[8] !== c[0] || c[9] !== c[1])) return undefined;
  const isAcrossFirst = c[1] === c[3] && c[2] === c[4] && c[5] === c[7] && c[6] === c[0];
  const isDownFirst = c[0] === c[2] && c[3] === c[5] && c[4] === c[6] && c[7] === c[1];
  return isAcrossFirst || isDownFirst ? path.controlBounds() : undefined;
}

function unclippedBounds(item: Item): Box | undefined {
  switch (item.kind) {
    case 'group': {
      const box = item.alpha > 0 ? listBounds(item.items) : undefined;
      return box && transformBox(item.matrix, box);
    }
    case 'image':
      return transformBox(item.matrix, { x: 0, y: 0, width: 1, height: 1 });
    case 'path':
      return pathBounds(item);
    case 'glyphs':
      return glyphRunBounds(item);
  }
}

function pathBounds(item: PathItem): Box | undefined {
  if (item.fill === undefined && item.stroke === undefined) return undefined;
  const box = item.path.controlBounds();
  if (box === undefined) return undefined;
  const reach = item.stroke === undefined ? 0 : strokeReach(item.stroke, isAxisParallel(item.path));
  return transformBox(item.matrix, growBox(box, reach));
}

/** How far a pen paints beyond the path's own points, in the pen's space. */
export function strokeReach(stroke: Stroke, isRightAngled: boolean): number {
  const half = stroke.widthMm / 2;
  if (isRightAngled) return half;
  const ofCap = stroke.cap === 'square' ? Math.SQRT2 : 1;
  const ofJoin = stroke.join === 'miter' ? Math.max(1, stroke.miterLimit) : 1;
  return half * Math.max(ofCap, ofJoin);
}

/** Only lines along the axes: then neither corners nor caps reach further than half the pen. */
function isAxisParallel(path: Path): boolean {
  const { verbs, coordinates: c } = path;
  let at = 0;
  for (const verb of verbs) {
    if (verb === CLOSE) continue;
    if (verb !== MOVE && verb !== LINE) return false;
    if (verb === LINE && c[at] !== c[at - 2] && c[at + 1] !== c[at - 1]) return false;
    at += 2;
  }
  return !verbs.includes(CLOSE) || rectangleOf(path) !== undefined;
}

function glyphRunBounds(run: GlyphRun): Box | undefined {
  if (!isRunVisible(run)) return undefined;
  let box: Box | undefined;
  for (let i = 0; i < run.glyphIds.length; i++) {
    const glyph = glyphBox(run.face, run.glyphIds[i]!);
    if (glyph !== undefined) box = joinBoxes(box, transformBox(glyphMatrix(run, i), glyph));
  }
  const reach = Math.max(run.stroke === undefined ? 0 : strokeReach(run.stroke, false), run.emboldenMm);
  return box && transformBox(run.matrix, growBox(box, reach));
}

/** The box around both; that of one where the other is undefined. */
export function joinBoxes(a: Box | undefined, b: Box | undefined): Box | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  const right = Math.max(a.x + a.width, b.x + b.width);
  const bottom = Math.max(a.y + a.height, b.y + b.height);
  return { x, y, width: right - x, height: bottom - y };
}

/** Whether `inner` lies in `outer`, but for less than anything shows. */
export function contains(outer: Box, inner: Box): boolean {
  return (
    inner.x >= outer.x - TOLERANCE_MM &&
    inner.y >= outer.y - TOLERANCE_MM &&
    inner.x + inner.width <= outer.x + outer.width + TOLERANCE_MM &&
    inner.y + inner.height <= outer.y + outer.height + TOLERANCE_MM
  );
}

/** The whole pixels that a box in device space touches, cut to `limit`; undefined where none is left. */
export function pixelBox(box: Box, limit: Box): Box | undefined {
  const cut = intersectBoxes(box, limit);
  if (cut === undefined) return undefined;
  const x = Math.floor(cut.x);
  const y = Math.floor(cut.y);
  const width = Math.min(limit.x + limit.width, Math.ceil(cut.x + cut.width)) - x;
  const height = Math.min(limit.y + limit.height, Math.ceil(cut.y + cut.height)) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : undefined;
}

/** Lengths of the sides of the unit square's image under `m`. */
export function axisScales(m: Matrix): { readonly x: number; readonly y: number } {
  return { x: Math.hypot(m[0], m[1]), y: Math.hypot(m[2], m[3]) };
}
