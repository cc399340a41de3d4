/** Type 1 charstrings → outlines: flex and hint replacement through the usual OtherSubrs, accented glyphs by `seac`. */
import { Path } from '../display/geometry.js';
import { i32 } from './bytes.js';
import { CharstringPen } from './charstring-pen.js';

const MAX_DEPTH = 10;
const MAX_OPERATORS = 50_000;
const MAX_BYTES = 2 << 20;
const MAX_STACK = 256;

export interface Type1Context {
  readonly subrs: readonly (Uint8Array | undefined)[];
  /** The charstring of a code of the Standard Encoding. */
  standardGlyph(code: number): Uint8Array | undefined;
}

export interface Type1Glyph {
  readonly path: Path;
  readonly width: number;
}

/** Draws a charstring. What runs over a limit gives the outline so far. */
export function drawType1(charstring: Uint8Array, context: Type1Context): Type1Glyph {
  const path = new Path();
  const run = new Type1Run(path, context, 0, 0, false);
  run.execute(charstring);
  return { path, width: run.width };
}

class Type1Run {
  width = 0;
  readonly #path: Path;
  readonly #context: Type1Context;
  readonly #offsetX: number;
  readonly #offsetY: number;
  readonly #isPart: boolean;
  readonly #pen: CharstringPen;
  #stack: number[] = [];
  /** Results of OtherSubrs, waiting for `pop`. */
  #results: number[] = [];
  /** Points of a flex in progress: reference, then two curves. */
  #flex: [number, number][] | undefined;
  #flexStart: [number, number] = [0, 0];
  #sideBearing = 0;
  #operators = 0;
  #bytes = 0;
  #isEnded = false;

  constructor(path: Path, context: Type1Context, offsetX: number, offsetY: number, isPart: boolean) {
    this.#path = path;
    this.#context = context;
    this.#offsetX = offsetX;
    this.#offsetY = offsetY;
    this.#isPart = isPart;
    this.#pen = new CharstringPen(path);
  }

  execute(charstring: Uint8Array): void {
    this.#run(charstring, 0);
    this.#pen.close();
  }

  #run(bytes: Uint8Array, depth: number): void {
    let at = 0;
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_BYTES) this.#isEnded = true;
    while (at < bytes.length && !this.#isEnded) {
      const b = bytes[at++]!;
      if (b >= 32) {
        at = this.#number(bytes, at, b);
        continue;
      }
      if (++this.#operators > MAX_OPERATORS) this.#isEnded = true;
      else if (b === 11) return;
      else if (b === 10) {
        const subr = this.#context.subrs[this.#pop()];
        if (subr !== undefined && depth < MAX_DEPTH) this.#run(subr, depth + 1);
      } else if (b === 12) this.#escape(bytes[at++] ?? 0);
      else {
        this.#operator(b);
        this.#stack = [];
      }
    }
  }

  #number(bytes: Uint8Array, at: number, b: number): number {
    if (b <= 246) this.#push(b - 139);
    else if (b <= 250) this.#push((b - 247) * 256 + (bytes[at] ?? 0) + 108);
    else if (b <= 254) this.#push(-(b - 251) * 256 - (bytes[at] ?? 0) - 108);
    else this.#push(i32(bytes, at));
    return at + (b <= 246 ? 0 : b <= 254 ? 1 : 4);
  }

  #push(value: number): void {
    if (this.#stack.length < MAX_STACK) this.#stack.push(value);
  }

  #pop(): number {
    return this.#stack.pop() ?? 0;
  }

  #operator(b: number): void {
    const [a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0, a5 = 0] = this.#stack;
    if (b === 4) this.#move(0, a0);
    else if (b === 5) this.#pen.line(a0, a1);
    else if (b === 6) this.#pen.line(a0, 0);
    else if (b === 7) this.#pen.line(0, a0);
    else if (b === 8) this.#pen.curve(a0, a1, a2, a3, a4, a5);
    else if (b === 9) this.#pen.close();
    else if (b === 13) this.#sidebearing(a0, 0, a1);
    else if (b === 14) this.#isEnded = true;
    else if (b === 21) this.#move(a0, a1);
    else if (b === 22) this.#move(a0, 0);
    else if (b === 30) this.#pen.curve(0, a0, a1, a2, a3, 0);
    else if (b === 31) this.#pen.curve(a0, 0, a1, a2, 0, a3);
  }

  /** While a flex is collected, moves only lead from point to point. */
  #move(dx: number, dy: number): void {
    if (this.#flex === undefined) {
      this.#pen.move(dx, dy);
      return;
    }
    this.#pen.x += dx;
    this.#pen.y += dy;
  }

  #sidebearing(x: number, y: number, width: number): void {
    this.width = width;
    this.#sideBearing = x;
    this.#pen.x = this.#offsetX + x;
    this.#pen.y = this.#offsetY + y;
  }

  #escape(b: number): void {
    const stack = this.#stack;
    if (b === 12) {
      const divisor = this.#pop();
      const dividend = this.#pop();
      this.#push(divisor === 0 ? 0 : dividend / divisor);
    } else if (b === 16) this.#callOtherSubr();
    else if (b === 17) this.#push(this.#results.pop() ?? 0);
    else {
      if (b === 6) this.#accented(stack);
      else if (b === 7) this.#sidebearing(stack[0] ?? 0, stack[1] ?? 0, stack[2] ?? 0);
      // setcurrentpoint (33) repeats where a flex ended; the pen stands there already.
      this.#stack = [];
    }
  }

  #callOtherSubr(): void {
    const number = this.#pop();
    const count = Math.max(0, Math.min(this.#pop(), this.#stack.length));
    const values = this.#stack.splice(this.#stack.length - count, count);
    if (number === 1) {
      this.#flex = [];
      this.#flexStart = [this.#pen.x, this.#pen.y];
    } else if (number === 2) this.#flex?.push([this.#pen.x, this.#pen.y]);
    else if (number === 0) {
      this.#endFlex();
      this.#results = [values[2] ?? 0, values[1] ?? 0];
      return;
    }
    this.#results = values.reverse();
  }

  #endFlex(): void {
    const points = this.#flex;
    this.#flex = undefined;
    if (points === undefined || points.length < 7) return;
    // The collected moves have left the point where the flex began.
    [this.#pen.x, this.#pen.y] = this.#flexStart;
    for (const first of [1, 4]) {
      const [p1, p2, p3] = [points[first]!, points[first + 1]!, points[first + 2]!];
      const { x, y } = this.#pen;
      this.#pen.curve(p1[0] - x, p1[1] - y, p2[0] - p1[0], p2[1] - p1[1], p3[0] - p2[0], p3[1] - p2[1]);
    }
  }

  #accented(stack: readonly number[]): void {
    const [accentBearing = 0, dx = 0, dy = 0, base = 0, accent = 0] = stack;
    this.#isEnded = true;
    if (this.#isPart) return;
    const baseGlyph = this.#context.standardGlyph(base);
    const accentGlyph = this.#context.standardGlyph(accent);
    if (baseGlyph !== undefined) new Type1Run(this.#path, this.#context, 0, 0, true).execute(baseGlyph);
    if (accentGlyph === undefined) return;
    const x = this.#sideBearing + dx - accentBearing;
    new Type1Run(this.#path, this.#context, x, dy, true).execute(accentGlyph);
  }
}
