/** Paints that are more than one colour, over all of a target; the caller has clipped it to the shape. */
import { type CanvasGradient, createCanvas } from '@napi-rs/canvas';
import {
  type Box,
  growBox,
  invert,
  type Matrix,
  multiply,
  rectanglePath,
  transformBox,
  translation,
} from '../../display/geometry.js';
import type { Item } from '../../display/list.js';
import type { MeshPaint, Paint, SolidPaint, TilingPaint } from '../../display/paint.js';
import { axisScales, contains, listBounds, pixelBox } from '../bounds.js';
import { conePixels, type GradientPaint, gradientShape, stopsWithEdges } from '../gradient.js';
import { meshPixels, meshWork } from '../mesh.js';
import { type Pixels, reducePixels } from '../pixels.js';
import type { ShadingBudget } from '../shading-budget.js';
import { toPath2D } from './paths.js';
import { toCanvas } from './pictures.js';
import { type LayerEffect, releasePixels, setMatrix, type Target } from './target.js';

/** Up to this many items are drawn cell by cell; beyond, one cell becomes a picture that is repeated. */
const MAX_DIRECT_ITEMS = 4000;
/** What making and repeating the picture of a cell costs, in items. */
const REPEATED_WORK = 500;
const MAX_CELL_SIDE_PX = 2048;
/** A mesh of more pixels has edges as they come. */
const MAX_SMOOTH_MESH_WORK = 1_000_000;

/** What painting a pattern needs of the painter of items; see there. */
export interface CellPainter {
  readonly shadings: ShadingBudget;
  items(target: Target, items: readonly Item[], toDevice: Matrix): Promise<void>;
  forCell(work: number): CellPainter | undefined;
  asOne(target: Target, effect: LayerEffect, draw: (layer: Target, shift: Matrix) => Promise<void>): Promise<void>;
}

export function cssColor({ color, alpha }: Pick<SolidPaint, 'color' | 'alpha'>): string {
  const [r, g, b] = color;
  return `rgba(${Math.round(r)},${Math.round(g)},${Math.round(b)},${alpha})`;
}

/** `toDevice`: the space that the paint's matrix leads to → pixels of the target. */
export async function paintPlane(painter: CellPainter, target: Target, paint: Paint, toDevice: Matrix): Promise<void> {
  if (paint.kind === 'solid') fillBox(target, cssColor(paint));
  else if (paint.kind === 'tiling') await paintTiling(painter, target, paint, multiply(toDevice, paint.matrix));
  else if (paint.kind === 'mesh') paintMesh(painter, target, paint, multiply(toDevice, paint.matrix));
  else paintGradient(painter, target, paint, multiply(toDevice, paint.matrix));
}

function fillBox({ context, box }: Target, style: string): void {
  context.resetTransform();
  context.fillStyle = style;
  context.fillRect(box.x, box.y, box.width, box.height);
}

function paintGradient(painter: CellPainter, target: Target, paint: GradientPaint, matrix: Matrix): void {
  const { context, box } = target;
  const toGradient = invert(matrix);
  if (toGradient === undefined) return;
  const shape = gradientShape(paint);
  if (shape.kind === 'none') return;
  if (shape.kind === 'even') fillBox(target, cssColor(shape));
  else if (shape.kind === 'cone' && paint.kind === 'radial') {
    const step = painter.shadings.step(box.width * box.height);
    const width = Math.ceil(box.width / step);
    const height = Math.ceil(box.height / step);
    const rgba = conePixels(paint, multiply(toGradient, [step, 0, 0, step, box.x, box.y]), width, height);
    drawPixels(target, { widthPx: width, heightPx: height, rgba }, step);
  } else {
    const plane = transformBox(toGradient, box);
    setMatrix(context, matrix);
    context.fillStyle = canvasGradient(target, paint);
    context.fillRect(plane.x, plane.y, plane.width, plane.height);
  }
}

/** `matrix`: the mesh's space → pixels of the target. Edges are smoothed where that costs little. */
function paintMesh(painter: CellPainter, target: Target, paint: MeshPaint, matrix: Matrix): void {
  const { box } = target;
  const work = meshWork(paint, multiply(translation(-box.x, -box.y), matrix), box.width, box.height);
  const step = painter.shadings.step(work);
  const samples = step === 1 && work <= MAX_SMOOTH_MESH_WORK ? 2 : 1;
  const scale = samples / step;
  const width = Math.ceil(box.width * scale);
  const height = Math.ceil(box.height * scale);
  const toPixels: Matrix = multiply([scale, 0, 0, scale, -box.x * scale, -box.y * scale], matrix);
  const rgba = meshPixels(paint, toPixels, width, height);
  drawPixels(target, reducePixels({ widthPx: width, heightPx: height, rgba }, samples, samples), step);
}

/** Each pixel becomes a square of `step` device pixels. */
function drawPixels({ context, box }: Target, pixels: Pixels, step: number): void {
  context.resetTransform();
  const canvas = toCanvas(pixels);
  context.drawImage(canvas, box.x, box.y, pixels.widthPx * step, pixels.heightPx * step);
  releasePixels(canvas);
}

