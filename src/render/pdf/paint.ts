/** Colours, gradients and tilings as PDF's colour operators, shading and tiling patterns, and soft masks. */
import { type Box, growBox, invert, type Matrix, meanScale, multiply } from '../../display/geometry.js';
import type { GradientStop, MeshColor, MeshPaint, Paint, TilingPaint } from '../../display/paint.js';
import { type GradientPaint, gradientShape } from '../gradient.js';
import { ContentStream } from './content.js';
import type { Entries } from './file.js';
import { type Channels, meshShading, type ShadingSpace } from './mesh.js';
import { formatFactor, roundFactor } from './number.js';
import type { Reference } from './pdf-lib.js';
import type { Scene } from './scene.js';

/** Paints that are shadings in PDF. */
type ShadedPaint = GradientPaint | MeshPaint;

/** What a painting operator colours: insides, or lines. */
export type PaintRole = 'fill' | 'stroke';

/** Part of a gradient that stands for a hard edge at its very start or end. */
const EDGE = 1e-4;

/** Millimetres that a form's box is larger than what it holds, which may be lines of no width. */
const BOX_MARGIN_MM = 1;

/**
 * The paint as PDF can take it: a gradient whose ends fall together is a colour or nothing at all. Undefined for a paint
 * that shows nowhere.
 */
export function visiblePaint(paint: Paint | undefined): Paint | undefined {
  if (paint === undefined || paint.kind === 'solid') return paint;
  if (!invert(paint.matrix)) return undefined;
  if (paint.kind === 'tiling' || paint.kind === 'mesh') return paint;
  const shape = gradientShape(paint);
  if (shape.kind === 'none') return undefined;
  return shape.kind === 'even' ? { kind: 'solid', color: shape.color, alpha: shape.alpha } : paint;
}

/** Whether the paint needs a soft mask or a group of its own, hence a painting operator of its own. */
export function needsMask(paint: Paint): paint is ShadedPaint {
  if (paint.kind === 'solid' || paint.kind === 'tiling') return false;
  const alpha = uniformAlpha(colorsOf(paint));
  return alpha === undefined || (paint.kind === 'mesh' && alpha < 1);
}

/** Whether nothing that lies below shows through the paint. */
export function isOpaque(paint: Paint): boolean {
  if (paint.kind === 'solid' || paint.kind === 'tiling') return paint.alpha >= 1;
  return uniformAlpha(colorsOf(paint)) === 1 && (paint.kind !== 'mesh' || paint.background !== undefined);
}

/**
 * Selects `paint`, which is visible, for `role` and lets `draw` paint with it on the stream that it gets. `bounds` surely
 * holds what is painted, in the stream's current space, which must be the space of the item's group.
 */
export function withPaint(
  scene: Scene,
  stream: ContentStream,
  paint: Paint,
  role: PaintRole,
  bounds: Box | undefined,
  draw: (stream: ContentStream) => void,
): void {
  if (!needsMask(paint) || !bounds) {
    selectPaint(scene, stream, paint, role);
    draw(stream);
    return;
  }
  stream.save();
  const alpha = uniformAlpha(colorsOf(paint));
  if (alpha === undefined) stream.setExtendedState(opacityMask(scene, stream, paint, bounds));
  if (paint.kind === 'mesh') {
    paintMeshAsOne(scene, stream, paint, role, bounds, alpha ?? 1, draw);
  } else {
    selectPaint(scene, stream, paint, role);
    draw(stream);
  }
  stream.restore();
}

/** Readers may paint triangles that overlap a little, which must not show: the mesh is opaque within a group. */
function paintMeshAsOne(
  scene: Scene,
  stream: ContentStream,
  paint: MeshPaint,
  role: PaintRole,
  bounds: Box,
  alpha: number,
  draw: (stream: ContentStream) => void,
): void {
  const inside = new ContentStream(scene.states, stream.unitMm);
  selectPaint(scene, inside, opaqueMesh(paint), role);
  draw(inside);
  const entries = {
    Type: 'XObject',
    Subtype: 'Form',
    BBox: boxEntry(bounds, stream.unitMm),
    Group: { S: 'Transparency', CS: 'DeviceRGB', I: true },
    Resources: inside.resources.toEntries(),
  };
  stream.setFillAlpha(alpha);
  stream.setStrokeAlpha(1);
  stream.paintObject(scene.file.addStream(entries, inside.toBytes()));
  stream.usesTransparency = true;
}

