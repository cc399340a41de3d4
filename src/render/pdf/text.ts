/** Glyph runs: one text object each, whose codes lead to the outlines and, through the font's map, to the characters. */
import { IDENTITY, invert, type Matrix, multiply, Path } from '../../display/geometry.js';
import type { GlyphRun, Group } from '../../display/list.js';
import type { Paint, SolidPaint, Stroke } from '../../display/paint.js';
import { boundsOfItem } from './bounds.js';
import type { ContentStream } from './content.js';
import { pathOperators } from './geometry.js';
import { isOpaque, needsMask, type PaintRole, withPaint } from './paint.js';
import type { Scene } from './scene.js';
import { withPen } from './shape.js';
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
  const { fill } = run;
  const isFlat = !invert(multiply(run.matrix, shapeMatrix(run)));
  const stroke = run.stroke ?? boldStroke(run);
  if (isFlat || (!fill && !stroke)) {
    drawInvisible(scene, stream, run, isFlat);
  } else if (!stroke) {
    withRunPaint(scene, stream, run, fill!, 'fill', () => show(scene, stream, run, run.matrix, FILLED));
  } else if (stroke.paint === fill && fill.kind === 'solid' && !isOpaque(fill)) {
    scene.drawItems(stream, [translucentBold(run, fill)]);
  } else if (canShowStroke(run, stroke)) {
    drawStroked(scene, stream, run, stroke);
  } else {
    if (fill) withRunPaint(scene, stream, run, fill, 'fill', () => show(scene, stream, run, run.matrix, FILLED));
    else show(scene, stream, run, run.matrix, INVISIBLE);
    strokeOutlines(scene, stream, run, stroke);
  }
}

function boldStroke(run: GlyphRun): Stroke | undefined {
  return run.fill && run.emboldenMm > 0 ? { ...BOLD_PEN, paint: run.fill, widthMm: run.emboldenMm } : undefined;
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
function canShowStroke(run: GlyphRun, stroke: Stroke): boolean {
  if (stroke.paint.kind !== 'solid') return false;
  return !run.fill || (isOpaque(stroke.paint) && run.blendMode === 'normal' && !needsMask(run.fill));
}

function drawStroked(scene: Scene, stream: ContentStream, run: GlyphRun, stroke: Stroke): void {
  withRunPaint(scene, stream, run, stroke.paint, 'stroke', () => {
    const showWith = (mode: TextMode): void =>
      withPen(stream, stroke, run.matrix, (matrix) => show(scene, stream, run, matrix, mode));
    if (run.fill) withRunPaint(scene, stream, run, run.fill, 'fill', () => showWith(FILLED_AND_STROKED));
    else showWith(STROKED);
  });
}

/** The pen drawn along the outlines as paths. */
function strokeOutlines(scene: Scene, stream: ContentStream, run: GlyphRun, stroke: Stroke): void {
  const outlines = outlinesOf(run);
  if (outlines.isEmpty) return;
  withRunPaint(scene, stream, run, stroke.paint, 'stroke', () =>
    withPen(stream, stroke, run.matrix, (matrix) =>
      stream.write(`${pathOperators(outlines, matrix, stream.decimals)}S\n`),
    ),
  );
}

/** All outlines in the space of the run. */
function outlinesOf(run: GlyphRun): Path {
  const path = new Path();
  const scale = run.sizeMm / run.face.unitsPerEm;
  const [a, b, c, d] = run.shape;
  for (const [i, glyphId] of run.glyphIds.entries()) {
    const x = scale * (run.xScale?.[i] ?? 1);
    path.addPath(run.face.outline(glyphId), [a * x, b * x, -c * scale, -d * scale, run.x[i]!, run.y[i]!]);
  }
  return path;
}

function withRunPaint(
  scene: Scene,
  stream: ContentStream,
  run: GlyphRun,
  paint: Paint,
  role: PaintRole,
  draw: () => void,
): void {
  withPaint(scene, stream, paint, role, needsMask(paint) ? boundsOfItem(run) : undefined, draw);
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
