/** Paints the items of a display list on a canvas. */
import {
  type Box,
  growBox,
  IDENTITY,
  intersectBoxes,
  invert,
  type Matrix,
  meanScale,
  multiply,
  type Path,
  rectanglePath,
  transformBox,
} from '../../display/geometry.js';
import type { Clip, FillRule, GlyphRun, Group, ImageItem, Item, PathItem, Report } from '../../display/list.js';
import { BLACK, type Paint, type SolidPaint, type Stroke } from '../../display/paint.js';
import { axisScales, effectiveClips, itemBounds, pixelBox, rectangleOf } from '../bounds.js';
import { glyphMatrix, runOutline } from '../glyph-run.js';
import type { ShadingBudget } from '../shading-budget.js';
import { substituteOf } from '../substitute.js';
import type { DrawingBudget } from './drawing-budget.js';
import { fillWork } from './fill-work.js';
import { isLong, linePieces } from './line-pieces.js';
import { type CellPainter, cssColor, paintPlane } from './paint.js';
import { type GlyphPaths, toPath2D } from './paths.js';
import { type DeviceLine, dashesOf, strokable, strokedPixels, trueLine, visibleLine } from './pen.js';
import type { Pictures } from './pictures.js';
import { coveringPixels, snapPicture, snapRectangle } from './snap.js';
import { compositeOperation, type LayerEffect, type Layers, setMatrix, type Target } from './target.js';

/** A cell of a pattern may hold a pattern, and so on, this deep. */
const MAX_PATTERN_DEPTH = 4;
/** A picture reduced by more than this while drawn is sampled from a smaller version of itself, too. */
const PLAIN_REDUCTION = 1.4;

/** Side of a picture on the device from which on only its visible part is drawn. */
const LARGEST_PICTURE_PX = 20_000;
/** Pixels of a page's shadings that are computed one by one before they get coarser: some seconds. */
export const MAX_SHADING_PIXELS = 120_000_000;
/** Items that the patterns of one page may draw, all cells counted. */
export const MAX_PATTERN_WORK = 1_000_000;

export interface PainterTools {
  readonly glyphs: GlyphPaths;
  readonly pictures: Pictures;
  readonly layers: Layers;
  /** Starts as MAX_PATTERN_WORK and is used up. */
  readonly patternWork: { left: number };
  readonly shadings: ShadingBudget;
  readonly budget: DrawingBudget;
  readonly report: Report;
  readonly pageNumber: number;
}

export class Painter implements CellPainter {
  readonly #tools: PainterTools;
  readonly #patternDepth: number;

  constructor(tools: PainterTools, patternDepth = 0) {
    this.#tools = tools;
    this.#patternDepth = patternDepth;
  }

  get shadings(): ShadingBudget {
    return this.#tools.shadings;
  }

  /** Paints a list. `toDevice`: space of the list → pixels of the target. */
  async items(target: Target, items: readonly Item[], toDevice: Matrix): Promise<void> {
    const { context } = target;
    for (const item of items) {
      const clips = effectiveClips(item);
      const bounds = clips && itemBounds(item);
      // A pen may be widened to a pixel, so a box without any area still shows.
      const box = bounds && pixelBox(growBox(transformBox(toDevice, bounds), 1), target.box);
      if (clips === undefined || box === undefined) continue;
      context.save();
      for (const clip of clips) clipTo(context, clip, toDevice);
      await this.#item({ context, box }, item, toDevice);
      context.restore();
    }
  }

