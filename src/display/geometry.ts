/**
 * Points, boxes, matrices and paths. Lengths are millimetres, y grows downwards, unless a caller says otherwise
 * (glyph outlines are in font units with y up).
 */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** `[a b c d e f]`: x' = a·x + c·y + e, y' = b·x + d·y + f (the order of OFD, PDF, SVG and Canvas). */
export type Matrix = readonly [number, number, number, number, number, number];

export const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

export function translation(x: number, y: number): Matrix {
  return [1, 0, 0, 1, x, y];
}

export function isIdentity(m: Matrix): boolean {
  return m[0] === 1 && m[1] === 0 && m[2] === 0 && m[3] === 1 && m[4] === 0 && m[5] === 0;
}

/** The matrix that applies `inner` first and `outer` second. */
export function multiply(outer: Matrix, inner: Matrix): Matrix {
  const [a, b, c, d, e, f] = outer;
  const [g, h, i, j, k, l] = inner;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** The inverse, or undefined where the matrix flattens the plane. */
export function invert(m: Matrix): Matrix | undefined {
  const determinant = m[0] * m[3] - m[1] * m[2];
  if (!Number.isFinite(determinant) || Math.abs(determinant) < 1e-18) return undefined;
  const a = m[3] / determinant;
  const b = -m[1] / determinant;
  const c = -m[2] / determinant;
  const d = m[0] / determinant;
  return [a, b, c, d, -(a * m[4] + c * m[5]), -(b * m[4] + d * m[5])];
}

export function transformPoint(m: Matrix, x: number, y: number): Point {
  return { x: m[0] * x + m[2] * y + m[4], y: m[1] * x + m[3] * y + m[5] };
}

/** The scale of a length under `m`: the square root of |determinant|. */
export function meanScale(m: Matrix): number {
  return Math.sqrt(Math.abs(m[0] * m[3] - m[1] * m[2]));
}

/** The axis-parallel box around the image of `box`. */
export function transformBox(m: Matrix, box: Box): Box {
  const { x, y, width, height } = box;
  return boundsOfPoints([
    transformPoint(m, x, y),
    transformPoint(m, x + width, y),
    transformPoint(m, x, y + height),
    transformPoint(m, x + width, y + height),
  ]);
}

function boundsOfPoints(points: readonly Point[]): Box {
  let minX = Infinity;
  let minY = Infinity;
  let maxX = -Infinity;
  let maxY = -Infinity;
  for (const p of points) {
    minX = Math.min(minX, p.x);
    minY = Math.min(minY, p.y);
    maxX = Math.max(maxX, p.x);
    maxY = Math.max(maxY, p.y);
  }
  return { x: minX, y: minY, width: maxX - minX, height: maxY - minY };
}

/** The common part of two boxes, or undefined where there is none. */
export function intersectBoxes(a: Box, b: Box): Box | undefined {
  const x = Math.max(a.x, b.x);
  const y = Math.max(a.y, b.y);
  const right = Math.min(a.x + a.width, b.x + b.width);
  const bottom = Math.min(a.y + a.height, b.y + b.height);
  return right >= x && bottom >= y ? { x, y, width: right - x, height: bottom - y } : undefined;
}

export function growBox(box: Box, by: number): Box {
  return { x: box.x - by, y: box.y - by, width: box.width + 2 * by, height: box.height + 2 * by };
}

/** What a path's verb does; the comment gives how many coordinates it takes from `coordinates`. */
export const MOVE = 0; // x y
export const LINE = 1; // x y
export const QUAD = 2; // x1 y1 x y
export const CUBIC = 3; // x1 y1 x2 y2 x y
export const CLOSE = 4; // none
export const COORDINATES_OF_VERB = [2, 2, 4, 6, 0] as const;

/** Absolute segments in two flat lists: one verb a segment, and the coordinates of all verbs in order. */
export class Path {
  readonly verbs: number[] = [];
  readonly coordinates: number[] = [];

  get isEmpty(): boolean {
    return this.verbs.length === 0;
  }

  moveTo(x: number, y: number): void {
    this.verbs.push(MOVE);
    this.coordinates.push(x, y);
  }

  lineTo(x: number, y: number): void {
    this.verbs.push(LINE);
    this.coordinates.push(x, y);
  }

  quadTo(x1: number, y1: number, x: number, y: number): void {
    this.verbs.push(QUAD);
    this.coordinates.push(x1, y1, x, y);
  }

  cubicTo(x1: number, y1: number, x2: number, y2: number, x: number, y: number): void {
    this.verbs.push(CUBIC);
    this.coordinates.push(x1, y1, x2, y2, x, y);
  }

  close(): void {
    this.verbs.push(CLOSE);
  }

  /** Appends all of `other`, moved by `m`. */
  addPath(other: Path, m: Matrix = IDENTITY): void {
    for (const verb of other.verbs) this.verbs.push(verb);
    const from = other.coordinates;
    for (let i = 0; i + 1 < from.length; i += 2) {
      const x = from[i]!;
      const y = from[i + 1]!;
      this.coordinates.push(m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]);
    }
  }

  transformed(m: Matrix): Path {
    const path = new Path();
    path.addPath(this, m);
    return path;
  }

  /** The box around all end and control points, or undefined for a path without any. */
  controlBounds(): Box | undefined {
    const c = this.coordinates;
    if (c.length < 2) return undefined;
    let minX = Infinity;
    let minY = Infinity;
    let maxX = -Infinity;
    let maxY = -Infinity;
    for (let i = 0; i + 1 < c.length; i += 2) {
      const x = c[i]!;
      const y = c[i + 1]!;
      if (x < minX) minX = x;
      if (x > maxX) maxX = x;
      if (y < minY) minY = y;
      if (y > maxY) maxY = y;
    }
    return { x: minX, y: minY, width: maxX - minX, height: maxY - minY };
  }
}

export function rectanglePath(box: Box): Path {
  const path = new Path();
  path.moveTo(box.x, box.y);
  path.lineTo(box.x + box.width, box.y);
  path.lineTo(box.x + box.width, box.y + box.height);
  path.lineTo(box.x, box.y + box.height);
  path.close();
  return path;
}
