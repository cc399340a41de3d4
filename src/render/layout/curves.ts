/** Finds letters set along a curve, each at a slant of its own: round a seal, on an arc (spec 16.1). */
import type { Fragment } from './fragment.js';
import { type Row, toRow } from './rows.js';

/** Neighbours on a curve stand at most this many sizes apart and turn at most this much. */
const MAX_DISTANCE = 1.6;
const MAX_TURN_DEGREES = 60;
/** A curve has at least this many letters, and as many slants. */
const MIN_LETTERS = 3;

export interface Curves {
  /** One row a curve, its letters in reading order. */
  readonly curves: readonly Row[];
  readonly rest: readonly Fragment[];
}

/** Chains that may still grow: letters of two curves are sometimes painted by turns. */
const OPEN_CHAINS = 8;

/** Letters that follow each other along a curve, from whichever end they were painted, become one row. */
export function takeCurves(fragments: readonly Fragment[]): Curves {
  const chains: Fragment[][] = [];
  for (const fragment of fragments) {
    const join = nearestJoin(chains.slice(-OPEN_CHAINS), fragment);
    if (join === undefined) chains.push([fragment]);
    else if (join.isAtEnd) join.chain.push(fragment);
    else join.chain.unshift(fragment);
  }
  const rest = chains.filter((chain) => !isCurve(chain)).flat();
  return { curves: chains.filter(isCurve).map(toRow), rest: rest.sort((a, b) => a.order - b.order) };
}

function isCurve(chain: readonly Fragment[]): boolean {
  return chain.length >= MIN_LETTERS && new Set(chain.map((fragment) => fragment.angle)).size >= MIN_LETTERS;
}

interface Join {
  readonly chain: Fragment[];
  readonly isAtEnd: boolean;
}

function nearestJoin(chains: readonly Fragment[][], fragment: Fragment): Join | undefined {
  let best: Join | undefined;
  let bestDistance = MAX_DISTANCE * fragment.sizeMm;
  for (const chain of chains) {
    for (const isAtEnd of [true, false]) {
      const neighbour = isAtEnd ? chain.at(-1)! : chain[0]!;
      if (!canNeighbour(neighbour, fragment)) continue;
      const gap = isAtEnd
        ? distance(neighbour, 'end', fragment, 'start')
        : distance(neighbour, 'start', fragment, 'end');
      if (gap >= bestDistance) continue;
      best = { chain, isAtEnd };
      bestDistance = gap;
    }
  }
  return best;
}

function canNeighbour(a: Fragment, b: Fragment): boolean {
  const turn = Math.abs(a.angle - b.angle);
  const isSameSize = Math.abs(a.sizeMm - b.sizeMm) <= 0.2 * a.sizeMm;
  return isSameSize && a.letters.length <= 2 && b.letters.length <= 2 && Math.min(turn, 360 - turn) <= MAX_TURN_DEGREES;
}

function distance(a: Fragment, aSide: 'start' | 'end', b: Fragment, bSide: 'start' | 'end'): number {
  const from = pointOnPage(a, aSide);
  const to = pointOnPage(b, bSide);
  return Math.hypot(from.x - to.x, from.y - to.y);
}

function pointOnPage(fragment: Fragment, side: 'start' | 'end'): { x: number; y: number } {
  const x = side === 'start' ? fragment.left : fragment.right;
  const y = side === 'start' ? fragment.baseline : fragment.lastBaseline;
  const radians = (fragment.angle * Math.PI) / 180;
  const cos = Math.cos(radians);
  const sin = Math.sin(radians);
  return { x: x * cos - y * sin, y: x * sin + y * cos };
}
