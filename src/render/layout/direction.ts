/** Letters as they stand from left to right, in the order in which they are read: Hebrew, Arabic and their like go the other way. */
import type { Letter } from './fragment.js';
import { isLeftward } from './scripts.js';

type Direction = 'right' | 'left';

const RIGHTWARD = /[\p{L}\p{N}]/u;
/** In pairs. */
const BRACKETS = '()[]{}<>«»‹›';

/** What stands between two letters belongs to the second one. */
interface Placed {
  readonly letter: Letter;
  readonly separator: '' | ' ' | 'cell';
}

/** Letters of a row from left to right → in the order of reading; most rows come out as they are. */
export function inReadingOrder<T extends Placed>(letters: readonly T[]): readonly T[] {
  if (!letters.some(({ letter }) => directionOf(letter) === 'left')) return letters;
  const pieces = piecesOf(letters);
  const ordered = mainDirection(letters) === 'left' ? [...pieces].reverse() : pieces;
  return ordered.flatMap((piece, i) => {
    // The separator at the edge between two pieces stands with the left letter of the right one.
    const before = ordered[i - 1];
    const edge = before === undefined ? '' : letters[Math.max(before.from, piece.from)]!.separator;
    return readPiece(letters.slice(piece.from, piece.to), piece.direction, edge);
  });
}

interface Piece {
  readonly direction: Direction;
  readonly from: number;
  readonly to: number;
}

function readPiece<T extends Placed>(letters: readonly T[], direction: Direction, edge: T['separator']): T[] {
  if (direction === 'right') return letters.map((placed, i) => (i === 0 ? { ...placed, separator: edge } : placed));
  return letters.map((_, i) => {
    const at = letters.length - 1 - i;
    const placed = letters[at]!;
    return { ...placed, letter: mirrored(placed.letter), separator: i === 0 ? edge : letters[at + 1]!.separator };
  });
}

/** A bracket that opens to the left is the opening one of what is read from the right. */
function mirrored(letter: Letter): Letter {
  const at = letter.isBackward === true || letter.text.length !== 1 ? -1 : BRACKETS.indexOf(letter.text);
  return at < 0 ? letter : { ...letter, text: BRACKETS[at ^ 1]! };
}

function directionOf({ text, isBackward }: Letter): Direction | undefined {
  if (isBackward === true || isLeftward(text)) return 'left';
  return RIGHTWARD.test(text) ? 'right' : undefined;
}

function mainDirection(letters: readonly Placed[]): Direction {
  let balance = 0;
  for (const { letter } of letters) {
    const direction = /\p{N}/u.test(letter.text) ? undefined : directionOf(letter);
    if (direction !== undefined) balance += direction === 'left' ? 1 : -1;
  }
  return balance > 0 ? 'left' : 'right';
}

/** Stretches of one direction; signs and blanks between two of one direction go with them, others with the row's. */
function piecesOf(letters: readonly Placed[]): Piece[] {
  const main = mainDirection(letters);
  const directions = letters.map(({ letter }) => directionOf(letter));
  for (let i = 0; i < directions.length; ) {
    let end = i;
    while (end < directions.length && directions[end] === undefined) end++;
    const before = directions[i - 1];
    directions.fill(before === directions[end] && before !== undefined ? before : main, i, end);
    i = end + 1;
  }
  const pieces: Piece[] = [];
  for (let from = 0; from < directions.length; ) {
    const direction = directions[from]!;
    let to = from + 1;
    while (to < directions.length && directions[to] === direction) to++;
    pieces.push({ direction, from, to });
    from = to;
  }
  return pieces;
}
