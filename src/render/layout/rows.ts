/** Puts fragments that stand side by side into rows (spec 16.2). */
import type { Fragment } from './fragment.js';

/** Fragments from left to right on one baseline, more or less. */
export interface Row {
  readonly fragments: readonly Fragment[];
  readonly baseline: number;
  /** What the row is sorted by from top to bottom. */
  readonly top: number;
  readonly left: number;
  readonly right: number;
  /** The size that most of its letters have. */
  readonly sizeMm: number;
  readonly isVertical: boolean;
  readonly isBold: boolean;
}

/** Open rows looked at for each fragment: more never lie within one line's height. */
const LOOK_BACK = 40;

/** Columns of one vertical text begin at most so many sizes apart. */
const COLUMN_STEP = 2.5;

const HALF_EMPTY = /[：；，、。！？）］｝》」』】〉〕]$/u;

interface OpenRow {
  fragments: Fragment[];
  /** Mean over letters. */
  baseline: number;
  letterCount: number;
  maxSizeMm: number;
}

/** Rows of fragments that share a frame, from top to bottom. Vertical fragments become rows of their own. */
export function buildRows(fragments: readonly Fragment[]): Row[] {
  const level = fragments.filter((fragment) => !fragment.isVertical);
  const sorted = level.sort((a, b) => a.baseline - b.baseline || a.left - b.left || a.order - b.order);
  const open: OpenRow[] = [];
  for (const fragment of sorted) {
    const row = findRow(open, fragment);
    if (row === undefined) open.push(newRow(fragment));
    else join(row, fragment);
  }
  const vertical = fragments.filter((fragment) => fragment.isVertical).map((fragment) => toRow([fragment]));
  const rows = [...open.map((row) => toRow(row.fragments)), ...vertical];
  return withColumnsTurned(rows.sort((a, b) => a.top - b.top || a.left - b.left));
}

/** Columns of vertical text side by side are read from right to left. `rows`: from top to bottom. */
function withColumnsTurned(rows: readonly Row[]): Row[] {
  const turned: Row[] = [];
  for (let from = 0; from < rows.length; ) {
    let to = from + 1;
    while (to < rows.length && areColumns(rows[to - 1]!, rows[to]!)) to++;
    turned.push(...rows.slice(from, to).reverse());
    from = to;
  }
  return turned;
}

/** Whether both begin at one height, the second at most a column's width to the right of the first. */
function areColumns(a: Row, b: Row): boolean {
  if (!a.isVertical || !b.isVertical || Math.abs(a.top - b.top) > 0.1 * a.sizeMm) return false;
  const step = b.left - a.left;
  return step > 0 && step <= COLUMN_STEP * Math.max(a.sizeMm, b.sizeMm);
}

function newRow(fragment: Fragment): OpenRow {
  return {
    fragments: [fragment],
    baseline: fragment.baseline,
    letterCount: fragment.letters.length,
    maxSizeMm: fragment.sizeMm,
  };
}

function findRow(open: readonly OpenRow[], fragment: Fragment): OpenRow | undefined {
  let best: OpenRow | undefined;
  let bestDistance = Infinity;
  for (let i = open.length - 1; i >= Math.max(0, open.length - LOOK_BACK); i--) {
    const row = open[i]!;
    const distance = Math.abs(fragment.baseline - row.baseline);
    if (distance < bestDistance && fits(row, fragment, distance)) {
      best = row;
      bestDistance = distance;
    }
  }
  return best;
}

/** Near enough in height for its size, and not over letters that are there already. */
function fits(row: OpenRow, fragment: Fragment, distance: number): boolean {
  const larger = Math.max(row.maxSizeMm, fragment.sizeMm);
  if (distance > 0.5 * larger) return false;
  const at = insertionPoint(row.fragments, fragment);
  const before = row.fragments[at - 1];
  const after = row.fragments[at];
  const gapBefore = before === undefined ? Infinity : fragment.left - inkRight(before);
  const gapAfter = after === undefined ? Infinity : after.left - inkRight(fragment);
  // Full-width signs are often squeezed by half: on one and the same baseline the next letter may stand in their cell.
  const share = distance <= 0.1 * fragment.sizeMm ? 0.6 : 0.3;
  const overlap = share * Math.min(fragment.sizeMm, before?.sizeMm ?? Infinity, after?.sizeMm ?? Infinity);
  if (Math.min(gapBefore, gapAfter) < -overlap) return false;
  // A raised or lowered letter of another size must touch its neighbour; else the smaller size decides.
  const neighbour = gapBefore <= gapAfter ? before : after;
  const smaller = Math.min(neighbour?.sizeMm ?? larger, fragment.sizeMm);
  return distance <= 0.5 * smaller || Math.min(gapBefore, gapAfter) <= 0.5 * larger;
}

/** The right half of a full-width sign at the end is empty: what comes next may stand in it. */
function inkRight({ letters, right, sizeMm }: Fragment): number {
  const last = letters.at(-1)!;
  const isHalfEmpty = HALF_EMPTY.test(last.text) && last.right - last.x > 0.8 * sizeMm;
  return isHalfEmpty ? Math.max(last.x, right - 0.5 * sizeMm) : right;
}

function insertionPoint(fragments: readonly Fragment[], fragment: Fragment): number {
  let low = 0;
  let high = fragments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(fragments[middle]!, fragment)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(a: Fragment, b: Fragment): boolean {
  return a.left < b.left || (a.left === b.left && a.order < b.order);
}

function join(row: OpenRow, fragment: Fragment): void {
  row.fragments.splice(insertionPoint(row.fragments, fragment), 0, fragment);
  const count = row.letterCount + fragment.letters.length;
  row.baseline += ((fragment.baseline - row.baseline) * fragment.letters.length) / count;
  row.letterCount = count;
  row.maxSizeMm = Math.max(row.maxSizeMm, fragment.sizeMm);
}

/** A row of fragments that stand in order already; at least one. */
export function toRow(fragments: readonly Fragment[]): Row {
  const main = fragments.reduce((most, f) => (f.letters.length > most.letters.length ? f : most));
  const sizeMm = commonSize(fragments);
  const isVertical = main.isVertical;
  return {
    fragments,
    baseline: main.baseline,
    top: isVertical ? main.baseline - sizeMm : main.baseline,
    left: fragments.reduce((least, f) => Math.min(least, f.left), Infinity),
    right: fragments.reduce((most, f) => Math.max(most, f.right), -Infinity),
    sizeMm,
    isVertical,
    isBold: fragments.every((f) => f.isBold),
  };
}

function commonSize(fragments: readonly Fragment[]): number {
  const counts = new Map<number, number>();
  for (const f of fragments) counts.set(f.sizeMm, (counts.get(f.sizeMm) ?? 0) + f.letters.length);
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0];
}
