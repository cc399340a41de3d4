/** Glyph runs: one text object each, whose codes lead to the outlines and, through the font's map, to the characters. */
import { IDENTITY, invert, type Matrix, multiply } from '../../display/geometry.js';
import type { GlyphRun, Group } from '../../display/list.js';
import type { Paint, SolidPaint, Stroke } from '../../display/paint.js';
import { itemBounds } from '../bounds.js';
import { runOutline } from '../glyph-run.js';
import type { ContentStream } from './content.js';
import { isOpaque, needsMask, type PaintRole, visiblePaint, withPaint } from './paint.js';
import type { Scene } from './scene.js';
import { strokePath, withPen } from './shape.js';
import { writeTextObject } from './text-object.js';

const FILLED = 0;
const STROKED = 1;
const FILLED_AND_STROKED = 2;
const INVISIBLE = 3;
type TextMode = 0 | 1 | 2 | 3;

/** Synthetic bold rounds its corners, as a heavier pen would. */
const BOLD_PEN = { cap: 'butt', join: 'round', miterLimit: 10, dash: [], dashOffset: 0 } as const;

export function drawRun(scene: Scene, stream: ContentStream, run: GlyphRun): void {
  if (run.glyphIds.length === 0 || !(run.sizeMm > 0)) return;
  const fill = visiblePaint(run.fill);
  const stroke = strokeOf(run, fill);
  const isFlat = !invert(multiply(run.matrix, shapeMatrix(run)));
  if (isFlat || (!fill && !stroke)) {
    drawInvisible(scene, stream, run, isFlat);
  } else if (!stroke) {
    withRunPaint(scene, stream, run, fill!, 'fill', (target) => show(scene, target, run, run.matrix, FILLED));
  } else if (!run.stroke && fill?.kind === 'solid' && !isOpaque(fill)) {
    scene.drawItems(stream, [translucentBold(run, fill)]);
  } else if (canShowStroke(run, fill, stroke)) {
    drawStroked(scene, stream, run, fill, stroke);
  } else {
    if (fill) withRunPaint(scene, stream, run, fill, 'fill', (target) => show(scene, target, run, run.matrix, FILLED));
    else show(scene, stream, run, run.matrix, INVISIBLE);
    strokeOutlines(scene, stream, run, stroke);
  }
}

/** The run's own pen, or the one that makes it bold in the colour of its fill. */
function strokeOf(run: GlyphRun, fill: Paint | undefined): Stroke | undefined {
  const paint = visiblePaint(run.stroke?.paint);
  if (run.stroke && paint) return { ...run.stroke, paint };
  return fill && run.emboldenMm > 0 ? { ...BOLD_PEN, paint: fill, widthMm: run.emboldenMm } : undefined;
}

/** Fill and pen of a translucent bold run overlap, so it is painted opaque and seen as one picture. */
function translucentBold(run: GlyphRun, fill: SolidPaint): Group {
  const opaque: GlyphRun = { ...run, clips: [], blendMode: 'normal', fill: { ...fill, alpha: 1 } };
  return {
    kind: 'group',
    clips: [],
    blendMode: run.blendMode,
    matrix: IDENTITY,
    alpha: fill.alpha,
    items: [opaque],
    isShared: false,
  };
}

/**
 * Whether a text object can stroke its glyphs: common readers do not know patterns as pens of text, and where a pen is
 * translucent they do not agree on what lies below it.
 */
function canShowStroke(run: GlyphRun, fill: Paint | undefined, stroke: Stroke): boolean {
  if (stroke.paint.kind !== 'solid') return false;
  return !fill || (isOpaque(stroke.paint) && run.blendMode === 'normal' && !needsMask(fill));
}

function drawStroked(
  scene: Scene,
  stream: ContentStream,
  run: GlyphRun,
  fill: Paint | undefined,
  stroke: Stroke,
): void {
  withRunPaint(scene, stream, run, stroke.paint, 'stroke', () => {
    const showWith = (mode: TextMode): void =>
      withPen(stream, stroke, run.matrix, (matrix) => show(scene, stream, run, matrix, mode));
    if (fill) withRunPaint(scene, stream, run, fill, 'fill', () => showWith(FILLED_AND_STROKED));
    else showWith(STROKED);
  });
}

/** The pen drawn along the outlines as paths. */
function strokeOutlines(scene: Scene, stream: ContentStream, run: GlyphRun, stroke: Stroke): void {
  const outlines = runOutline(run);
  if (outlines.isEmpty) return;
  withRunPaint(scene, stream, run, stroke.paint, 'stroke', (target) =>
    strokePath(target, outlines, run.matrix, stroke),
  );
}

function withRunPaint(
  scene: Scene,
  stream: ContentStream,
  run: GlyphRun,
  paint: Paint,
  role: PaintRole,
  draw: (stream: ContentStream) => void,
): void {
  withPaint(scene, stream, paint, role, needsMask(paint) ? itemBounds(run) : undefined, draw);
}

function show(scene: Scene, stream: ContentStream, run: GlyphRun, matrix: Matrix, mode: TextMode): void {
  stream.setTextMode(mode);
  writeTextObject(stream, run, scene.fonts.codesOf(run.face), matrix, shapeMatrix(run));
}

/** Text to be found, not seen. What a matrix flattens lies upright at its place, so that readers can find it there. */
function drawInvisible(scene: Scene, stream: ContentStream, run: GlyphRun, isFlat: boolean): void {
  if (!isFlat) {
    show(scene, stream, run, run.matrix, INVISIBLE);
    return;
  }
  const upright: Matrix = [1, 0, 0, 1, run.matrix[4], run.matrix[5]];
  show(scene, stream, { ...run, shape: [1, 0, 0, 1] }, upright, INVISIBLE);
}

function shapeMatrix(run: GlyphRun): Matrix {
  const [a, b, c, d] = run.shape;
  return [a, b, c, d, 0, 0];
}
