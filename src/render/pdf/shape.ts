/** Path items: filled and stroked under their matrix, with pens that an uneven matrix squeezes. */
import { IDENTITY, invert, type Matrix, meanScale } from '../../display/geometry.js';
import type { PathItem } from '../../display/list.js';
import type { Stroke } from '../../display/paint.js';
import { boundsOfItem } from './bounds.js';
import type { ContentStream } from './content.js';
import { keepsPenRound, pathOperators } from './geometry.js';
import { isOpaque, needsMask, selectPaint, withPaint } from './paint.js';
import type { Scene } from './scene.js';

const CAPS = { butt: 0, round: 1, square: 2 } as const;
const JOINS = { miter: 0, round: 1, bevel: 2 } as const;

export function drawPath(scene: Scene, stream: ContentStream, item: PathItem): void {
  const { fill, stroke } = item;
  const canStroke = stroke !== undefined && invert(item.matrix) !== undefined;
  const isRound = keepsPenRound(item.matrix);
  const outline = (): string => pathOperators(item.path, item.matrix, stream.decimals);
  const bounds = fill || stroke ? boundsIfNeeded(item) : undefined;
  const paintFill = fill?.rule === 'evenodd' ? 'f*' : 'f';

  if (fill && canStroke && isRound && canPaintTogether(item)) {
    selectPaint(scene, stream, fill.paint, 'fill');
    selectPaint(scene, stream, stroke.paint, 'stroke');
    setPen(stream, stroke, meanScale(item.matrix));
    stream.write(`${outline()}${fill.rule === 'evenodd' ? 'B*' : 'B'}\n`);
    return;
  }
  if (fill) {
    const operators = outline();
    if (operators === '') return;
    withPaint(scene, stream, fill.paint, 'fill', bounds, () => stream.write(`${operators}${paintFill}\n`));
  }
  if (!canStroke) return;
  withPaint(scene, stream, stroke.paint, 'stroke', bounds, () => {
    withPen(stream, stroke, item.matrix, (matrix) => {
      stream.write(`${pathOperators(item.path, matrix, stream.decimals)}S\n`);
    });
  });
}

/**
 * Sets the pen so that `draw` may stroke with it under the matrix that it gets: `matrix` itself where the pen stays
 * round under it (it is scaled then), the identity where the stream's space was changed.
 */
export function withPen(
  stream: ContentStream,
  stroke: Omit<Stroke, 'paint'>,
  matrix: Matrix,
  draw: (matrix: Matrix) => void,
): void {
  if (keepsPenRound(matrix)) {
    setPen(stream, stroke, meanScale(matrix));
    draw(matrix);
    return;
  }
  stream.save();
  stream.concat(matrix);
  setPen(stream, stroke, 1);
  draw(IDENTITY);
  stream.restore();
}

function setPen(stream: ContentStream, stroke: Omit<Stroke, 'paint'>, scale: number): void {
  stream.setLineWidth(stroke.widthMm * scale);
  stream.setLineCap(CAPS[stroke.cap]);
  stream.setLineJoin(JOINS[stroke.join]);
  if (stroke.join === 'miter') stream.setMiterLimit(stroke.miterLimit);
  const dash = stroke.dash.map((length) => length * scale);
  stream.setDash(dash, dash.length > 0 ? stroke.dashOffset * scale : 0);
}

/** PDF's combined operator hides the fill below the stroke, so it serves only where nothing shows through. */
function canPaintTogether(item: PathItem): boolean {
  const { fill, stroke, blendMode } = item;
  if (!fill || !stroke || blendMode !== 'normal') return false;
  return isOpaque(stroke.paint) && !needsMask(fill.paint) && !needsMask(stroke.paint) && !item.path.isEmpty;
}

function boundsIfNeeded(item: PathItem): ReturnType<typeof boundsOfItem> {
  const isNeeded = (item.fill && needsMask(item.fill.paint)) || (item.stroke && needsMask(item.stroke.paint));
  return isNeeded ? boundsOfItem(item) : undefined;
}
