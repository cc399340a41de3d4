/** Numbers, boxes and colours as the JSON has them: millimetres to a micrometre, angles to a hundredth of a degree. */
import type { Box, Matrix } from '../../display/geometry.js';
import type { Color } from '../../display/paint.js';

export interface JsonBox {
  readonly x_mm: number;
  readonly y_mm: number;
  readonly width_mm: number;
  readonly height_mm: number;
}

export function mm(value: number): number {
  return rounded(value, 3);
}

/** Never minus nought. */
export function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals)) + 0;
}

export function jsonBox(box: Box): JsonBox {
  return { x_mm: mm(box.x), y_mm: mm(box.y), width_mm: mm(box.width), height_mm: mm(box.height) };
}

/** From 0 up to 360. */
export function angle(degrees: number): number {
  const turned = rounded(((degrees % 360) + 360) % 360, 2);
  return turned === 360 ? 0 : turned;
}

export function jsonMatrix(matrix: Matrix): readonly number[] {
  return matrix.map((value) => rounded(value, 6));
}

/** `#rrggbb`. */
export function jsonColor(color: Color): string {
  return `#${color.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;
}

/** The object without what is undefined. */
export function given<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