function opaqueMesh(paint: MeshPaint): MeshPaint {
  const { background } = paint;
  return {
    ...paint,
    vertices: paint.vertices.map((vertex) => ({ ...vertex, alpha: 1 })),
    ...(background === undefined ? {} : { background: { ...background, alpha: 1 } }),
  };
}

/** Selects colour or pattern and the constant part of the opacity for `role`. */
export function selectPaint(scene: Scene, stream: ContentStream, paint: Paint, role: PaintRole): void {
  const setAlpha = (alpha: number): void =>
    role === 'fill' ? stream.setFillAlpha(alpha) : stream.setStrokeAlpha(alpha);
  if (paint.kind === 'solid') {
    setAlpha(paint.alpha);
    if (role === 'fill') stream.setFillColor(paint.color);
    else stream.setStrokeColor(paint.color);
    return;
  }
  if (paint.kind === 'tiling') {
    setAlpha(paint.alpha);
    selectPattern(stream, role, tilingPattern(scene, stream, paint));
    return;
  }
  const alpha = uniformAlpha(colorsOf(paint)) ?? 1;
  setAlpha(alpha);
  // After a line of a shading Poppler fills with shadings by the opacity of lines.
  if (role === 'fill') stream.setStrokeAlpha(alpha);
  selectPattern(stream, role, shadingPattern(scene, stream, paint));
}

function selectPattern(stream: ContentStream, role: PaintRole, pattern: Reference): void {
  if (role === 'fill') stream.setFillPattern(pattern);
  else stream.setStrokePattern(pattern);
}

/** All colours of a paint, with their opacities. */
function colorsOf(paint: ShadedPaint): readonly MeshColor[] {
  if (paint.kind !== 'mesh') return paint.stops;
  return paint.background === undefined ? paint.vertices : [...paint.vertices, paint.background];
}

function uniformAlpha(colors: readonly MeshColor[]): number | undefined {
  const first = colors[0]!.alpha;
  return colors.every(({ alpha }) => alpha === first) ? first : undefined;
}

function shadingPattern(scene: Scene, stream: ContentStream, paint: ShadedPaint): Reference {
  const channels: Channels = ({ color }) => color.map((channel) => channel / 255);
  const shading =
    paint.kind === 'mesh'
      ? meshShading(scene.file, paint, 'DeviceRGB', channels)
      : shadingEntries(paint, 'DeviceRGB', channels);
  const matrix = multiply(stream.matrix, paint.matrix).map(roundFactor);
  return scene.file.addOnce(scene.file.object({ Type: 'Pattern', PatternType: 2, Matrix: matrix, Shading: shading }));
}

/** A state whose mask is the paint's opacity as grey, in the stream's current space. */
function opacityMask(scene: Scene, stream: ContentStream, paint: ShadedPaint, bounds: Box): Reference {
  const mask = new ContentStream(scene.states, stream.unitMm);
  const channels: Channels = ({ alpha }) => [alpha];
  const shading =
    paint.kind === 'mesh'
      ? meshShading(scene.file, paint, 'DeviceGray', channels)
      : scene.file.addOnce(scene.file.object(shadingEntries(paint, 'DeviceGray', channels)));
  const { x, y, width, height } = growBox(bounds, BOX_MARGIN_MM / stream.unitMm);
  // What shadings call their background is not painted by the operator below.
  if (paint.kind === 'mesh' && paint.background !== undefined) {
    const rectangle = [x, y, width, height].map(formatFactor).join(' ');
    mask.write(`${formatFactor(paint.background.alpha)} g\n${rectangle} re f\n`);
  }
  mask.concat(paint.matrix);
  mask.write(`${mask.resources.nameOf('Shading', shading)} sh\n`);
  const entries = {
    Type: 'XObject',
    Subtype: 'Form',
    BBox: boxEntry(bounds, stream.unitMm),
    Group: { S: 'Transparency', CS: 'DeviceGray' },
    Resources: mask.resources.toEntries(),
  };
  return scene.states.softMask(scene.file.addStreamOnce(entries, mask.toBytes()));
}

/** The BBox of a form that holds `box`, in a space whose unit is `unitMm` long. */
export function boxEntry(box: Box, unitMm: number): number[] {
  const { x, y, width, height } = growBox(box, BOX_MARGIN_MM / unitMm);
  return [x, y, x + width, y + height].map(roundFactor);
}

