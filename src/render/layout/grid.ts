/** Builds tables from ruled lines: columns, rows, and which cells are one because no line parts them (spec 16.3). */
import type { Rule, Rules } from './rules.js';

/** A ruled table; all places are page millimetres. */
export interface Grid {
  /** Column edges from left to right, one more than there are columns; row edges likewise. */
  readonly x: readonly number[];
  readonly y: readonly number[];
  /** For each cell (row × columns + column) the first cell of the merged area it belongs to. */
  readonly owner: readonly number[];
}

/** A merged area in columns and rows; `right` and `bottom` are the first beyond it. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Lines nearer than this are one. */
const SNAP_MM = 0.7;
const MAX_CELLS = 20_000;

interface Cluster {
  readonly level: Rule[];
  readonly plumb: Rule[];
}

/** Tables with at least two cells, from top to bottom. */
export function findGrids(rules: Rules): Grid[] {
  return clusters(rules)
    .flatMap((cluster) => toGrid(cluster) ?? [])
    .sort((a, b) => a.y[0]! - b.y[0]! || a.x[0]! - b.x[0]!);
}

/** Lines that touch or cross, directly or through others. */
function clusters(rules: Rules): Cluster[] {
  const level = mergeCollinear(rules.level);
  const plumb = mergeCollinear(rules.plumb);
  const parent = [...level, ...plumb].map((_, i) => i);
  const root = (i: number): number => {
    let at = i;
    while (parent[at] !== at) {
      parent[at] = parent[parent[at]!]!;
      at = parent[at]!;
    }
    return at;
  };
  level.forEach((l, i) => {
    plumb.forEach((p, j) => {
      if (crosses(l, p)) parent[root(i)] = root(level.length + j);
    });
  });
  const byRoot = new Map<number, Cluster>();
  const clusterOf = (i: number): Cluster => {
    const key = root(i);
    let cluster = byRoot.get(key);
    if (cluster === undefined) {
      cluster = { level: [], plumb: [] };
      byRoot.set(key, cluster);
    }
    return cluster;
  };
  for (const [i, rule] of level.entries()) clusterOf(i).level.push(rule);
  for (const [j, rule] of plumb.entries()) clusterOf(level.length + j).plumb.push(rule);
  return [...byRoot.values()];
}

function crosses(level: Rule, plumb: Rule): boolean {
  return (
    plumb.at >= level.start - SNAP_MM &&
    plumb.at <= level.end + SNAP_MM &&
    level.at >= plumb.start - SNAP_MM &&
    level.at <= plumb.end + SNAP_MM
  );
}

/** Pieces of one line that touch become one. */
function mergeCollinear(rules: readonly Rule[]): Rule[] {
  const sorted = [...rules].sort((a, b) => a.at - b.at || a.start - b.start);
  const merged: Rule[] = [];
  let band: Rule[] = [];
  const flush = () => {
    band.sort((a, b) => a.start - b.start);
    for (const rule of band) {
      const last = merged.at(-1);
      const isSameLine = last !== undefined && Math.abs(last.at - rule.at) <= SNAP_MM;
      if (isSameLine && rule.start <= last.end + SNAP_MM && rule.start >= last.start) {
        merged[merged.length - 1] = { ...last, end: Math.max(last.end, rule.end) };
      } else merged.push(rule);
    }
    band = [];
  };
  for (const rule of sorted) {
    if (band.length > 0 && rule.at - band[0]!.at > SNAP_MM) flush();
    band.push(rule);
  }
  flush();
  return merged;
}

function toGrid(cluster: Cluster): Grid | undefined {
  const x = snapped(cluster.plumb);
  const y = snapped(cluster.level);
  const columns = x.length - 1;
  const rows = y.length - 1;
  if (columns < 1 || rows < 1 || columns * rows < 2 || columns * rows > MAX_CELLS) return undefined;
  const owner = mergeCells(x, y, cluster);
  return new Set(owner).size >= 2 ? { x, y, owner } : undefined;
}

function snapped(rules: readonly Rule[]): number[] {
  const places: number[] = [];
  for (const at of rules.map((rule) => rule.at).sort((a, b) => a - b)) {
    if (places.length === 0 || at - places.at(-1)! > SNAP_MM) places.push(at);
  }
  return places;
}

/** Cells without a line between them are merged; the area's first cell owns it. */
function mergeCells(x: readonly number[], y: readonly number[], cluster: Cluster): number[] {
  const columns = x.length - 1;
  const rows = y.length - 1;
  const owner = Array.from({ length: columns * rows }, (_, i) => i);
  const root = (i: number): number => {
    let at = i;
    while (owner[at] !== at) {
      owner[at] = owner[owner[at]!]!;
      at = owner[at]!;
    }
    return at;
  };
  const unite = (a: number, b: number) => {
    const first = Math.min(root(a), root(b));
    owner[Math.max(root(a), root(b))] = first;
  };
  for (let row = 0; row < rows; row++) {
    const middleY = (y[row]! + y[row + 1]!) / 2;
    for (let column = 0; column < columns; column++) {
      const middleX = (x[column]! + x[column + 1]!) / 2;
      const cell = row * columns + column;
      if (column + 1 < columns && !isRuled(cluster.plumb, x[column + 1]!, middleY)) unite(cell, cell + 1);
      if (row + 1 < rows && !isRuled(cluster.level, y[row + 1]!, middleX)) unite(cell, cell + columns);
    }
  }
  return owner.map((_, i) => root(i));
}

function isRuled(rules: readonly Rule[], at: number, along: number): boolean {
  return rules.some((rule) => Math.abs(rule.at - at) <= SNAP_MM && rule.start <= along && rule.end >= along);
}

/** The owning cell at a point of the page, or undefined outside the table. */
export function cellAt(grid: Grid, x: number, y: number): number | undefined {
  const column = bandOf(grid.x, x);
  const row = bandOf(grid.y, y);
  if (column === undefined || row === undefined) return undefined;
  return grid.owner[row * (grid.x.length - 1) + column];
}

function bandOf(edges: readonly number[], at: number): number | undefined {
  if (at < edges[0]! || at > edges.at(-1)!) return undefined;
  for (let i = 1; i < edges.length; i++) if (at <= edges[i]!) return i - 1;
  return undefined;
}

/** The merged areas by their owning cells. */
export function areasOf(grid: Grid): Map<number, Area> {
  const columns = grid.x.length - 1;
  const areas = new Map<number, Area>();
  grid.owner.forEach((owner, cell) => {
    const column = cell % columns;
    const row = Math.floor(cell / columns);
    const area = areas.get(owner) ?? { left: column, top: row, right: column + 1, bottom: row + 1 };
    areas.set(owner, {
      left: Math.min(area.left, column),
      top: area.top,
      right: Math.max(area.right, column + 1),
      bottom: Math.max(area.bottom, row + 1),
    });
  });
  return areas;
}
