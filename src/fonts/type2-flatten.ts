/**
 * A Type 2 charstring with its subroutines written out and its width replaced, hints and all: what a subset needs to
 * stand on its own. Only bytes are moved; nothing is drawn.
 */
import type { ByteWriter } from './bytes.js';
import { i16 } from './bytes.js';
import { MAX_SUBR_DEPTH, subrBias, type Type2Context } from './type2.js';
import { writeCharstringNumber } from './type2-encode.js';

const MAX_BYTES = 60_000;
const MAX_CALLS = 5000;
/** What every reader has room for. */
const MAX_OPERANDS = 48;

/** Whether an operator may have that many operands (width taken off). Readers differ in what they forgive. */
const ARITY: Readonly<Record<number, (count: number) => boolean>> = {
  1: isPairs,
  3: isPairs,
  4: (n) => n === 1,
  5: isPairs,
  6: (n) => n >= 1,
  7: (n) => n >= 1,
  8: (n) => n >= 6 && n % 6 === 0,
  14: (n) => n === 0,
  18: isPairs,
  21: (n) => n === 2,
  22: (n) => n === 1,
  23: isPairs,
  24: (n) => n >= 8 && n % 6 === 2,
  25: (n) => n >= 8 && n % 2 === 0,
  26: isCurves,
  27: isCurves,
  30: isCurves,
  31: isCurves,
};
const FLEX_OPERANDS: Readonly<Record<number, number>> = { 34: 7, 35: 13, 36: 9, 37: 11 };

function isPairs(count: number): boolean {
  return count >= 2 && count % 2 === 0;
}

function isCurves(count: number): boolean {
  return count >= 4 && count % 4 <= 1;
}

/**
 * Appends the flattened charstring; `widthDelta` is written first where given. Gives false, with nothing appended,
 * where the charstring computes its operands, is built of other glyphs or is not quite right: those have to be drawn.
 */
export function flattenType2(
  writer: ByteWriter,
  charstring: Uint8Array,
  context: Type2Context,
  widthDelta: number | undefined,
): boolean {
  const start = writer.length;
  if (widthDelta !== undefined) writeCharstringNumber(writer, widthDelta);
  const flattener = new Flattener(writer, context);
  if (!flattener.run(charstring, 0)) {
    writer.truncate(start);
    return false;
  }
  flattener.finish();
  return true;
}

class Flattener {
  readonly #writer: ByteWriter;
  readonly #context: Type2Context;
  readonly #start: number;
  /** Values of the operands that wait for their operator, and where each starts in the output. */
  readonly #operands: number[] = [];
  readonly #starts: number[] = [];
  #hasWidth = false;
  #stems = 0;
  #calls = 0;
  #isEnded = false;

  constructor(writer: ByteWriter, context: Type2Context) {
    this.#writer = writer;
    this.#context = context;
    this.#start = writer.length;
  }

  /** Charstrings that just stop get the end that they lack. */
  finish(): void {
    if (this.#isEnded) return;
    if (this.#starts.length > 0) this.#writer.truncate(this.#starts[0]!);
    this.#writer.u8(14);
  }

  run(bytes: Uint8Array, depth: number): boolean {
    let at = 0;
    while (at < bytes.length && !this.#isEnded) {
      if (this.#writer.length - this.#start > MAX_BYTES) return false;
      const b = bytes[at]!;
      if (b >= 32 || b === 28) {
        at = this.#number(bytes, at, b);
        continue;
      }
      at++;
      if (b === 11) return true;
      if (b === 10 || b === 29) {
        if (!this.#call(b, depth)) return false;
      } else if (b === 12) {
        const second = bytes[at++] ?? 0;
        // Only the flexes draw; the rest computes.
        if (this.#operands.length !== FLEX_OPERANDS[second]) return false;
        this.#writer.u8(12);
        this.#take(second);
      } else if (b === 19 || b === 20) {
        this.#dropWidth(this.#operands.length % 2 === 1);
        if (this.#operands.length % 2 === 1 || this.#operands.length > MAX_OPERANDS) return false;
        this.#stems += this.#operands.length >> 1;
        const length = (this.#stems + 7) >> 3;
        if (at + length > bytes.length) return false;
        this.#take(b);
        this.#writer.copy(bytes, at, at + length);
        at += length;
      } else if (!this.#operator(b)) return false;
    }
    return true;
  }

  #number(bytes: Uint8Array, at: number, b: number): number {
    const length = b === 28 ? 3 : b <= 246 ? 1 : b <= 254 ? 2 : 5;
    const value =
      b === 28
        ? i16(bytes, at + 1)
        : b <= 246
          ? b - 139
          : b <= 250
            ? (b - 247) * 256 + (bytes[at + 1] ?? 0) + 108
            : b <= 254
              ? -(b - 251) * 256 - (bytes[at + 1] ?? 0) - 108
              : Number.NaN;
    this.#starts.push(this.#writer.length);
    this.#operands.push(value);
    this.#writer.copy(bytes, at, at + length);
    return at + length;
  }

  /** The number of the subroutine is the last operand: it goes, the subroutine comes. */
  #call(b: number, depth: number): boolean {
    const number = this.#operands.pop();
    const start = this.#starts.pop();
    if (number === undefined || start === undefined || depth >= MAX_SUBR_DEPTH || ++this.#calls > MAX_CALLS) {
      return false;
    }
    this.#writer.truncate(start);
    const index = b === 10 ? this.#context.localSubrs : this.#context.globalSubrs;
    const subr = number + subrBias(index);
    return subr >= 0 && subr < index.count && this.run(index.item(subr), depth + 1);
  }

  #operator(b: number): boolean {
    const count = this.#operands.length;
    const isStem = b === 1 || b === 3 || b === 18 || b === 23;
    if (isStem) this.#dropWidth(count % 2 === 1);
    else if (b === 4 || b === 22) this.#dropWidth(count > 1);
    else if (b === 21) this.#dropWidth(count > 2);
    else if (b === 14) this.#dropWidth(count === 1);
    const left = this.#operands.length;
    if (left > MAX_OPERANDS || ARITY[b]?.(left) !== true) return false;
    if (isStem) this.#stems += left >> 1;
    this.#isEnded = b === 14;
    this.#take(b);
    return true;
  }

  /** The first operator that clears the stack may have the width before its operands: the new one stands already. */
  #dropWidth(isPresent: boolean): void {
    if (this.#hasWidth) return;
    this.#hasWidth = true;
    if (!isPresent) return;
    const from = this.#starts[0]!;
    const to = this.#starts[1] ?? this.#writer.length;
    this.#writer.remove(from, to);
    this.#operands.shift();
    this.#starts.shift();
    for (let i = 0; i < this.#starts.length; i++) this.#starts[i]! -= to - from;
  }

  #take(operator: number): void {
    this.#writer.u8(operator);
    this.#operands.length = 0;
    this.#starts.length = 0;
  }
}
