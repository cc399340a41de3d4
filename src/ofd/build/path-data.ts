/** AbbreviatedData: the path language of OFD, read as leniently as producers write it. */
import { Path } from '../../display/geometry.js';
import { arcTo } from './arc.js';

const OPERANDS: Readonly<Record<string, number>> = { S: 2, M: 2, L: 2, Q: 4, B: 6, A: 7, C: 0 };

/** Ten kilometres: no drawing is that large, and sums stay exact. */
const MAX_COORDINATE = 1e7;

export interface PathData {
  readonly path: Path;
  /** Commands that were dropped: operands missing or unreadable, or an operator that does not exist. */
  readonly dropped: number;
}

/** Operators in either case, glued or not; an operator holds for all operands up to the next one. */
export function parsePathData(data: string): PathData {
  const reader = new PathReader();
  let at = 0;
  while (at < data.length) {
    const code = data.charCodeAt(at);
    const start = at;
    if (isLetter(code)) {
      do at++;
      while (at < data.length && isLetter(data.charCodeAt(at)));
      reader.word(data.slice(start, at));
    } else if (isSeparator(code)) {
      at++;
    } else {
      at = endOfNumber(data, at);
      reader.operand(Number(data.slice(start, at)));
    }
  }
  reader.end();
  return { path: reader.path, dropped: reader.dropped };
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

/** Blanks of all kinds, controls and commas. */
function isSeparator(code: number): boolean {
  return code <= 32 || code === 44 || code === 0xa0 || code === 0x3000;
}

/** The end of the token at `start`: of a number with its exponent, or of whatever else stands there. */
function endOfNumber(data: string, start: number): number {
  let at = start + 1;
  while (at < data.length) {
    const code = data.charCodeAt(at);
    // A sign in the middle starts the next number.
    if (isSeparator(code) || code === 43 || code === 45) break;
    if (isLetter(code)) {
      const isExponent = (code === 69 || code === 101) && /[-+\d]/.test(data[at + 1] ?? '');
      if (!isExponent) break;
      at++;
    }
    at++;
  }
  return at;
}

/** Collects commands into a path. */
class PathReader {
  readonly path = new Path();
  dropped = 0;
  #operator = '';
  #operands: number[] = [];
  #isBroken = false;
  /** A start that nothing has been drawn from yet. */
  #pendingMove = false;
  /** That start is of a command of its own, not what closing leads back to. */
  #isNewStart = false;
  #hasCurrent = false;
  #x = 0;
  #y = 0;
  #startX = 0;
  #startY = 0;

  /** Letters without anything between: operators in a row, or one unknown word. */
  word(letters: string): void {
    const upper = letters.toUpperCase();
    if ([...upper].some((letter) => OPERANDS[letter] === undefined)) {
      if (this.#operator === '') this.dropped++;
      this.#isBroken = true;
      return;
    }
    for (const letter of upper) {
      this.#finishOperator();
      this.#operator = letter;
      if (letter === 'C') this.#close();
    }
  }

  operand(value: number): void {
    if (this.#isBroken) return;
    if (Math.abs(value) <= MAX_COORDINATE) this.#operands.push(value);
    else this.#isBroken = true;
    const count = OPERANDS[this.#operator];
    if (count !== undefined && count > 0 && this.#operands.length === count) {
      this.#draw(this.#operands);
      this.#operands = [];
    }
  }

  end(): void {
    this.#finishOperator();
  }

  #finishOperator(): void {
    if (this.#operator !== '' && (this.#isBroken || this.#operands.length > 0)) this.dropped++;
    this.#operands = [];
    this.#isBroken = false;
  }

  #draw(operands: readonly number[]): void {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0] = operands;
    switch (this.#operator) {
      case 'S':
        this.#start(a, b);
        break;
      case 'M':
        this.#start(a, b);
        // Operands after the first pair are lines.
        this.#operator = 'L';
        break;
      case 'L':
        this.#line(a, b);
        break;
      case 'Q':
        this.#begin(a, b);
        this.path.quadTo(a, b, c, d);
        this.#at(c, d);
        break;
      case 'B':
        this.#begin(a, b);
        this.path.cubicTo(a, b, c, d, e, f);
        this.#at(e, f);
        break;
      case 'A':
        this.#arc(a, b, c, d !== 0, e !== 0, f, g);
        break;
    }
  }

  #line(x: number, y: number): void {
    if (this.#hasCurrent) {
      this.#begin(x, y);
      this.path.lineTo(x, y);
      this.#at(x, y);
    } else this.#start(x, y);
  }

  #arc(rx: number, ry: number, angle: number, isLarge: boolean, isClockwise: boolean, x: number, y: number): void {
    if (!this.#hasCurrent) {
      this.#start(x, y);
    } else if (x !== this.#x || y !== this.#y) {
      this.#begin(x, y);
      arcTo(this.path, { x0: this.#x, y0: this.#y, rx, ry, angle, isLarge, isClockwise, x, y });
      this.#at(x, y);
    }
  }

  #start(x: number, y: number): void {
    this.#pendingMove = true;
    this.#isNewStart = true;
    this.#hasCurrent = true;
    this.#startX = x;
    this.#startY = y;
    this.#at(x, y);
  }

  /** Writes the move that a drawing command needs; without any start the command's first point is one. */
  #begin(x: number, y: number): void {
    if (!this.#hasCurrent) this.#start(x, y);
    if (this.#pendingMove) this.path.moveTo(this.#startX, this.#startY);
    this.#pendingMove = false;
  }

  #at(x: number, y: number): void {
    this.#x = x;
    this.#y = y;
  }

  /** Closed at once, a figure is a point: round or square ends make a dot of it. */
  #close(): void {
    if (!this.#hasCurrent) return;
    if (this.#pendingMove) {
      if (!this.#isNewStart) return;
      this.path.moveTo(this.#startX, this.#startY);
      this.path.lineTo(this.#startX, this.#startY);
    }
    this.path.close();
    this.#pendingMove = true;
    this.#isNewStart = false;
    this.#at(this.#startX, this.#startY);
  }
}
