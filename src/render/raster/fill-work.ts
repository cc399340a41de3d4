/** What filling a path costs the raster library: it sorts, in each row of pixels, all edges that cross the row. */
import type { Box, Matrix, Path } from '../../display/geometry.js';

/** Paths of fewer segments are never slow. */
const MANY_SEGMENTS = 20_000;
/** Measured: so many crossings, each with all others of its row, take as long as a pixel of a picture. */
const CROSSINGS_A_PIXEL = 80;

/** In pixels of a picture; 0 for nearly all paths. Edges that are a row high are cheap, however many there are. */
export function fillWork({ verbs, coordinates }: Path, matrix: Matrix, box: Box): number {
  if (verbs.length < MANY_SEGMENTS) return 0;
  const [, b, , d, , f] = matrix;
  let crossings = 0;
  let before: number | undefined;
  for (let i = 0; i + 1 < coordinates.length; i += 2) {
    const y = Math.min(Math.max(b * coordinates[i]! + d * coordinates[i + 1]! + f, box.y), box.y + box.height);
    if (before !== undefined) crossings += Math.abs(y - before);
    before = y;
  }
  return (crossings * (crossings / Math.max(1, box.height))) / CROSSINGS_A_PIXEL;
}
