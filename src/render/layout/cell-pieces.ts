/** Cuts lines that were painted in one go across a table where its rules part them. */
import type { Fragment, Letter } from './fragment.js';
import { cellAt, type Grid } from './grid.js';

/** Letters nearer than this, in sizes, are of one word: it sticks out of its cell. */
const WORD_GAP = 0.3;

/** The fragments, those of several cells in a piece for each. */
export function cutAtRules(fragments: readonly Fragment[], grids: readonly Grid[]): Fragment[] {
  if (grids.length === 0) return [...fragments];
  return fragments.flatMap((fragment) =>
    fragment.angle === 0 && !fragment.isVertical ? cut(fragment, grids) : fragment,
  );
}

function cut(fragment: Fragment, grids: readonly Grid[]): Fragment[] {
  const grid = grids.find(({ y }) => fragment.baseline >= y[0]! && fragment.baseline <= y.at(-1)! + fragment.sizeMm);
  const { letters, sizeMm } = fragment;
  if (grid === undefined || letters.length < 2) return [fragment];
  const pieces: Fragment[] = [];
  let from = 0;
  let last = 0;
  letters.forEach((letter, i) => {
    if (i === 0 || isBlank(letter)) return;
    const before = letters[last]!;
    const isApart = letter.x - before.right >= WORD_GAP * sizeMm;
    if (isApart && cellOf(grid, before, sizeMm) !== cellOf(grid, letter, sizeMm)) {
      pieces.push(slice(fragment, from, last + 1, i > last + 1));
      from = i;
    }
    last = i;
  });
  return from === 0 ? [fragment] : [...pieces, slice(fragment, from, letters.length, false)];
}

function isBlank({ text }: Letter): boolean {
  return text.trim() === '';
}

/** Undefined beside the table. */
function cellOf(grid: Grid, { x, y, right }: Letter, sizeMm: number): number | undefined {
  return cellAt(grid, (x + right) / 2, y - 0.35 * sizeMm);
}

/** Letters from … up to, neither end blank. */
function slice(fragment: Fragment, from: number, to: number, hasBlankAfter: boolean): Fragment {
  const letters = fragment.letters.slice(from, to);
  return {
    ...fragment,
    letters,
    left: letters.reduce((least, { x }) => Math.min(least, x), Infinity),
    right: letters.reduce((most, { right }) => Math.max(most, right), -Infinity),
    baseline: letters[0]!.y,
    lastBaseline: letters.at(-1)!.y,
    hasBlankBefore: from === 0 && fragment.hasBlankBefore,
    hasBlankAfter: to === fragment.letters.length ? fragment.hasBlankAfter : hasBlankAfter,
    hasBlankRunBefore: from === 0 && fragment.hasBlankRunBefore,
    hasBlankRunAfter: to === fragment.letters.length && fragment.hasBlankRunAfter,
  };
}
