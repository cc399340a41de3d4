/**
 * The text of a page over its drawing: not seen, but selected, searched and read aloud. A line of text is one element, so
 * that a copy has the lines of the page in reading order, and words are found across fonts.
 */
import { transformPoint } from '../../display/geometry.js';
import type { DisplayList } from '../../display/list.js';
import type { Fragment } from '../layout/fragment.js';
import { type Line, pageLines } from '../layout/lines.js';
import type { Row } from '../layout/rows.js';
import { isHan } from '../layout/scripts.js';
import { isCurved, rowLetters } from '../layout/spacing.js';
import { allowedText, attribute, escapeText, fixed } from '../svg/markup.js';

const POSITION_DECIMALS = 2;
const SIZE_DECIMALS = 3;
/** A Chinese letter this near to where every face would set it, in sizes, needs no place of its own. */
const NEAR_EM = 0.03;

/** Lines of the page from the first to the last; '' for a page without text. */
export function textLayer(list: DisplayList): string {
  const lines = pageLines(list).map(lineElement);
  if (lines.length === 0) return '';
  return `<g class="text" fill="transparent" font-family="sans-serif" xml:space="preserve">${lines.join('\n')}</g>`;
}

function lineElement(line: Line): string {
  const row = line[0]!;
  const size = fixed(row.sizeMm, SIZE_DECIMALS);
  const angle = isCurved(row) ? 0 : row.fragments[0]!.angle;
  const turn = angle === 0 ? undefined : `rotate(${angle})`;
  const pieces: Piece[] = [];
  for (const part of line) addRow(pieces, part);
  return `<text${attribute('transform', turn)}${attribute('font-size', size)}>${pieces.map((piece) => piece.element(size)).join('')}</text>`;
}

function addRow(pieces: Piece[], row: Row): void {
  const isTurned = isCurved(row);
  let needsBlank = pieces.length > 0;
  let before: Fragment | undefined;
  for (const { letter, fragment, separator } of rowLetters(row)) {
    const text = allowedText(letter.text);
    if (text === '') continue;
    const last = pieces.at(-1);
    if (last !== undefined && (needsBlank || separator !== '')) last.text += ' ';
    const isNew = needsBlank || separator !== '' || isTurned || fragment !== before;
    const { x, y } = isTurned ? onPage(letter.x, letter.y, fragment.angle) : letter;
    if (isNew || last === undefined || !last.add(text, x, y)) {
      pieces.push(new Piece(text, x, y, fragment.sizeMm, isTurned ? fragment.angle : 0));
    }
    needsBlank = false;
    before = fragment;
  }
}

/** A point of a frame that is turned by `angle` degrees, on the page. */
function onPage(x: number, y: number, angle: number): { readonly x: number; readonly y: number } {
  const radians = (angle * Math.PI) / 180;
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)];
  return transformPoint([cos, sin, -sin, cos, 0, 0], x, y);
}

/** Letters of one size: either each has its place, or the first has one and the rest follow as any face sets them. */
class Piece {
  text: string;
  readonly #x: number[];
  readonly #y: number[];
  readonly #sizeMm: number;
  readonly #angle: number;
  #letters = 1;

  /** `angle`: degrees by which the letters are turned, each about its own origin. */
  constructor(text: string, x: number, y: number, sizeMm: number, angle: number) {
    this.text = text;
    this.#x = [x];
    this.#y = [y];
    this.#sizeMm = sizeMm;
    this.#angle = angle;
  }

  /** Appends a letter; false where it belongs into a piece of its own. */
  add(text: string, x: number, y: number): boolean {
    const isFollowing = this.#isFollowing(x, y);
    const hasPlaces = this.#x.length === this.#letters;
    // Places are counted in UTF-16 units by some viewers and in characters by others: a longer letter is the last.
    const canBePlaced = hasPlaces && this.text.length === this.#letters;
    if (isFollowing && (this.#letters === 1 || !hasPlaces)) {
      this.text += text;
    } else if (canBePlaced) {
      this.text += text;
      this.#x.push(x);
      this.#y.push(y);
    } else return false;
    this.#letters++;
    return true;
  }

  /** Whether the letter stands where it would without a place: behind full-width letters. */
  #isFollowing(x: number, y: number): boolean {
    const expected = this.#x[0]! + this.#letters * this.#sizeMm;
    const isNear =
      Math.abs(x - expected) <= NEAR_EM * this.#sizeMm && Math.abs(y - this.#y[0]!) <= NEAR_EM * this.#sizeMm;
    return (
      isNear && isHan(this.text.codePointAt(this.text.length - 1)!) && Array.from(this.text).length === this.#letters
    );
  }

  element(lineSize: string): string {
    const size = fixed(this.#sizeMm, SIZE_DECIMALS);
    return (
      `<tspan${attribute('x', places(this.#x))}${attribute('y', heights(this.#y))}` +
      `${attribute('rotate', this.#angle === 0 ? undefined : this.#angle)}` +
      `${attribute('font-size', size === lineSize ? undefined : size)}>${escapeText(this.text)}</tspan>`
    );
  }
}

function places(values: readonly number[]): string {
  return values.map((value) => fixed(value, POSITION_DECIMALS)).join(' ');
}

/** One number where all are the same: letters stay on their line by themselves. */
function heights(values: readonly number[]): string {
  const [first, ...rest] = values.map((value) => fixed(value, POSITION_DECIMALS));
  return rest.every((number) => number === first) ? first! : [first, ...rest].join(' ');
}
