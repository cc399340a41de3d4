/** Long lines in pieces: the raster library takes far more than twice the time for a line that is twice as long. */
import { CLOSE, COORDINATES_OF_VERB, LINE, MOVE, Path } from '../../display/geometry.js';

/** Segments of a piece; more, and fewer, take longer in all. */
const MAX_SEGMENTS = 4096;

/** Whether a line is drawn in pieces. */
export function isLong(path: Path): boolean {
  return path.verbs.length > MAX_SEGMENTS;
}

/** Segments that the next piece begins with, at most. */
const MAX_OVERLAP = 64;

/**
 * The path itself, or its pieces: each begins with the end of the one before, so that the joint is drawn and no seam shows.
 *
 * @param overlap length of that end, in the path's space: some pixels
 */
export function* linePieces(path: Path, overlap: number): Generator<Path> {
  if (!isLong(path)) {
    yield path;
    return;
  }
  const { verbs, coordinates } = path;
  let piece = new Path();
  let [startX, startY, x, y] = [0, 0, 0, 0];
  let isCut = false;
  let at = 0;
  for (let index = 0; index < verbs.length; index++) {
    const verb = verbs[index]!;
    if (piece.verbs.length >= MAX_SEGMENTS) {
      yield piece;
      piece = new Path();
      const isWithin = verb !== MOVE && verbs[index - 1] !== MOVE && verbs[index - 1] !== CLOSE;
      if (isWithin) addTail(piece, path, index, at, overlap, [startX, startY]);
      isCut ||= isWithin;
    }
    if (verb === CLOSE) {
      if (isCut) piece.lineTo(startX, startY);
      else piece.close();
      [x, y] = [startX, startY];
      continue;
    }
    // What goes on after a close begins where the closed figure did.
    if (verb !== MOVE && piece.verbs.length === 0) piece.moveTo(x, y);
    const end = at + COORDINATES_OF_VERB[verb as 0];
    append(piece, verb, coordinates.slice(at, end));
    at = end;
    [x, y] = [coordinates[at - 2]!, coordinates[at - 1]!];
    if (verb === MOVE) {
      [startX, startY] = [x, y];
      isCut = false;
    }
  }
  if (piece.verbs.some((verb) => verb >= LINE)) yield piece;
}

/** Begins a piece with the segments before verb `index`, whose coordinates begin at `at`; `start`: of their figure. */
function addTail(
  piece: Path,
  { verbs, coordinates }: Path,
  index: number,
  at: number,
  overlap: number,
  start: readonly [number, number],
): void {
  let first = index;
  let from = at;
  let length = 0;
  let origin = start;
  while (index - first < MAX_OVERLAP && length < overlap && verbs[first - 1]! >= LINE && verbs[first - 1] !== CLOSE) {
    first--;
    const end = from;
    from -= COORDINATES_OF_VERB[verbs[first] as 0];
    origin = verbs[first - 1] === CLOSE ? start : [coordinates[from - 2]!, coordinates[from - 1]!];
    length += Math.hypot(coordinates[end - 2]! - origin[0], coordinates[end - 1]! - origin[1]);
  }
  piece.moveTo(origin[0], origin[1]);
  for (let i = first; i < index; i++) {
    const end = from + COORDINATES_OF_VERB[verbs[i] as 0];
    append(piece, verbs[i]!, coordinates.slice(from, end));
    from = end;
  }
}

function append(path: Path, verb: number, coordinates: readonly number[]): void {
  path.verbs.push(verb as 0);
  path.coordinates.push(...coordinates);
}
