/** Elliptical arcs to cubic curves. */
import type { Path } from '../../display/geometry.js';

export interface Arc {
  /** Where the path stands. */
  readonly x0: number;
  readonly y0: number;
  readonly rx: number;
  readonly ry: number;
  /** Turn of the ellipse in degrees, clockwise on the page. */
  readonly angle: number;
  readonly isLarge: boolean;
  readonly isClockwise: boolean;
  readonly x: number;
  readonly y: number;
}

/**
 * Appends an arc to `path`, which stands at its start. A radius of 0 gives a straight line; radii too small for the
 * distance grow as far as they must (format reference 5.2).
 */
export function arcTo(path: Path, arc: Arc): void {
  let rx = Math.abs(arc.rx);
  let ry = Math.abs(arc.ry);
  if (rx === 0 || ry === 0) {
    path.lineTo(arc.x, arc.y);
    return;
  }
  const phi = ((arc.angle % 360) * Math.PI) / 180;
  const cos = Math.cos(phi);
  const sin = Math.sin(phi);
  const dx = (arc.x0 - arc.x) / 2;
  const dy = (arc.y0 - arc.y) / 2;
  const x1 = cos * dx + sin * dy;
  const y1 = cos * dy - sin * dx;
  const stretch = (x1 / rx) ** 2 + (y1 / ry) ** 2;
  if (stretch > 1) {
    rx *= Math.sqrt(stretch);
    ry *= Math.sqrt(stretch);
  }
  const spread = (rx * y1) ** 2 + (ry * x1) ** 2;
  const distance = Math.sqrt(Math.max(0, ((rx * ry) ** 2 - spread) / spread));
  const side = arc.isLarge === arc.isClockwise ? -distance : distance;
  const cx1 = (side * rx * y1) / ry;
  const cy1 = (-side * ry * x1) / rx;
  const from = Math.atan2((y1 - cy1) / ry, (x1 - cx1) / rx);
  let sweep = Math.atan2((-y1 - cy1) / ry, (-x1 - cx1) / rx) - from;
  if (arc.isClockwise && sweep < 0) sweep += 2 * Math.PI;
  if (!arc.isClockwise && sweep > 0) sweep -= 2 * Math.PI;
  const center = {
    x: cos * cx1 - sin * cy1 + (arc.x0 + arc.x) / 2,
    y: sin * cx1 + cos * cy1 + (arc.y0 + arc.y) / 2,
  };
  appendSegments(path, arc, { rx, ry, cos, sin, ...center }, from, sweep);
}

interface Ellipse {
  readonly x: number;
  readonly y: number;
  readonly rx: number;
  readonly ry: number;
  readonly cos: number;
  readonly sin: number;
}

/** One curve for each quarter at most; the last ends exactly where the arc does. */
function appendSegments(path: Path, arc: Arc, ellipse: Ellipse, from: number, sweep: number): void {
  const count = Math.max(1, Math.ceil(Math.abs(sweep) / (Math.PI / 2) - 1e-9));
  const step = sweep / count;
  const reach = (4 / 3) * Math.tan(step / 4);
  for (let i = 0; i < count; i++) {
    const start = onEllipse(ellipse, from + i * step);
    const end = onEllipse(ellipse, from + (i + 1) * step);
    const isLast = i === count - 1;
    path.cubicTo(
      start.x + reach * start.dx,
      start.y + reach * start.dy,
      end.x - reach * end.dx,
      end.y - reach * end.dy,
      isLast ? arc.x : end.x,
      isLast ? arc.y : end.y,
    );
  }
}

/** Point and derivative at a parameter. */
function onEllipse(
  { x, y, rx, ry, cos, sin }: Ellipse,
  theta: number,
): { x: number; y: number; dx: number; dy: number } {
  const c = Math.cos(theta);
  const s = Math.sin(theta);
  return {
    x: x + rx * c * cos - ry * s * sin,
    y: y + rx * c * sin + ry * s * cos,
    dx: -rx * s * cos - ry * c * sin,
    dy: -rx * s * sin + ry * c * cos,
  };
}
