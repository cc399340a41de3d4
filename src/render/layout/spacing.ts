/** Turns a row into text: which letters stand together, where a blank goes, where a cell ends (spec 16.2). */
import { inReadingOrder } from './direction.js';
import type { Fragment, Letter } from './fragment.js';
import type { Row } from './rows.js';
import { endsInHan, startsWithHan } from './scripts.js';

/** Gaps as shares of the size above which a blank belongs between two letters. */
const LATIN_GAP = 0.2;
const HAN_GAP = 0.7;
const MIXED_GAP = 0.5;
/** Evenly spread letters stay one word up to this gap. */
const SPREAD_GAP = 1.3;
/** Differences up to which two gaps, or two steps, count as even. */
const LIKE_GAP = 0.1;
const LIKE_STEP = 0.015;
const CELL_GAP_MM = 3;
const CELL_GAP = 0.6;
/** A line that is spread to the full width: so many gaps at least, none wider than this many usual ones. */
const JUSTIFIED_GAPS = 4;
const JUSTIFIED_RATIO = 2;

interface Placed {
  readonly letter: Letter;
  readonly fragment: Fragment;
  /** From the end of the letter before, and from its start, in sizes; 0 for the first. */
  readonly gap: number;
  readonly step: number;
}

export interface Cell {
  readonly text: string;
  readonly left: number;
  readonly right: number;
}

/** The row's text with blanks where words and cells part. */
export function rowText(row: Row): string {
  return rowCells(row)
    .map((cell) => cell.text)
    .join(' ');
}

export interface RowLetter {
  readonly letter: Letter;
  readonly fragment: Fragment;
  /** What parts it from the letter before: nothing, a blank, or where a cell ends. */
  readonly separator: '' | ' ' | 'cell';
}

/** All letters of a row in reading order. */
export function rowLetters(row: Row): readonly RowLetter[] {
  // Letters of different slant share no line to measure gaps on, letters above each other neither.
  if (!row.isVertical && !isCurved(row)) {
    const placed = placeLetters(row.fragments);
    const isSentence = isJustified(placed);
    const letters = placed.map(({ letter, fragment }, i): RowLetter => {
      const separator = i === 0 ? '' : separatorAt(placed, i);
      return { letter, fragment, separator: separator === 'cell' && isSentence ? ' ' : separator };
    });
    return inReadingOrder(letters);
  }
  return row.fragments.flatMap((fragment, piece) =>
    fragment.letters.map((letter, i): RowLetter => {
      return { letter, fragment, separator: i === 0 && piece > 0 && row.isVertical ? ' ' : '' };
    }),
  );
}

/** Letters of the row stand at different slants: each has a frame of its own. */
export function isCurved({ fragments }: Row): boolean {
  return fragments.some((fragment) => fragment.angle !== fragments[0]!.angle);
}

/** Parts of a row that stand clearly apart; each text begins and ends with a letter. */
export function rowCells(row: Row): Cell[] {
  const cells: Cell[] = [];
  let text = '';
  let left = Infinity;
  let right = -Infinity;
  for (const { letter, separator } of rowLetters(row)) {
    if (separator === 'cell') {
      cells.push({ text: text.trimEnd(), left, right });
      text = '';
      left = letter.x;
      right = letter.right;
    } else text += separator;
    text += letter.text;
    left = Math.min(left, letter.x);
    right = Math.max(right, letter.right);
  }
  cells.push({ text: text.trimEnd(), left, right });
  return cells.map((cell) => ({ ...cell, text: cell.text.trim() })).filter((cell) => cell.text !== '');
}

function placeLetters(fragments: readonly Fragment[]): Placed[] {
  const placed: Placed[] = [];
  let previous: Letter | undefined;
  for (const fragment of fragments) {
    for (const letter of fragment.letters) {
      const gap = previous === undefined ? 0 : (letter.x - previous.right) / fragment.sizeMm;
      const step = previous === undefined ? 0 : (letter.x - previous.x) / fragment.sizeMm;
      placed.push({ letter, fragment, gap, step });
      previous = letter;
    }
  }
  return placed;
}

/** Words of a language with blanks, evenly apart: one sentence, however wide its gaps are. */
function isJustified(placed: readonly Placed[]): boolean {
  const gaps: number[] = [];
  let words = 0;
  for (const [i, { letter, fragment, gap }] of placed.entries()) {
    if (endsInHan(letter.text)) return false;
    if (i === 0 || fragment === placed[i - 1]!.fragment || gap <= LATIN_GAP) continue;
    gaps.push(gap);
    if (/\p{L}/u.test(letter.text)) words++;
  }
  gaps.sort((a, b) => a - b);
  const isText = gaps.length >= JUSTIFIED_GAPS && words > gaps.length / 2;
  return isText && gaps.at(-1)! <= JUSTIFIED_RATIO * gaps[gaps.length >> 1]!;
}

function separatorAt(placed: readonly Placed[], i: number): '' | ' ' | 'cell' {
  const before = placed[i - 1]!;
  const after = placed[i]!;
  const isBlankThere = before.letter.text.trim() === '' || after.letter.text.trim() === '';
  const isNewFragment = before.fragment !== after.fragment;
  const gapMm = after.gap * after.fragment.sizeMm;
  if (isNewFragment && gapMm >= Math.max(CELL_GAP_MM, CELL_GAP * after.fragment.sizeMm) && !isSpread(placed, i)) {
    return 'cell';
  }
  if (isBlankThere) return '';
  if (isNewFragment && (before.fragment.hasBlankAfter || after.fragment.hasBlankBefore)) return ' ';
  if (isNewFragment && isBlankWritten(placed, i)) return ' ';
  return after.gap > usualGap(before.letter.text, after.letter.text) && !isSpread(placed, i) ? ' ' : '';
}

/** A blank is a run of its own there; between Chinese letters it may be what spreads them. */
function isBlankWritten(placed: readonly Placed[], i: number): boolean {
  const before = placed[i - 1]!;
  const after = placed[i]!;
  if (!before.fragment.hasBlankRunAfter && !after.fragment.hasBlankRunBefore) return false;
  const isChinese = endsInHan(before.letter.text) && startsWithHan(after.letter.text);
  return !isChinese || !isSpread(placed, i);
}

function usualGap(before: string, after: string): number {
  const isHanBefore = endsInHan(before);
  const isHanAfter = startsWithHan(after);
  if (isHanBefore && isHanAfter) return HAN_GAP;
  return isHanBefore || isHanAfter ? MIXED_GAP : LATIN_GAP;
}

/** The gap, or the step, is like the one before it or after it: letters spread evenly or of one pitch, not words. */
function isSpread(placed: readonly Placed[], i: number): boolean {
  return placed[i]!.gap <= SPREAD_GAP && (isLike(placed, i, i - 1) || isLike(placed, i, i + 1));
}

function isLike(placed: readonly Placed[], i: number, j: number): boolean {
  const other = placed[j];
  if (other === undefined || j === 0) return false;
  const here = placed[i]!;
  if (!isOneWriting(placed, Math.min(i, j) - 1)) return false;
  return Math.abs(other.gap - here.gap) <= LIKE_GAP || Math.abs(other.step - here.step) <= LIKE_STEP;
}

/** The three letters from `first` on are of one fragment, or each is a fragment by itself. */
function isOneWriting(placed: readonly Placed[], first: number): boolean {
  const three = placed.slice(first, first + 3);
  if (three.some((p) => p.letter.text.trim() === '')) return false;
  return three.every((p) => p.fragment === three[0]!.fragment) || three.every((p) => p.fragment.letters.length === 1);
}