function canvasGradient({ context }: Target, paint: GradientPaint): CanvasGradient {
  const { start, end } = paint;
  const gradient =
    paint.kind === 'axial'
      ? context.createLinearGradient(start.x, start.y, end.x, end.y)
      : context.createRadialGradient(start.x, start.y, paint.startRadius, end.x, end.y, paint.endRadius);
  for (const stop of stopsWithEdges(paint)) gradient.addColorStop(stop.offset, cssColor(stop));
  return gradient;
}

/** `matrix`: pattern space → pixels of the target. */
async function paintTiling(painter: CellPainter, target: Target, paint: TilingPaint, matrix: Matrix): Promise<void> {
  const { globalCompositeOperation } = target.context;
  if (paint.alpha >= 1 && globalCompositeOperation === 'source-over') {
    await paintCells(painter, target, paint, matrix);
    return;
  }
  const effect = { alpha: paint.alpha, operation: globalCompositeOperation };
  await painter.asOne(target, effect, (layer, shift) => paintCells(painter, layer, paint, multiply(shift, matrix)));
}

async function paintCells(painter: CellPainter, target: Target, paint: TilingPaint, matrix: Matrix): Promise<void> {
  const toPattern = invert(matrix);
  if (toPattern === undefined || paint.items.length === 0) return;
  const area = transformBox(toPattern, target.box);
  const columns = cellRange(area.x, area.width, paint.width, paint.xStep);
  const rows = cellRange(area.y, area.height, paint.height, paint.yStep);
  const cellWork = Math.max(1, itemCount(paint.items));
  const work = columns.count * rows.count * cellWork;
  if (work > MAX_DIRECT_ITEMS || wouldShowSeams(paint)) {
    const cellPainter = painter.forCell(cellWork + REPEATED_WORK);
    if (cellPainter !== undefined) await paintRepeated(cellPainter, target, paint, matrix, area);
    return;
  }
  const cellPainter = painter.forCell(work);
  if (cellPainter === undefined) return;
  // Counted, not compared: numbers of far cells are too large to be counted up.
  for (let j = 0; j < rows.count; j++) {
    for (let i = 0; i < columns.count; i++) {
      const place = translation((columns.first + i) * paint.xStep, (rows.first + j) * paint.yStep);
      await paintCell(cellPainter, target, paint, multiply(matrix, place));
    }
  }
}

/** Cells drawn one by one leave a seam where each ends within a pixel and its content goes up to its edge. */
function wouldShowSeams(paint: TilingPaint): boolean {
  if (paint.xStep > paint.width && paint.yStep > paint.height) return false;
  const content = listBounds(paint.items);
  const margin = 0.01 * Math.min(paint.width, paint.height);
  return content !== undefined && !contains(growBox(cellBox(paint), -margin), content);
}

function cellBox({ width, height }: TilingPaint): Box {
  return { x: 0, y: 0, width, height };
}

/** The cells that touch a span. */
function cellRange(from: number, length: number, cellLength: number, step: number): { first: number; count: number } {
  const first = Math.ceil((from - cellLength) / step);
  return { first, count: Math.max(0, Math.floor((from + length) / step) - first + 1) };
}

async function paintCell(painter: CellPainter, target: Target, paint: TilingPaint, matrix: Matrix): Promise<void> {
  const { context } = target;
  const cell = cellBox(paint);
  const content = listBounds(paint.items);
  const box = pixelBox(transformBox(matrix, cell), target.box);
  if (content === undefined || box === undefined) return;
  context.save();
  if (!contains(cell, content)) {
    setMatrix(context, matrix);
    context.clip(toPath2D(rectanglePath(cell)), 'nonzero');
  }
  await painter.items({ context, box }, paint.items, matrix);
  context.restore();
}

async function paintRepeated(
  painter: CellPainter,
  { context }: Target,
  paint: TilingPaint,
  matrix: Matrix,
  area: Box,
): Promise<void> {
  const scales = axisScales(matrix);
  const width = cellPixels(paint.xStep * scales.x);
  const height = cellPixels(paint.yStep * scales.y);
  const canvas = createCanvas(width, height);
  const cell = { context: canvas.getContext('2d'), box: { x: 0, y: 0, width, height } };
  await paintCell(painter, cell, paint, [width / paint.xStep, 0, 0, height / paint.yStep, 0, 0]);
  const pattern = context.createPattern(canvas, 'repeat');
  if (pattern === null) return; // a canvas without pixels; this one has some
  pattern.setTransform({ a: paint.xStep / width, b: 0, c: 0, d: paint.yStep / height, e: 0, f: 0 });
  setMatrix(context, matrix);
  context.fillStyle = pattern;
  context.fillRect(area.x, area.y, area.width, area.height);
  releasePixels(canvas);
}

function cellPixels(length: number): number {
  return Math.min(MAX_CELL_SIDE_PX, Math.max(1, Math.round(length)));
}

/** Items to draw, groups opened; a pattern within counts so much that it is never drawn cell by cell. */
function itemCount(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + (item.kind === 'group' ? itemCount(item.items) : ownCount(item)), 0);
}

function ownCount(item: Exclude<Item, { kind: 'group' }>): number {
  if (item.kind === 'image') return 1;
  const fill = item.kind === 'path' ? item.fill?.paint : item.fill;
  const hasPattern = fill?.kind === 'tiling' || item.stroke?.paint.kind === 'tiling';
  const own = item.kind === 'glyphs' ? item.glyphIds.length : 1;
  return hasPattern ? MAX_DIRECT_ITEMS + own : own;
}
