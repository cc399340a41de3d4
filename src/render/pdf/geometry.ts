/** Path construction and clipping operators. */
import { CLOSE, CUBIC, LINE, type Matrix, MOVE, type Path, QUAD } from '../../display/geometry.js';
import type { Clip } from '../../display/list.js';
import { formatNumber } from './number.js';

/** Construction operators of `path` under `m`, ending with a line feed; empty for a path that draws nothing. */
export function pathOperators(path: Path, m: Matrix, decimals: number): string {
  return rectangleOperator(path, m, decimals) ?? segmentOperators(path, m, decimals);
}

/** Operators that narrow the clip to all of `clips`; undefined where one of them leaves nothing. */
export function clipOperators(clips: readonly Clip[], m: Matrix, decimals: number): string | undefined {
  let operators = '';
  for (const { path, rule } of clips) {
    const construction = pathOperators(path, m, decimals);
    if (construction === '') return undefined;
    operators += `${construction}${rule === 'evenodd' ? 'W*' : 'W'} n\n`;
  }
  return operators;
}

/**
 * Whether `m` maps circles to circles, so that a pen may be scaled instead of being drawn under the matrix.
 */
export function keepsPenRound(m: Matrix): boolean {
  const [a, b, c, d] = m;
  const size = a * a + b * b + c * c + d * d;
  return Math.abs(a * a + b * b - c * c - d * d) <= size * 1e-6 && Math.abs(a * c + b * d) <= size * 1e-6;
}

/** A closed rectangle that begins with a horizontal side, which is how `re` runs. */
function rectangleOperator(path: Path, m: Matrix, decimals: number): string | undefined {
  const { verbs, coordinates: p } = path;
  const isFourSided =
    verbs.length === 5 &&
    verbs[0] === MOVE &&
    verbs[1] === LINE &&
    verbs[2] === LINE &&
    verbs[3] === LINE &&
    verbs[4] === CLOSE;
  if (!isFourSided || m[1] !== 0 || m[2] !== 0) return undefined;
  if (p[3] !== p[1] || p[4] !== p[2] || p[6] !== p[0] || p[7] !== p[5]) return undefined;
  const power = 10 ** decimals;
  const place = (value: number): number => Math.round(value * power) / power;
  const x = place(m[0] * p[0]! + m[4]);
  const y = place(m[3] * p[1]! + m[5]);
  const width = place(m[0] * p[4]! + m[4]) - x;
  const height = place(m[3] * p[5]! + m[5]) - y;
  return `${[x, y, width, height].map((value) => formatNumber(value, decimals)).join(' ')} re\n`;
}

function segmentOperators(path: Path, m: Matrix, decimals: number): string {
  const { verbs, coordinates: p } = path;
  const x = (i: number): number => m[0] * p[i]! + m[2] * p[i + 1]! + m[4];
  const y = (i: number): number => m[1] * p[i]! + m[3] * p[i + 1]! + m[5];
  const point = (px: number, py: number): string => `${formatNumber(px, decimals)} ${formatNumber(py, decimals)}`;
  let operators = '';
  let at = 0;
  let currentX = 0;
  let currentY = 0;
  let startX = 0;
  let startY = 0;
  /** A segment after a close starts where the closed figure did; PDF wants the move only where no figure was begun. */
  let isBegun = false;
  for (const verb of verbs) {
    if (verb !== MOVE && verb !== CLOSE && !isBegun) {
      operators += `${point(x(at), y(at))} m\n`;
      startX = currentX = x(at);
      startY = currentY = y(at);
      isBegun = true;
    }
    switch (verb) {
      case MOVE:
        startX = currentX = x(at);
        startY = currentY = y(at);
        operators += `${point(currentX, currentY)} m\n`;
        isBegun = true;
        at += 2;
        break;
      case LINE:
        currentX = x(at);
        currentY = y(at);
        operators += `${point(currentX, currentY)} l\n`;
        at += 2;
        break;
      case QUAD: {
        const qx = x(at);
        const qy = y(at);
        const ex = x(at + 2);
        const ey = y(at + 2);
        const first = point(currentX + (2 / 3) * (qx - currentX), currentY + (2 / 3) * (qy - currentY));
        const second = point(ex + (2 / 3) * (qx - ex), ey + (2 / 3) * (qy - ey));
        operators += `${first} ${second} ${point(ex, ey)} c\n`;
        currentX = ex;
        currentY = ey;
        at += 4;
        break;
      }
      case CUBIC:
        currentX = x(at + 4);
        currentY = y(at + 4);
        operators += `${point(x(at), y(at))} ${point(x(at + 2), y(at + 2))} ${point(currentX, currentY)} c\n`;
        at += 6;
        break;
      case CLOSE:
        if (isBegun) operators += 'h\n';
        currentX = startX;
        currentY = startY;
        break;
    }
  }
  return operators;
}