function shadingEntries(paint: GradientPaint, colorSpace: ShadingSpace, channels: Channels): Entries {
  const { start, end } = paint;
  const coordinates =
    paint.kind === 'axial'
      ? [start.x, start.y, end.x, end.y]
      : [start.x, start.y, paint.startRadius, end.x, end.y, paint.endRadius];
  return {
    ShadingType: paint.kind === 'axial' ? 2 : 3,
    ColorSpace: colorSpace,
    Coords: coordinates.map(roundFactor),
    Extend: [paint.extendStart, paint.extendEnd],
    Function: stopsFunction(paint, channels),
  };
}

/** The colour at each place from 0 to 1: one interpolation, or several stitched together. */
function stopsFunction(paint: GradientPaint, channels: Channels): Entries {
  const stops = separateStops(paint);
  const pieces: Entries[] = [];
  const bounds: number[] = [];
  for (let i = 0; i + 1 < stops.length; i++) {
    const from = stops[i]!;
    const to = stops[i + 1]!;
    if (to.offset <= from.offset) continue;
    if (pieces.length > 0) bounds.push(from.offset);
    const c0 = channels(from).map(roundFactor);
    const c1 = channels(to).map(roundFactor);
    pieces.push({ FunctionType: 2, Domain: [0, 1], N: 1, C0: c0, C1: c1 });
  }
  if (pieces.length === 1) return pieces[0]!;
  const encode = pieces.flatMap(() => [0, 1]);
  return { FunctionType: 3, Domain: [0, 1], Functions: pieces, Bounds: bounds, Encode: encode };
}

/**
 * Stops from exactly 0 to exactly 1. A hard edge at an end that goes on needs a little room, since what goes on is the
 * function's value at that very end.
 */
function separateStops(paint: GradientPaint): GradientStop[] {
  const stops = paint.stops.map((stop) => ({ ...stop, offset: roundFactor(Math.min(1, Math.max(0, stop.offset))) }));
  const first = stops[0]!;
  const last = stops[stops.length - 1]!;
  if (first.offset > 0) stops.unshift({ ...first, offset: 0 });
  if (last.offset < 1) stops.push({ ...last, offset: 1 });
  if (stops[1]!.offset === 0 && stops.length > 2) stops[1] = { ...stops[1]!, offset: EDGE };
  const beforeLast = stops.length - 2;
  if (stops[beforeLast]!.offset === 1 && stops.length > 2) {
    stops[beforeLast] = { ...stops[beforeLast]!, offset: 1 - EDGE };
  }
  return stops;
}

/** A cell of its own content; its y axis runs as the display list's, because the matrix turns it over with everything. */
function tilingPattern(scene: Scene, stream: ContentStream, paint: TilingPaint): Reference {
  const cell = cellStream(scene, paint, stream.unitMm * meanScale(paint.matrix));
  const matrix: Matrix = multiply(stream.matrix, paint.matrix);
  const entries = {
    Type: 'Pattern',
    PatternType: 1,
    PaintType: 1,
    TilingType: 1,
    BBox: cellEntry(paint),
    XStep: roundFactor(paint.xStep),
    YStep: roundFactor(paint.yStep),
    Matrix: matrix.map(roundFactor),
    Resources: cell.resources.toEntries(),
  };
  if (cell.usesTransparency) stream.usesTransparency = true;
  return scene.file.addStreamOnce(entries, cell.toBytes());
}

/** Patterns in the cell stand in a form: some readers place a pattern within a pattern on the page, none one within a form. */
function cellStream(scene: Scene, paint: TilingPaint, unitMm: number): ContentStream {
  const content = new ContentStream(scene.states, unitMm);
  scene.drawItems(content, paint.items);
  const resources = content.resources.toEntries();
  if (resources.Pattern === undefined) return content;
  const entries = { Type: 'XObject', Subtype: 'Form', BBox: cellEntry(paint), Resources: resources };
  const cell = new ContentStream(scene.states, unitMm);
  cell.paintObject(scene.file.addStreamOnce(entries, content.toBytes()));
  cell.usesTransparency = content.usesTransparency;
  return cell;
}

function cellEntry({ width, height }: TilingPaint): number[] {
  return [0, 0, roundFactor(width), roundFactor(height)];
}
