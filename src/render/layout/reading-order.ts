/** Orders a page's text as it is read: level text first, column after column, then what is turned (spec 16.2). */
import type { Fragment } from './fragment.js';
import { buildRows, type Row, toRow } from './rows.js';

/** Rows that belong together: a column, or what stands between columns. */
export interface Flow {
  readonly rows: readonly Row[];
  /** The edges that full lines reach. */
  readonly left: number;
  readonly right: number;
  /** The edges are those of a cell, whatever its lines reach. */
  readonly isCell?: boolean;
}

/** A gutter is at least this many sizes wide … */
const GUTTER_SIZES = 2;
/** … has at least this many rows on both sides … */
const GUTTER_ROWS = 5;
/** … runs through this share of the text's height … */
const GUTTER_HEIGHT = 0.6;
/** … and has prose on both sides: half of the lines fill this share of their column. */
const FULL_LINE = 0.7;
const PROSE_LETTERS = 8;

/** All fragments of a page, in flows, in reading order. Each fragment comes out once. */
export function readingOrder(fragments: readonly Fragment[]): Flow[] {
  const turned = new Map<number, Fragment[]>();
  for (const fragment of fragments) {
    const group = turned.get(fragment.angle);
    if (group === undefined) turned.set(fragment.angle, [fragment]);
    else group.push(fragment);
  }
  const level = turned.get(0) ?? [];
  turned.delete(0);
  const straight = [90, 270, 180].flatMap((angle) => {
    const group = turned.get(angle);
    turned.delete(angle);
    return group === undefined ? [] : levelFlows(group);
  });
  const slanted = [...turned.values()].flatMap((group) => buildRows(group));
  // Slanted rows stand apart (stamps, watermarks): each is a flow of its own, as it was painted.
  const stamps = slanted.sort((a, b) => a.fragments[0]!.order - b.fragments[0]!.order).map((row) => toFlow([row]));
  return [...levelFlows(level), ...straight, ...stamps];
}

function levelFlows(fragments: readonly Fragment[]): Flow[] {
  if (fragments.length === 0) return [];
  const vertical = fragments.filter((fragment) => fragment.isVertical);
  if (2 * countLetters(vertical) <= countLetters(fragments)) return splitColumns(buildRows(fragments), 0);
  const level = fragments.filter((fragment) => !fragment.isVertical);
  const flows = [toFlow(verticalRows(vertical))];
  return level.length === 0 ? flows : [...flows, ...splitColumns(buildRows(level), 0)];
}

function countLetters(fragments: readonly Fragment[]): number {
  return fragments.reduce((sum, fragment) => sum + fragment.letters.length, 0);
}

/** Vertical lines from right to left; pieces of one line from top to bottom. */
function verticalRows(fragments: readonly Fragment[]): Row[] {
  const sorted = [...fragments].sort((a, b) => b.left - a.left || a.baseline - b.baseline || a.order - b.order);
  const lines: Fragment[][] = [];
  for (const fragment of sorted) {
    const line = lines.at(-1);
    const isSameLine = line !== undefined && line[0]!.left - fragment.left <= 0.5 * line[0]!.sizeMm;
    if (isSameLine) line.push(fragment);
    else lines.push([fragment]);
  }
  return lines.map((line) => toRow(line.sort((a, b) => a.baseline - b.baseline || a.order - b.order)));
}

/** A flow whose edges are those of its rows. */
export function toFlow(rows: readonly Row[]): Flow {
  return {
    rows,
    left: rows.reduce((least, row) => Math.min(least, row.left), Infinity),
    right: rows.reduce((most, row) => Math.max(most, row.right), -Infinity),
  };
}

interface Gutter {
  readonly left: number;
  readonly right: number;
  /** Rows from … up to, not including. */
  readonly from: number;
  readonly to: number;
}

