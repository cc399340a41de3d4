/** Type 2 charstrings → outlines (Adobe technical note 5177), with limits instead of trust. */
import { Path } from '../display/geometry.js';
import { i16, i32 } from './bytes.js';
import type { CffIndex } from './cff.js';
import { CharstringPen } from './charstring-pen.js';

export const MAX_SUBR_DEPTH = 10;
const MAX_OPERATORS = 50_000;
const MAX_COORDINATES = 100_000;
/** Of the charstring and all subroutines that it runs. */
const MAX_BYTES = 2 << 20;
const STACK_SIZE = 513;

/** What a charstring needs besides its own bytes. */
export interface Type2Context {
  readonly globalSubrs: CffIndex;
  readonly localSubrs: CffIndex;
  /** The charstring of a code of the Standard Encoding, for accented glyphs made by `endchar`. */
  standardGlyph(code: number): Uint8Array | undefined;
}

export interface Type2Glyph {
  readonly path: Path;
  /** Width minus the font's nominal width; undefined where the charstring leaves the default. */
  readonly widthDelta: number | undefined;
}

/** Draws a charstring. What runs over a limit or off its end gives the outline so far. */
export function drawType2(charstring: Uint8Array, context: Type2Context): Type2Glyph {
  const path = new Path();
  const run = new Type2Run(path, context, 0, 0, false);
  run.execute(charstring);
  return { path, widthDelta: run.widthDelta };
}

/** The number added to a subroutine's operand. */
export function subrBias(index: CffIndex): number {
  return index.count < 1240 ? 107 : index.count < 33900 ? 1131 : 32768;
}

class Type2Run {
  widthDelta: number | undefined;
  /** Only the first `#size` values count. */
  readonly #stack: number[] = [];
  #size = 0;
  /** First operand of the current operator: 1 where the width stands before it. */
  #base = 0;
  #hasWidth = false;
  #stems = 0;
  #operators = 0;
  #bytes = 0;
  #isEnded = false;
  readonly #storage: number[] = [];
  readonly #pen: CharstringPen;
  readonly #path: Path;
  readonly #context: Type2Context;
  readonly #isPart: boolean;

  constructor(path: Path, context: Type2Context, x: number, y: number, isPart: boolean) {
    this.#path = path;
    this.#context = context;
    this.#pen = new CharstringPen(path, x, y);
    this.#isPart = isPart;
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
      if (b >= 32 || b === 28) {
        at = this.#number(bytes, at, b);
        continue;
      }
      if (++this.#operators > MAX_OPERATORS || this.#path.coordinates.length > MAX_COORDINATES) {
        this.#isEnded = true;
        return;
      }
      if (b === 10 || b === 29) {
        const index = b === 10 ? this.#context.localSubrs : this.#context.globalSubrs;
        if (depth < MAX_SUBR_DEPTH) this.#run(index.item(this.#pop() + subrBias(index)), depth + 1);
      } else if (b === 11) return;
      else if (b === 12) this.#escape(bytes[at++] ?? 0);
      else if (b === 19 || b === 20) {
        this.#hint();
        at += (this.#stems + 7) >> 3;
      } else this.#operator(b);
    }
  }

