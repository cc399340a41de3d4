/** Fills a ruled grid with lines of text, and finds the rows that have no rules between them. */
import type { Fragment } from './fragment.js';
import { type Area, areasOf, type Grid } from './grid.js';
import { buildRows, type Row } from './rows.js';

export interface TableCell {
  /** Lines from top to bottom; none in an empty cell and in all but the first of a merged area. */
  readonly lines: readonly Row[];
  /** The edges of the cell, millimetres. */
  readonly left: number;
  readonly right: number;
}

export interface Table {
  /** Its upper edge on the page. */
  readonly top: number;
  /** All rows have the same number of cells; neither a row nor a column is empty throughout. */
  readonly rows: readonly (readonly TableCell[])[];
}

/** Baselines of two cells this near, as a share of the size, are one line of an unruled row. */
const SAME_LINE = 0.2;

/** `byCell` holds at least one fragment, by owning cells of the grid. */
export function toTable(grid: Grid, byCell: ReadonlyMap<number, readonly Fragment[]>): Table {
  const columns = grid.x.length - 1;
  const areas = areasOf(grid);
  const rows = Array.from({ length: grid.y.length - 1 }, (_, row) => {
    const cells = Array.from({ length: columns }, (_, column): TableCell => {
      const area = areas.get(row * columns + column);
      const right = grid.x[area?.right ?? column + 1]!;
      return { lines: buildRows(byCell.get(row * columns + column) ?? []), left: grid.x[column]!, right };
    });
    const isOneRowHigh = (column: number) => isFlat(areas.get(row * columns + column));
    return splitRow(cells, isOneRowHigh);
  }).flat();
  return { top: grid.y[0]!, rows: withoutEmptyLines(rows) };
}

function isFlat(area: Area | undefined): boolean {
  return area === undefined || area.bottom - area.top === 1;
}

/** A band of lines that stand side by side in several cells, like the items of an invoice, is one row a line. */
function splitRow(cells: readonly TableCell[], isOneRowHigh: (column: number) => boolean): (readonly TableCell[])[] {
  const isLabel = (cell: TableCell) => cell.lines.some((line) => line.isVertical);
  const stays = (cell: TableCell, column: number) => isLabel(cell) || !isOneRowHigh(column);
  const candidates = cells.filter((cell, column) => !stays(cell, column) && cell.lines.length > 0);
  if (candidates.filter((cell) => cell.lines.length > 1).length < 2) return [cells];
  const baselines = sharedBaselines(candidates);
  const aligned = baselines.filter((line) => line.cells >= 2);
  if (aligned.length < 2 || aligned.length * 2 < baselines.length) return [cells];
  return baselines.map((line, i) =>
    cells.map((cell, column) => {
      if (stays(cell, column)) return i === 0 ? cell : { ...cell, lines: [] };
      return { ...cell, lines: cell.lines.filter((row) => nearest(baselines, row.baseline) === line) };
    }),
  );
}

interface Line {
  readonly baseline: number;
  cells: number;
}

/** The baselines of all lines, near ones as one, with the number of cells that have it; from top to bottom. */
function sharedBaselines(cells: readonly TableCell[]): Line[] {
  const all = cells.flatMap((cell) => cell.lines).sort((a, b) => a.baseline - b.baseline);
  const lines: Line[] = [];
  for (const row of all) {
    const last = lines.at(-1);
    if (last !== undefined && row.baseline - last.baseline <= SAME_LINE * row.sizeMm) last.cells++;
    else lines.push({ baseline: row.baseline, cells: 1 });
  }
  return lines;
}

function nearest(lines: readonly Line[], baseline: number): Line {
  return lines.reduce((best, line) =>
    Math.abs(line.baseline - baseline) < Math.abs(best.baseline - baseline) ? line : best,
  );
}

function withoutEmptyLines(rows: readonly (readonly TableCell[])[]): (readonly TableCell[])[] {
  const filled = rows.filter((row) => row.some((cell) => cell.lines.length > 0));
  const isUsed = filled[0]!.map((_, column) => filled.some((row) => row[column]!.lines.length > 0));
  return filled.map((row) => row.filter((_, column) => isUsed[column]));
}
