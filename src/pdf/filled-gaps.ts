/**
 * Level runs are parted where another one stands in a gap of theirs: LibreOffice writes a line in one piece and what it
 * takes from another font into the gaps, and a run is read in one go.
 */
import type { GlyphRun } from '../display/list.js';

/** Of the size: the least gap that is looked at, and how far letters may reach into each other. */
const GAP = 0.3;
const OVERLAP = 0.2;
const LINE_MM = 0.1;
/** How far from level the writing may be. */
const LEVEL = 0.001;

export function partedAtFilledGaps(runs: readonly GlyphRun[]): GlyphRun[] {
  const starts = new Map<number, number[]>();
  for (const { x, y } of runs) {
    const line = lineOf(y[0]!);
    const onLine = starts.get(line);
    if (onLine === undefined) starts.set(line, [x[0]!]);
    else onLine.push(x[0]!);
  }
  for (const onLine of starts.values()) onLine.sort((a, b) => a - b);
  return runs.flatMap((run) => parted(run, starts));
}

const lineOf = (y: number): number => Math.round(y / LINE_MM);

function parted(run: GlyphRun, starts: ReadonlyMap<number, readonly number[]>): GlyphRun[] {
  const { shape, sizeMm, face, glyphIds, x, y } = run;
  if (Math.abs(shape[1]) > LEVEL || shape[0] <= 0) return [run];
  const pieces: GlyphRun[] = [];
  let from = 0;
  for (let next = 1; next < glyphIds.length; next++) {
    const end = x[next - 1]! + (face.advance(glyphIds[next - 1]!) / face.unitsPerEm) * sizeMm * shape[0];
    if (x[next]! - end < GAP * sizeMm) continue;
    const line = lineOf(y[next]!);
    const isFilled = [line - 1, line, line + 1].some((near) =>
      hasBetween(starts.get(near) ?? [], end - OVERLAP * sizeMm, x[next]! - OVERLAP * sizeMm),
    );
    if (!isFilled) continue;
    pieces.push(piece(run, from, next));
    from = next;
  }
  return from === 0 ? [run] : [...pieces, piece(run, from, glyphIds.length)];
}

/** Whether one of the sorted numbers lies from `least` on and before `end`. */
function hasBetween(sorted: readonly number[], least: number, end: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low < sorted.length && sorted[low]! < end;
}

function piece(run: GlyphRun, from: number, to: number): GlyphRun {
  return {
    ...run,
    glyphIds: run.glyphIds.slice(from, to),
    x: run.x.slice(from, to),
    y: run.y.slice(from, to),
    characters: run.characters.slice(from, to),
  };
}