  async #item(target: Target, item: Item, toDevice: Matrix): Promise<void> {
    const matrix = multiply(toDevice, item.matrix);
    if (item.kind === 'group') {
      await this.#group(target, item, matrix);
      return;
    }
    target.context.globalCompositeOperation = compositeOperation(item.blendMode);
    if (item.kind === 'path') await this.#path(target, item, matrix, toDevice);
    else if (item.kind === 'glyphs') await this.#glyphs(target, item, matrix, toDevice);
    else await this.#image(target, item, matrix);
  }

  /**
   * The painter for the cells of a pattern that is about so much `work`; undefined, after a warning, where patterns are
   * nested too deep or have taken too much work on this page.
   */
  forCell(work: number): Painter | undefined {
    this.#tools.patternWork.left -= work;
    if (this.#patternDepth < MAX_PATTERN_DEPTH && this.#tools.patternWork.left > 0) {
      return new Painter(this.#tools, this.#patternDepth + 1);
    }
    this.#tools.report({
      code: 'pattern_skipped',
      message: 'Patterns are nested too deep, or too many, and some are left out',
      page: this.#tools.pageNumber,
    });
    return undefined;
  }

  /** Paints `draw` as one picture; part by part, after a warning, where memory forbids that. */
  async asOne(
    target: Target,
    effect: LayerEffect,
    draw: (layer: Target, shift: Matrix) => Promise<void>,
  ): Promise<void> {
    if (await this.#tools.layers.paint(target, effect, draw)) return;
    this.#tools.report({
      code: 'transparency_simplified',
      message: 'Transparent groups are nested so deep that some are painted part by part',
      page: this.#tools.pageNumber,
    });
    target.context.globalAlpha *= effect.alpha;
    await draw(target, IDENTITY);
  }

  async #group(target: Target, group: Group, matrix: Matrix): Promise<void> {
    if (group.alpha >= 1 && group.blendMode === 'normal') {
      await this.items(target, group.items, matrix);
      return;
    }
    if (!this.#tools.budget.take(2 * pixelsOf(target.box))) return;
    const effect = { alpha: group.alpha, operation: compositeOperation(group.blendMode) };
    await this.asOne(target, effect, (layer, shift) => this.items(layer, group.items, multiply(shift, matrix)));
  }

  async #path(target: Target, item: PathItem, matrix: Matrix, toDevice: Matrix): Promise<void> {
    const { fill, stroke } = item;
    if (fill?.paint.kind === 'solid') {
      if (this.#mayFill(target, item.path, matrix) && this.#tools.budget.takePlain(pixelsOf(target.box))) {
        fillEvenly(target, item.path, fill.rule, matrix, fill.paint);
      }
    } else if (fill !== undefined) {
      await this.#fillThrough(target, item.path, fill.rule, matrix, fill.paint, toDevice);
    }
    if (stroke !== undefined) await this.#stroke(target, item.path, matrix, stroke, toDevice);
  }

  #mayFill({ box }: Target, path: Path, matrix: Matrix): boolean {
    const work = fillWork(path, matrix, box);
    return work === 0 || this.#tools.budget.takeWhole(work);
  }

  /** Lets a paint that covers the plane show through a shape. */
  async #fillThrough(
    target: Target,
    path: Path,
    rule: FillRule,
    matrix: Matrix,
    paint: Paint,
    toDevice: Matrix,
  ): Promise<void> {
    const { context } = target;
    if (!this.#mayFill(target, path, matrix) || !this.#tools.budget.take(pixelsOf(target.box))) return;
    context.save();
    setMatrix(context, matrix);
    context.clip(toPath2D(path), rule);
    await paintPlane(this, target, paint, toDevice);
    context.restore();
  }

  async #stroke(
    target: Target,
    path: Path,
    matrix: Matrix,
    stroke: Stroke,
    toDevice: Matrix,
    lineFor = visibleLine,
  ): Promise<void> {
    const { paint } = stroke;
    const { budget } = this.#tools;
    const effect = { alpha: 1, operation: target.context.globalCompositeOperation };
    if (paint.kind === 'solid') {
      const line = lineFor(path, matrix, stroke);
      if (paint.alpha >= 1 || !isLong(line.path)) {
        drawLine(target, line, stroke, paint, budget);
        return;
      }
      // In pieces it would be darker where they meet.
      await this.asOne(target, { ...effect, alpha: paint.alpha }, async (layer, shift) => {
        drawLine(layer, { ...line, matrix: multiply(shift, line.matrix) }, stroke, { ...paint, alpha: 1 }, budget);
      });
      return;
    }
    if (!budget.take(2 * pixelsOf(target.box))) return;
    await this.asOne(target, effect, async (layer, shift) => {
      await paintPlane(this, layer, paint, multiply(shift, toDevice));
      const line = lineFor(path, multiply(shift, matrix), stroke);
      // Of that plane only what lies under the line stays.
      const isMasked = await this.#tools.layers.paint(layer, { alpha: 1, operation: 'destination-in' }, (mask) =>
        drawLine(mask, line, stroke, OPAQUE, budget),
      );
      if (isMasked) return;
      layer.context.resetTransform();
      layer.context.clearRect(layer.box.x, layer.box.y, layer.box.width, layer.box.height);
      drawLine(layer, line, stroke, OPAQUE, budget);
    });
  }

  async #glyphs(target: Target, run: GlyphRun, matrix: Matrix, toDevice: Matrix): Promise<void> {
    const { fill, stroke } = run;
    if (fill?.kind === 'solid' && run.emboldenMm === 0) this.#outlines(target, run, matrix, fill);
    else if (fill?.kind === 'solid' && fill.alpha < 1) {
      const effect = { alpha: fill.alpha, operation: target.context.globalCompositeOperation };
      const opaque = { ...fill, alpha: 1 };
      await this.asOne(target, effect, (layer, shift) =>
        this.#merged(layer, run, multiply(shift, matrix), opaque, multiply(shift, toDevice)),
      );
    } else if (fill !== undefined) await this.#merged(target, run, matrix, fill, toDevice);
    if (stroke === undefined) return;
    // Round filled letters a line adds weight: a whole pixel of it would make every small text bold.
    const lineFor = fill === undefined ? visibleLine : trueLine;
    if (fill !== undefined && stroke.widthMm <= 0) return;
    await this.#stroke(target, runOutline(run), matrix, stroke, toDevice, lineFor);
  }

  /** Glyph by glyph from kept outlines. */
  #outlines(target: Target, run: GlyphRun, matrix: Matrix, fill: SolidPaint): void {
    const { context } = target;
    context.fillStyle = cssColor(fill);
    for (let i = 0; i < run.glyphIds.length; i++) {
      const path = this.#tools.glyphs.get(run.face, run.glyphIds[i]!);
      if (path === undefined) continue;
      setMatrix(context, multiply(matrix, glyphMatrix(run, i)));
      context.fill(path);
    }
  }

  /** All outlines as one shape: for paints that need one, and for synthetic bold. */
  async #merged(target: Target, run: GlyphRun, matrix: Matrix, paint: Paint, toDevice: Matrix): Promise<void> {
    const outline = runOutline(run);
    await this.#fillThrough(target, outline, 'nonzero', matrix, paint, toDevice);
    if (run.emboldenMm <= 0) return;
    const stroke: Stroke = { ...BOLD_PEN, paint, widthMm: run.emboldenMm };
    await this.#stroke(target, outline, matrix, stroke, toDevice, trueLine);
  }

  async #image(target: Target, item: ImageItem, matrix: Matrix): Promise<void> {
    const size = axisScales(matrix);
    const picture = await this.#tools.pictures.get(item.image, item.mask, size.x, size.y);
    if (picture === undefined) {
      const other = substituteOf(item);
      if (other !== undefined) await this.#image(target, other, matrix);
      return;
    }
    const { context } = target;
    const reduction = Math.max(picture.sourceWidth / size.x, picture.sourceHeight / size.y);
    setMatrix(context, snapPicture(matrix));
    context.globalAlpha *= item.alpha;
    context.imageSmoothingEnabled = item.smooth || reduction > 1;
    context.imageSmoothingQuality = reduction > PLAIN_REDUCTION ? 'medium' : 'low';
    const part = visiblePart(target.box, matrix, size);
    if (part === undefined || !this.#tools.budget.take(pixelsOf(target.box))) return;
    const { sourceWidth: width, sourceHeight: height } = picture;
    context.drawImage(
      picture.canvas,
      part.x * width,
      part.y * height,
      part.width * width,
      part.height * height,
      part.x,
      part.y,
      part.width,
      part.height,
    );
  }
}

