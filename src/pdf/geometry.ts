/** From the space of a PDF page (points, y up, not turned) to the display list's (millimetres, y down, as it is seen). */
import { type Box, type Matrix, transformBox } from '../display/geometry.js';
import { POINTS_PER_MM } from '../display/units.js';

export interface PageFrame {
  readonly widthMm: number;
  readonly heightMm: number;
  /** Page space → display list. */
  readonly toPage: Matrix;
}

/**
 * @param bounds left, bottom, right, top of what is seen, in points
 * @param turns quarter turns clockwise
 */
export function pageFrame(bounds: readonly [number, number, number, number], turns: number): PageFrame {
  const [left, bottom, right, top] = bounds;
  const k = 1 / POINTS_PER_MM;
  const width = (right - left) * k;
  const height = (top - bottom) * k;
  const isAcross = turns % 2 === 1;
  return {
    widthMm: isAcross ? height : width,
    heightMm: isAcross ? width : height,
    toPage: (
      [
        [k, 0, 0, -k, -left * k, top * k],
        [0, k, k, 0, -bottom * k, -left * k],
        [-k, 0, 0, k, right * k, -bottom * k],
        [0, -k, -k, 0, top * k, right * k],
      ] as const satisfies readonly Matrix[]
    )[turns & 3]!,
  };
}

/** The box of a rectangle whose corners come in any order, on the page. */
export function boxOnPage(frame: PageFrame, x1: number, y1: number, x2: number, y2: number): Box {
  const box = { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
  return transformBox(frame.toPage, box);
}