  #number(bytes: Uint8Array, at: number, b: number): number {
    if (b === 28) this.#push(i16(bytes, at));
    else if (b <= 246) this.#push(b - 139);
    else if (b <= 250) this.#push((b - 247) * 256 + (bytes[at] ?? 0) + 108);
    else if (b <= 254) this.#push(-(b - 251) * 256 - (bytes[at] ?? 0) - 108);
    else this.#push(i32(bytes, at) / 65536);
    return at + (b === 28 ? 2 : b <= 246 ? 0 : b <= 254 ? 1 : 4);
  }

  #push(value: number): void {
    if (this.#size < STACK_SIZE) this.#stack[this.#size++] = value;
  }

  #pop(): number {
    return this.#size > 0 ? this.#stack[--this.#size]! : 0;
  }

  /** Sees to the width: it stands first on the stack of the first operator that clears it. */
  #takeWidth(isPresent: boolean): void {
    if (!this.#hasWidth && isPresent) {
      this.widthDelta = this.#stack[0]!;
      this.#base = 1;
    }
    this.#hasWidth = true;
  }

  #clear(): void {
    this.#size = 0;
    this.#base = 0;
  }

  #hint(): void {
    this.#takeWidth(this.#size % 2 === 1);
    this.#stems += (this.#size - this.#base) >> 1;
    this.#clear();
  }

  #operator(b: number): void {
    const s = this.#stack;
    const size = this.#size;
    switch (b) {
      case 1:
      case 3:
      case 18:
      case 23:
        this.#hint();
        return;
      case 4:
        this.#takeWidth(size > 1);
        this.#pen.move(0, this.#pop());
        break;
      case 22:
        this.#takeWidth(size > 1);
        this.#pen.move(this.#pop(), 0);
        break;
      case 21: {
        this.#takeWidth(size > 2);
        const dy = this.#pop();
        this.#pen.move(this.#pop(), dy);
        break;
      }
      case 5:
        for (let i = 0; i + 1 < size; i += 2) this.#pen.line(s[i]!, s[i + 1]!);
        break;
      case 6:
      case 7:
        for (let i = 0; i < size; i++) {
          if ((i % 2 === 0) === (b === 6)) this.#pen.line(s[i]!, 0);
          else this.#pen.line(0, s[i]!);
        }
        break;
      case 8:
        this.#curves(0, size);
        break;
      case 24:
        this.#curves(0, size - 2);
        if (size >= 2) this.#pen.line(s[size - 2]!, s[size - 1]!);
        break;
      case 25:
        for (let i = 0; i + 7 < size; i += 2) this.#pen.line(s[i]!, s[i + 1]!);
        this.#curves(Math.max(0, size - 6), size);
        break;
      case 26:
      case 27:
        this.#flatCurves(b === 27);
        break;
      case 30:
      case 31:
        this.#alternatingCurves(b === 31);
        break;
      case 14:
        this.#endChar();
        break;
    }
    this.#clear();
  }

  #curves(from: number, to: number): void {
    const s = this.#stack;
    for (let i = from; i + 5 < to; i += 6) {
      this.#pen.curve(s[i]!, s[i + 1]!, s[i + 2]!, s[i + 3]!, s[i + 4]!, s[i + 5]!);
    }
  }

  /** hhcurveto and vvcurveto: curves that start and end along one axis. */
  #flatCurves(isHorizontal: boolean): void {
    const s = this.#stack;
    let across = this.#size % 4 === 0 ? 0 : s[0]!;
    for (let i = this.#size % 4 === 0 ? 0 : 1; i + 3 < this.#size; i += 4) {
      if (isHorizontal) this.#pen.curve(s[i]!, across, s[i + 1]!, s[i + 2]!, s[i + 3]!, 0);
      else this.#pen.curve(across, s[i]!, s[i + 1]!, s[i + 2]!, 0, s[i + 3]!);
      across = 0;
    }
  }

  /** hvcurveto and vhcurveto: curves that start along one axis and end along the other, in turn. */
  #alternatingCurves(startsHorizontal: boolean): void {
    const s = this.#stack;
    let isHorizontal = startsHorizontal;
    for (let i = 0; i + 3 < this.#size; i += 4) {
      const last = this.#size - i === 5 ? s[i + 4]! : 0;
      if (isHorizontal) this.#pen.curve(s[i]!, 0, s[i + 1]!, s[i + 2]!, last, s[i + 3]!);
      else this.#pen.curve(0, s[i]!, s[i + 1]!, s[i + 2]!, s[i + 3]!, last);
      isHorizontal = !isHorizontal;
    }
  }

  #endChar(): void {
    this.#takeWidth(this.#size === 1 || this.#size === 5);
    this.#pen.close();
    if (this.#size - this.#base >= 4 && !this.#isPart) this.#accented();
    this.#isEnded = true;
  }

  #accented(): void {
    const [dx = 0, dy = 0, base = 0, accent = 0] = this.#stack.slice(this.#base, this.#size);
    const baseGlyph = this.#context.standardGlyph(base);
    const accentGlyph = this.#context.standardGlyph(accent);
    if (baseGlyph !== undefined) new Type2Run(this.#path, this.#context, 0, 0, true).execute(baseGlyph);
    if (accentGlyph !== undefined) new Type2Run(this.#path, this.#context, dx, dy, true).execute(accentGlyph);
  }

  #escape(b: number): void {
    if (b >= 34 && b <= 37) {
      this.#flex(b);
      this.#clear();
      return;
    }
    if (!this.#arithmetic(b)) this.#clear();
  }

  #flex(b: number): void {
    const n = (i: number): number => (i < this.#size ? this.#stack[i]! : 0);
    if (b === 34) {
      this.#pen.curve(n(0), 0, n(1), n(2), n(3), 0);
      this.#pen.curve(n(4), 0, n(5), -n(2), n(6), 0);
    } else if (b === 35) {
      this.#pen.curve(n(0), n(1), n(2), n(3), n(4), n(5));
      this.#pen.curve(n(6), n(7), n(8), n(9), n(10), n(11));
    } else if (b === 36) {
      this.#pen.curve(n(0), n(1), n(2), n(3), n(4), 0);
      this.#pen.curve(n(5), 0, n(6), n(7), n(8), -(n(1) + n(3) + n(7)));
    } else {
      const dx = n(0) + n(2) + n(4) + n(6) + n(8);
      const dy = n(1) + n(3) + n(5) + n(7) + n(9);
      const isFlat = Math.abs(dx) > Math.abs(dy);
      this.#pen.curve(n(0), n(1), n(2), n(3), n(4), n(5));
      this.#pen.curve(n(6), n(7), n(8), n(9), isFlat ? n(10) : -dx, isFlat ? -dy : n(10));
    }
  }

  /** Whether `b` was an operator that leaves its result on the stack. */
  #arithmetic(b: number): boolean {
    switch (b) {
      case 3: {
        const right = this.#pop();
        this.#push(this.#pop() !== 0 && right !== 0 ? 1 : 0);
        return true;
      }
      case 4: {
        const right = this.#pop();
        this.#push(this.#pop() !== 0 || right !== 0 ? 1 : 0);
        return true;
      }
      case 5:
        this.#push(this.#pop() === 0 ? 1 : 0);
        return true;
      case 9:
        this.#push(Math.abs(this.#pop()));
        return true;
      case 10:
        this.#push(this.#pop() + this.#pop());
        return true;
      case 11:
        this.#push(-this.#pop() + this.#pop());
        return true;
      case 12: {
        const divisor = this.#pop();
        const dividend = this.#pop();
        this.#push(divisor === 0 ? 0 : dividend / divisor);
        return true;
      }
      case 14:
        this.#push(-this.#pop());
        return true;
      case 15: {
        const right = this.#pop();
        this.#push(this.#pop() === right ? 1 : 0);
        return true;
      }
      case 18:
        this.#pop();
        return true;
      case 23:
        this.#push(0.5);
        return true;
      case 24:
        this.#push(this.#pop() * this.#pop());
        return true;
      case 26:
        this.#push(Math.sqrt(Math.max(0, this.#pop())));
        return true;
      default:
        return this.#stackOperator(b);
    }
  }

  #stackOperator(b: number): boolean {
    const top = this.#pop();
    switch (b) {
      case 20:
        this.#storage[top & 31] = this.#pop();
        return true;
      case 21:
        this.#push(this.#storage[top & 31] ?? 0);
        return true;
      case 22: {
        const second = this.#pop();
        const otherwise = this.#pop();
        const then = this.#pop();
        this.#push(second <= top ? then : otherwise);
        return true;
      }
      case 27:
        this.#push(top);
        this.#push(top);
        return true;
      case 28: {
        const below = this.#pop();
        this.#push(top);
        this.#push(below);
        return true;
      }
      case 29:
        this.#push(this.#stack[this.#size - 1 - Math.max(0, Math.trunc(top))] ?? 0);
        return true;
      case 30:
        this.#roll(Math.trunc(this.#pop()), Math.trunc(top));
        return true;
      default:
        return false;
    }
  }

  #roll(count: number, shift: number): void {
    if (count <= 0 || count > this.#size) return;
    const start = this.#size - count;
    const values = this.#stack.slice(start, this.#size);
    for (let i = 0; i < count; i++) this.#stack[start + ((((i + shift) % count) + count) % count)] = values[i]!;
  }
}