/** Pieces of a long line lie over each other so far. */
const OVERLAP_PX = 3;
const UNIT_SQUARE: Box = { x: 0, y: 0, width: 1, height: 1 };
const OPAQUE: SolidPaint = { kind: 'solid', color: BLACK, alpha: 1 };
const BOLD_PEN = { cap: 'round', join: 'round', miterLimit: 10, dash: [], dashOffset: 0 } as const;

/** The part of the unit square that is drawn: all of it, unless that is so large that the raster library would stall. */
function visiblePart(visible: Box, matrix: Matrix, size: { readonly x: number; readonly y: number }): Box | undefined {
  if (Math.max(size.x, size.y) <= LARGEST_PICTURE_PX) return UNIT_SQUARE;
  const toUnit = invert(matrix);
  const part = toUnit && intersectBoxes(transformBox(toUnit, growBox(visible, 1)), UNIT_SQUARE);
  return part !== undefined && part.width > 0 && part.height > 0 ? part : undefined;
}

/** A rectangle's clip lets through every pixel that it touches, so that a line along its edge is not cut away. */
function clipTo(context: Target['context'], clip: Clip, toDevice: Matrix): void {
  const rectangle = rectangleOf(clip.path);
  const pixels = rectangle && coveringPixels(rectangle, toDevice);
  if (pixels === undefined) setMatrix(context, toDevice);
  else context.resetTransform();
  context.clip(toPath2D(pixels === undefined ? clip.path : rectanglePath(pixels)), clip.rule);
}

function fillEvenly({ context }: Target, path: Path, rule: FillRule, matrix: Matrix, paint: SolidPaint): void {
  context.fillStyle = cssColor(paint);
  const rectangle = rectangleOf(path);
  const pixels = rectangle && snapRectangle(rectangle, matrix);
  if (pixels !== undefined) {
    context.resetTransform();
    context.fillRect(pixels.x, pixels.y, pixels.width, pixels.height);
    return;
  }
  setMatrix(context, matrix);
  context.fill(toPath2D(path), rule);
}

/** Draws a line in one colour, a long one piece by piece. */
function drawLine(
  { context }: Target,
  line: DeviceLine,
  stroke: Stroke,
  paint: SolidPaint,
  budget: DrawingBudget,
): void {
  setMatrix(context, line.matrix);
  context.strokeStyle = cssColor(paint);
  context.lineWidth = line.width;
  context.lineCap = stroke.cap;
  context.lineJoin = stroke.join;
  context.miterLimit = stroke.miterLimit;
  const dashes = dashesOf(line, stroke);
  context.setLineDash(dashes);
  context.lineDashOffset = stroke.dashOffset * line.dashScale;
  const path = strokable(line, stroke.cap);
  for (const piece of dashes.length > 0 ? [path] : linePieces(path, OVERLAP_PX / meanScale(line.matrix))) {
    if (isLong(path) && !budget.take(strokedPixels(piece, line))) return;
    context.stroke(toPath2D(piece));
  }
}

function pixelsOf({ width, height }: Box): number {
  return width * height;
}
