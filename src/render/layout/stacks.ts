/** Joins the letters of an upright label in a narrow cell: 购, 买, 方 one below the other are one word. */
import type { Fragment } from './fragment.js';
import { type Area, areasOf, type Grid } from './grid.js';
import { isHan } from './scripts.js';

/** The cell is at most this many sizes wide: a wider one is a column of one-letter values. */
const MAX_CELL_WIDTH = 3.2;
const MAX_LETTERS = 12;
const MAX_PITCH = 5;
const SAME_PLACE = 0.3;

/** All fragments again, those of a stack as one vertical fragment. `cellOf` tells the cell that a fragment lies in. */
export function joinStackedLetters(
  fragments: readonly Fragment[],
  grids: readonly Grid[],
  cellOf: (grid: Grid, fragment: Fragment) => number | undefined,
): readonly Fragment[] {
  let result = fragments;
  for (const grid of grids) {
    const byCell = new Map<number, Fragment[]>();
    for (const fragment of result) {
      const cell = cellOf(grid, fragment);
      if (cell === undefined) continue;
      const inCell = byCell.get(cell);
      if (inCell === undefined) byCell.set(cell, [fragment]);
      else inCell.push(fragment);
    }
    const areas = areasOf(grid);
    const joined = new Map<Fragment, Fragment | undefined>();
    for (const [cell, inCell] of byCell) {
      if (!isStack(inCell, widthOf(grid, areas.get(cell)!))) continue;
      for (const fragment of inCell) joined.set(fragment, undefined);
      joined.set(inCell[0]!, stack(inCell));
    }
    if (joined.size > 0) result = result.flatMap((f) => (joined.has(f) ? (joined.get(f) ?? []) : f));
  }
  return result;
}

function widthOf(grid: Grid, area: Area): number {
  return grid.x[area.right]! - grid.x[area.left]!;
}

function isStack(fragments: readonly Fragment[], cellWidth: number): boolean {
  const first = fragments[0]!;
  if (fragments.length < 2 || fragments.length > MAX_LETTERS || cellWidth > MAX_CELL_WIDTH * first.sizeMm) return false;
  const isOneLetterEach = fragments.every((f) => f.letters.length === 1 && isHan(f.letters[0]!.text.codePointAt(0)!));
  if (!isOneLetterEach || new Set(fragments.map((f) => f.letters[0]!.text)).size === 1) return false;
  const sorted = topDown(fragments);
  return sorted.every((fragment, i) => {
    if (Math.abs(fragment.left - first.left) > SAME_PLACE * first.sizeMm) return false;
    const step = i === 0 ? first.sizeMm : fragment.baseline - sorted[i - 1]!.baseline;
    return step >= 0.8 * first.sizeMm && step <= MAX_PITCH * first.sizeMm;
  });
}

function topDown(fragments: readonly Fragment[]): Fragment[] {
  return [...fragments].sort((a, b) => a.baseline - b.baseline);
}

function stack(fragments: readonly Fragment[]): Fragment {
  const sorted = topDown(fragments);
  return {
    ...sorted[0]!,
    letters: sorted.flatMap((fragment) => fragment.letters),
    isVertical: true,
    left: Math.min(...sorted.map((fragment) => fragment.left)),
    right: Math.max(...sorted.map((fragment) => fragment.right)),
    lastBaseline: sorted.at(-1)!.baseline,
  };
}