/** Splits at the first gutter with prose on both sides, and each part again. */
function splitColumns(rows: readonly Row[], depth: number): Flow[] {
  const gutter = depth < 4 ? findGutter(rows) : undefined;
  if (gutter === undefined) return [toFlow(rows)];
  const middle = (gutter.left + gutter.right) / 2;
  const band = rows.slice(gutter.from, gutter.to);
  const parts = [
    rows.slice(0, gutter.from),
    band.flatMap((row) => part(row, (fragment) => fragment.left < middle)),
    band.flatMap((row) => part(row, (fragment) => fragment.left >= middle)),
    rows.slice(gutter.to),
  ];
  return parts.flatMap((part) => (part.length === 0 ? [] : splitColumns(part, depth + 1)));
}

function part(row: Row, isIn: (fragment: Fragment) => boolean): Row[] {
  const fragments = row.fragments.filter(isIn);
  return fragments.length === 0 ? [] : [toRow(fragments)];
}

function findGutter(rows: readonly Row[]): Gutter | undefined {
  if (rows.length < GUTTER_ROWS) return undefined;
  const sizes = rows.map((row) => row.sizeMm).sort((a, b) => a - b);
  const minWidth = GUTTER_SIZES * sizes[sizes.length >> 1]!;
  const height = rows.at(-1)!.baseline - rows[0]!.baseline;
  for (let from = 0; from + GUTTER_ROWS <= rows.length; ) {
    const gutter = growGutter(rows, from, minWidth);
    if (gutter === undefined) {
      from++;
      continue;
    }
    const isTall = rows[gutter.to - 1]!.baseline - rows[gutter.from]!.baseline >= GUTTER_HEIGHT * height;
    if (isTall && hasProse(rows, gutter)) return gutter;
    from = Math.max(from + 1, gutter.to);
  }
  return undefined;
}

/** The gap of row `from` nearest to the middle, followed down as long as no letter stands in it. */
function growGutter(rows: readonly Row[], from: number, minWidth: number): Gutter | undefined {
  const seed = widestGap(rows[from]!, minWidth);
  if (seed === undefined) return undefined;
  let { left, right } = seed;
  let to = from + 1;
  while (to < rows.length) {
    const narrowed = narrow(rows[to]!, left, right);
    if (narrowed === undefined || narrowed.right - narrowed.left < minWidth) break;
    left = narrowed.left;
    right = narrowed.right;
    to++;
  }
  return { left, right, from, to };
}

function widestGap(row: Row, minWidth: number): { left: number; right: number } | undefined {
  let best: { left: number; right: number } | undefined;
  let width = minWidth;
  for (let i = 1; i < row.fragments.length; i++) {
    const left = row.fragments[i - 1]!.right;
    const right = row.fragments[i]!.left;
    if (right - left < width) continue;
    best = { left, right };
    width = right - left;
  }
  return best;
}

/** What of the gap is still free in this row: letters may stand on its left and on its right. */
function narrow(row: Row, left: number, right: number): { left: number; right: number } | undefined {
  const middle = (left + right) / 2;
  let free = { left, right };
  for (const fragment of row.fragments) {
    if (fragment.left < middle && fragment.right > middle) return undefined;
    if (fragment.right <= middle) free = { ...free, left: Math.max(free.left, fragment.right) };
    else free = { ...free, right: Math.min(free.right, fragment.left) };
  }
  return free;
}

/** Tables and forms have gutters too, but their cells do not fill the columns. */
function hasProse(rows: readonly Row[], gutter: Gutter): boolean {
  const middle = (gutter.left + gutter.right) / 2;
  const band = rows.slice(gutter.from, gutter.to);
  return [true, false].every((isLeftSide) => {
    const side = band.flatMap((row) => part(row, (fragment) => fragment.left < middle === isLeftSide));
    if (side.length < GUTTER_ROWS) return false;
    const { left, right } = toFlow(side);
    const full = side.filter(
      (row) => row.right - row.left >= FULL_LINE * (right - left) && lettersIn(row) >= PROSE_LETTERS,
    );
    return full.length * 2 >= side.length;
  });
}

function lettersIn(row: Row): number {
  return countLetters(row.fragments);
}
