/** Glyph runs: one text object each, whose codes lead to the outlines and, through the font's map, to the characters. */
import { invert, type Matrix } from '../../display/geometry.js';
import type { GlyphRun } from '../../display/list.js';
import type { Paint, Stroke } from '../../display/paint.js';
import { boundsOfItem } from './bounds.js';
import type { ContentStream } from './content.js';
import { needsMask, type PaintRole, withPaint } from './paint.js';
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
  const isVisible = invert(run.matrix) !== undefined && invert(shapeMatrix(run)) !== undefined;
  const stroke = run.stroke ?? boldStroke(run);
  if (!isVisible || (!fill && !stroke)) {
    drawInvisible(scene, stream, run, isVisible);
  } else if (!stroke) {
    paintRun(scene, stream, run, fill!, 'fill', () => show(scene, stream, run, run.matrix, FILLED));
  } else if (!fill) {
    paintRun(scene, stream, run, stroke.paint, 'stroke', () => showWithPen(scene, stream, run, stroke, STROKED));
  } else {
    paintRun(scene, stream, run, fill, 'fill', () =>
      paintRun(scene, stream, run, stroke.paint, 'stroke', () =>
        showWithPen(scene, stream, run, stroke, FILLED_AND_STROKED),
      ),
    );
  }
}

function boldStroke(run: GlyphRun): Stroke | undefined {
  return run.fill && run.emboldenMm > 0 ? { ...BOLD_PEN, paint: run.fill, widthMm: run.emboldenMm } : undefined;
}

function paintRun(
  scene: Scene,
  stream: ContentStream,
  run: GlyphRun,
  paint: Paint,
  role: PaintRole,
  draw: () => void,
): void {
  withPaint(scene, stream, paint, role, needsMask(paint) ? boundsOfItem(run) : undefined, draw);
}

function showWithPen(scene: Scene, stream: ContentStream, run: GlyphRun, stroke: Stroke, mode: TextMode): void {
  withPen(stream, stroke, run.matrix, (matrix) => show(scene, stream, run, matrix, mode));
}

function show(scene: Scene, stream: ContentStream, run: GlyphRun, matrix: Matrix, mode: TextMode): void {
  stream.setTextMode(mode);
  writeTextObject(stream, run, scene.fonts.codesOf(run.face), matrix, shapeMatrix(run));
}

/** Text to be found, not seen. Where a matrix flattens it, it lies upright at its place, so that readers can place it. */
function drawInvisible(scene: Scene, stream: ContentStream, run: GlyphRun, isUpright: boolean): void {
  if (isUpright) {
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
