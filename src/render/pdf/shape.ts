/** Path items: filled and stroked under their matrix, with pens that an uneven matrix squeezes. */
import { IDENTITY, invert, type Matrix, meanScale, type Path } from '../../display/geometry.js';
import type { PathItem } from '../../display/list.js';
import type { Paint, Stroke } from '../../display/paint.js';
import { itemBounds } from '../bounds.js';
import type { ContentStream } from './content.js';
import { keepsPenRound, pathOperators } from './geometry.js';
import { isOpaque, needsMask, selectPaint, visiblePaint, withPaint } from './paint.js';
import type { Scene } from './scene.js';

/** A stroke but for its paint. */
export type Pen = Omit<Stroke, 'paint'>;

const CAPS = { butt: 0, round: 1, square: 2 } as const;
const JOINS = { miter: 0, round: 1, bevel: 2 } as const;

export function drawPath(scene: Scene, stream: ContentStream, item: PathItem): void {
  const fill = visiblePaint(item.fill?.paint);
  const strokePaint = visiblePaint(item.stroke?.paint);
  const stroke = item.stroke && strokePaint && { ...item.stroke, paint: strokePaint };
  const rule = item.fill?.rule === 'evenodd' ? '*' : '';
  const outline = fill || stroke ? pathOperators(item.path, item.matrix, stream.decimals) : '';
  if (outline === '') return;
  if (fill && stroke && canPaintTogether(item, fill, stroke.paint)) {
    selectPaint(scene, stream, fill, 'fill');
    selectPaint(scene, stream, stroke.paint, 'stroke');
    setPen(stream, stroke, meanScale(item.matrix));
    stream.write(`${outline}B${rule}\n`);
    return;
  }
  if (fill) {
    const bounds = needsMask(fill) ? itemBounds(item) : undefined;
    withPaint(scene, stream, fill, 'fill', bounds, (target) => target.write(`${outline}f${rule}\n`));
  }
  if (stroke) {
    const bounds = needsMask(stroke.paint) ? itemBounds(item) : undefined;
    withPaint(scene, stream, stroke.paint, 'stroke', bounds, (target) =>
      strokePath(target, item.path, item.matrix, stroke),
    );
  }
}

/** Draws the line of `path` with the colour in force. */
export function strokePath(stream: ContentStream, path: Path, matrix: Matrix, pen: Pen): void {
  withPen(stream, pen, matrix, (toCurrent) => stream.write(`${pathOperators(path, toCurrent, stream.decimals)}S\n`));
}

/**
 * Sets the pen so that `draw` may stroke with it under the matrix that it gets: `matrix` itself where the pen stays
 * round under it (it is scaled then) or is flattened to a hairline, the identity where the stream's space was changed.
 */
export function withPen(stream: ContentStream, pen: Pen, matrix: Matrix, draw: (matrix: Matrix) => void): void {
  if (keepsPenRound(matrix) || !invert(matrix)) {
    setPen(stream, pen, meanScale(matrix));
    draw(matrix);
    return;
  }
  stream.save();
  stream.concat(matrix);
  setPen(stream, pen, 1);
  draw(IDENTITY);
  stream.restore();
}

function setPen(stream: ContentStream, pen: Pen, scale: number): void {
  stream.setLineWidth(pen.widthMm * scale);
  stream.setLineCap(CAPS[pen.cap]);
  stream.setLineJoin(JOINS[pen.join]);
  if (pen.join === 'miter') stream.setMiterLimit(pen.miterLimit);
  const dash = scale > 0 ? pen.dash.map((length) => length * scale) : [];
  stream.setDash(dash, dash.length > 0 ? pen.dashOffset * scale : 0);
}

/** PDF's combined operator hides the fill below the stroke, so it serves only where nothing shows through. */
function canPaintTogether(item: PathItem, fill: Paint, stroke: Paint): boolean {
  const isPlain = item.blendMode === 'normal' && isOpaque(stroke) && !needsMask(fill) && !needsMask(stroke);
  return isPlain && keepsPenRound(item.matrix);
}
