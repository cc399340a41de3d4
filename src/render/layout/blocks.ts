/** A page as a sequence of paragraphs and tables in reading order. */
import type { DisplayList } from '../../display/list.js';
import { collectFragments, type Fragment } from './fragments.js';
import { cellAt, findGrids, type Grid } from './grid.js';
import { type Paragraph, paragraphsOf } from './paragraphs.js';
import { type Flow, readingOrder } from './reading-order.js';
import { buildRows } from './rows.js';
import { collectRules } from './rules.js';

export interface ParagraphBlock {
  readonly kind: 'paragraph';
  readonly paragraph: Paragraph;
}

/** Cells hold the paragraphs' texts; a merged area's text stands in its first cell, the others are empty. */
export interface TableBlock {
  readonly kind: 'table';
  readonly rows: readonly (readonly (readonly string[])[])[];
  /** Letters and their size, for the census. */
  readonly fragments: readonly Fragment[];
}

export type Block = ParagraphBlock | TableBlock;

interface PlacedTable {
  readonly grid: Grid;
  readonly fragments: readonly Fragment[];
}

/** Every letter of the page is in one block. */
export function pageBlocks(list: DisplayList): Block[] {
  const fragments = collectFragments(list.items);
  const rules = collectRules(list.items);
  const { tables, rest } = takeTables(fragments, rules === undefined ? [] : findGrids(rules));
  return mergeInOrder(readingOrder(rest), tables);
}

/** Level fragments whose middle lies in a table go there, if the table then has text in two rows and two columns. */
function takeTables(
  fragments: readonly Fragment[],
  grids: readonly Grid[],
): { tables: PlacedTable[]; rest: Fragment[] } {
  let rest = [...fragments];
  const tables: PlacedTable[] = [];
  for (const grid of grids) {
    const inside = rest.filter((fragment) => cellOf(grid, fragment) !== undefined);
    if (!isTable(grid, inside)) continue;
    tables.push({ grid, fragments: inside });
    rest = rest.filter((fragment) => cellOf(grid, fragment) === undefined);
  }
  return { tables, rest };
}

function cellOf(grid: Grid, fragment: Fragment): number | undefined {
  if (fragment.angle !== 0) return undefined;
  const x = fragment.isVertical ? fragment.left + fragment.sizeMm / 2 : (fragment.left + fragment.right) / 2;
  return cellAt(grid, x, (fragment.baseline + fragment.lastBaseline) / 2 - 0.35 * fragment.sizeMm);
}

function isTable(grid: Grid, inside: readonly Fragment[]): boolean {
  const columns = grid.x.length - 1;
  if (columns < 2 || grid.y.length < 3) return false;
  const cells = new Set(inside.map((fragment) => cellOf(grid, fragment)!));
  return new Set([...cells].map((cell) => cell % columns)).size >= 2 && cells.size >= 3;
}

function toBlock(table: PlacedTable): TableBlock {
  const { grid, fragments } = table;
  const byCell = new Map<number, Fragment[]>();
  for (const fragment of fragments) {
    const cell = cellOf(grid, fragment)!;
    const list = byCell.get(cell);
    if (list === undefined) byCell.set(cell, [fragment]);
    else list.push(fragment);
  }
  const columns = grid.x.length - 1;
  const rows = Array.from({ length: grid.y.length - 1 }, (_, row) =>
    Array.from({ length: columns }, (_, column) => cellTexts(byCell.get(row * columns + column), grid, column)),
  );
  return { kind: 'table', rows: withoutEmptyLines(rows), fragments };
}

function cellTexts(fragments: readonly Fragment[] | undefined, grid: Grid, column: number): string[] {
  if (fragments === undefined) return [];
  const rows = buildRows(fragments);
  const right = rows.reduce((most, row) => Math.max(most, row.right), grid.x[column]!);
  return paragraphsOf({ rows, left: grid.x[column]!, right }).map((paragraph) => paragraph.text);
}

/** Rows and columns without any text are spacing. */
function withoutEmptyLines(rows: readonly (readonly string[])[][]): (readonly string[])[][] {
  const filled = rows.filter((row) => row.some((cell) => cell.length > 0));
  const isUsed = (column: number) => filled.some((row) => row[column]!.length > 0);
  return filled.map((row) => row.filter((_, column) => isUsed(column)));
}

/** A table comes before the first paragraph that begins below its top, in the flow that is level. */
function mergeInOrder(flows: readonly Flow[], tables: readonly PlacedTable[]): Block[] {
  const blocks: Block[] = [];
  let next = 0;
  const addTablesAbove = (y: number) => {
    while (next < tables.length && tables[next]!.grid.y[0]! < y) blocks.push(toBlock(tables[next++]!));
  };
  for (const flow of flows) {
    const isLevel = flow.rows[0]!.fragments[0]!.angle === 0;
    for (const paragraph of paragraphsOf(flow)) {
      if (isLevel) addTablesAbove(paragraph.baseline);
      blocks.push({ kind: 'paragraph', paragraph });
    }
  }
  addTablesAbove(Infinity);
  return blocks;
}
