/** Finds letters that are drawn a second time at nearly the same place: fake bold, shadows (spec 16.1, step 5). */

/** Letters closer than this share of their size are the same letter. */
const NEAR = 0.1;
const CELL_MM = 2;
/** Letters remembered in a cell; more than this at one place is not fake bold. */
const MAX_IN_CELL = 32;

interface Seen {
  readonly x: number;
  readonly y: number;
  readonly sizeMm: number;
}

interface Pending extends Seen {
  readonly text: string;
}

export class DuplicateFilter {
  private readonly cells = new Map<string, Map<number, Seen[]>>();
  /** A run's own letters are remembered when it is over: it may well repeat a letter on one spot. */
  private pending: Pending[] = [];

  /** Whether an earlier run has the same letter there. Page coordinates, millimetres. */
  isRepeated(text: string, x: number, y: number, sizeMm: number): boolean {
    const cells = this.cells.get(text);
    if (cells !== undefined && this.find(cells, x, y, sizeMm)) return true;
    this.pending.push({ text, x, y, sizeMm });
    return false;
  }

  endRun(): void {
    for (const { text, x, y, sizeMm } of this.pending) {
      let cells = this.cells.get(text);
      if (cells === undefined) {
        cells = new Map();
        this.cells.set(text, cells);
      }
      const key = cellKey(Math.floor(x / CELL_MM), Math.floor(y / CELL_MM));
      const seen = cells.get(key);
      if (seen === undefined) cells.set(key, [{ x, y, sizeMm }]);
      else if (seen.length < MAX_IN_CELL) seen.push({ x, y, sizeMm });
    }
    this.pending = [];
  }

  private find(cells: Map<number, Seen[]>, x: number, y: number, sizeMm: number): boolean {
    const reach = Math.min(NEAR * sizeMm, CELL_MM);
    const firstColumn = Math.floor((x - reach) / CELL_MM);
    const firstRow = Math.floor((y - reach) / CELL_MM);
    const columns = cellCount(firstColumn, x + reach);
    const rows = cellCount(firstRow, y + reach);
    for (let column = 0; column < columns; column++) {
      for (let row = 0; row < rows; row++) {
        const seen = cells.get(cellKey(firstColumn + column, firstRow + row));
        if (seen?.some((s) => isSame(s, x, y, sizeMm)) === true) return true;
      }
    }
    return false;
  }
}

/** At most three: so far out that whole numbers have gaps, the difference says nothing. */
function cellCount(first: number, end: number): number {
  return Math.min(Math.floor(end / CELL_MM) - first, 2) + 1;
}

function isSame(seen: Seen, x: number, y: number, sizeMm: number): boolean {
  const isSameSize = Math.abs(seen.sizeMm - sizeMm) <= 0.02 * sizeMm;
  return isSameSize && Math.hypot(seen.x - x, seen.y - y) < NEAR * sizeMm;
}

function cellKey(column: number, row: number): number {
  return column * 0x100000 + row;
}
