/** A page as a sequence of flows of lines and ruled tables, in reading order. */
import type { DisplayList } from '../../display/list.js';
import { cutAtRules } from './cell-pieces.js';
import { takeCurves } from './curves.js';
import { facingPages, type Half } from './facing-pages.js';
import type { Fragment } from './fragment.js';
import { collectFragments } from './fragments.js';
import { cellAt, findGrids, type Grid } from './grid.js';
import { type Flow, readingOrder, toFlow } from './reading-order.js';
import { collectRules } from './rules.js';
import { joinStackedLetters } from './stacks.js';
import { type Table, toTable } from './table.js';

export type Section =
  | { readonly kind: 'flow'; readonly flow: Flow }
  | { readonly kind: 'table'; readonly table: Table };

/** Every letter of the page is in one section. */
export function pageSections(list: DisplayList): Section[] {
  const { curves, rest } = takeCurves(collectFragments(list.items));
  const { widthMm, heightMm } = list;
  const pages = facingPages({ widthMm, heightMm, fragments: rest, rules: collectRules(list.items) });
  const curved = curves.map((row) => toFlow([row]));
  return pages.flatMap((page, i) => sectionsOf(page, i === pages.length - 1 ? curved : []));
}

function sectionsOf({ fragments, rules }: Half, curved: readonly Flow[]): Section[] {
  const grids = rules === undefined ? [] : findGrids(rules);
  const { tables, outside } = takeTables(joinStackedLetters(cutAtRules(fragments, grids), grids, cellOf), grids);
  return mergeInOrder([...readingOrder(outside), ...curved], tables);
}

/** The cell that the middle of a level fragment lies in. */
function cellOf(grid: Grid, fragment: Fragment): number | undefined {
  if (fragment.angle !== 0) return undefined;
  const x = fragment.isVertical ? fragment.left + fragment.sizeMm / 2 : (fragment.left + fragment.right) / 2;
  return cellAt(grid, x, (fragment.baseline + fragment.lastBaseline) / 2 - 0.35 * fragment.sizeMm);
}

/** Level fragments whose middle lies in a grid go there, if the grid then has text in two columns. */
function takeTables(fragments: readonly Fragment[], grids: readonly Grid[]): { tables: Table[]; outside: Fragment[] } {
  let outside = [...fragments];
  const tables: Table[] = [];
  for (const grid of grids) {
    const byCell = new Map<number, Fragment[]>();
    const others: Fragment[] = [];
    for (const fragment of outside) {
      const cell = cellOf(grid, fragment);
      if (cell === undefined) others.push(fragment);
      else if (byCell.has(cell)) byCell.get(cell)!.push(fragment);
      else byCell.set(cell, [fragment]);
    }
    if (!isTable(grid, byCell)) continue;
    tables.push(toTable(grid, byCell));
    outside = others;
  }
  return { tables, outside };
}

function isTable(grid: Grid, byCell: ReadonlyMap<number, unknown>): boolean {
  const columns = grid.x.length - 1;
  if (columns < 2 || grid.y.length < 3 || byCell.size < 3) return false;
  return new Set([...byCell.keys()].map((cell) => cell % columns)).size >= 2;
}

/** A table comes before the first level line that begins below its top. */
function mergeInOrder(flows: readonly Flow[], tables: readonly Table[]): Section[] {
  const sections: Section[] = [];
  let next = 0;
  for (const flow of flows) {
    let from = 0;
    const isLevel = flow.rows[0]!.fragments[0]!.angle === 0;
    const cut = (to: number) => {
      if (to > from) sections.push({ kind: 'flow', flow: { ...flow, rows: flow.rows.slice(from, to) } });
      from = to;
    };
    if (isLevel) {
      flow.rows.forEach((row, i) => {
        while (next < tables.length && tables[next]!.top < row.top) {
          cut(i);
          sections.push({ kind: 'table', table: tables[next++]! });
        }
      });
    }
    cut(flow.rows.length);
  }
  const left = tables.slice(next).map((table): Section => ({ kind: 'table', table }));
  const firstTurned = sections.findIndex((s) => s.kind === 'flow' && s.flow.rows[0]!.fragments[0]!.angle !== 0);
  sections.splice(firstTurned < 0 ? sections.length : firstTurned, 0, ...left);
  return sections;
}
