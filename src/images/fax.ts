/** Decodes the fax codings of ITU-T T.4 and T.6 as TIFF carries them. Time and memory are bounded by the pixels. */
import { BLACK_CODES, LONGEST_CODE, WHITE_CODES } from './fax-codes.js';

export interface FaxLayout {
  readonly columns: number;
  readonly rows: number;
  /** 'mh': T.4 one-dimensional rows that start on bytes; 'g3', 'g3-2d': T.4 with end-of-line codes; 'g4': T.6. */
  readonly coding: 'mh' | 'g3' | 'g3-2d' | 'g4';
}

type RowResult = 'whole' | 'damaged' | 'end';

const END_OF_LINE_BITS = 12;

/** Rows packed to bytes, 1 for black. What cannot be read is white. */
export function decodeFax(data: Uint8Array, layout: FaxLayout): Uint8Array {
  const stride = Math.ceil(layout.columns / 8);
  const out = new Uint8Array(stride * layout.rows);
  const decoder = new FaxDecoder(data, layout.columns);
  for (let row = 0; row < layout.rows; row++) {
    const result = decodeRow(decoder, layout.coding);
    if (result === 'end') break;
    paintRuns(out, row * stride, decoder.changes, layout.columns);
    if (result === 'damaged' && !(layout.coding.startsWith('g3') && decoder.skipToEndOfLine())) break;
  }
  return out;
}

function decodeRow(decoder: FaxDecoder, coding: FaxLayout['coding']): RowResult {
  if (decoder.isAtEnd) return 'end';
  if (coding === 'g4') return decoder.isAtEndOfLine() ? 'end' : decoder.readTwoDimensional();
  if (coding === 'mh') {
    const result = decoder.readOneDimensional();
    decoder.alignToByte();
    return result;
  }
  const endsOfLine = decoder.readEndsOfLine(coding === 'g3-2d');
  if (endsOfLine > 1) return 'end'; // return to control
  return coding === 'g3-2d' && !decoder.isNextOneDimensional
    ? decoder.readTwoDimensional()
    : decoder.readOneDimensional();
}

/** `changes` alternates: white ends at the first, black at the second … */
function paintRuns(out: Uint8Array, start: number, changes: readonly number[], columns: number): void {
  for (let i = 0; i < changes.length; i += 2) {
    const from = changes[i]!;
    const to = Math.min(changes[i + 1] ?? columns, columns);
    if (from < to) fillBits(out, start, from, to);
  }
}

function fillBits(out: Uint8Array, start: number, from: number, to: number): void {
  const first = start + (from >> 3);
  const last = start + ((to - 1) >> 3);
  const head = 0xff >> (from & 7);
  const tail = (0xff << (7 - ((to - 1) & 7))) & 0xff;
  if (first === last) out[first]! |= head & tail;
  else {
    out[first]! |= head;
    out.fill(0xff, first + 1, last);
    out[last]! |= tail;
  }
}

class FaxDecoder {
  /** Changes of colour in the row just read; of the row above while reading. */
  changes: number[] = [];
  isNextOneDimensional = true;
  private readonly data: Uint8Array;
  private readonly columns: number;
  private bit = 0;

  constructor(data: Uint8Array, columns: number) {
    this.data = data;
    this.columns = columns;
  }

  get isAtEnd(): boolean {
    return this.bit >= this.data.length * 8;
  }

  alignToByte(): void {
    this.bit = (this.bit + 7) & ~7;
  }

  isAtEndOfLine(): boolean {
    return this.peek(END_OF_LINE_BITS) === 1;
  }

  /** Fill bits and end-of-line codes before a row, with their tag bits. How many codes there were. */
  readEndsOfLine(isTagged: boolean): number {
    let count = 0;
    for (;;) {
      const start = this.bit;
      while (this.peek(END_OF_LINE_BITS) === 0 && !this.isAtEnd) this.bit++;
      if (!this.isAtEndOfLine()) {
        if (this.bit !== start && !this.isAtEnd) this.bit = start; // not fill but a code of this row
        return count;
      }
      this.bit += END_OF_LINE_BITS;
      if (isTagged) this.isNextOneDimensional = this.take(1) === 1;
      count++;
    }
  }

  /** After damage: to the next end-of-line code. False where there is none. */
  skipToEndOfLine(): boolean {
    while (!this.isAtEnd) {
      if (this.isAtEndOfLine()) return true;
      this.bit++;
    }
    return false;
  }

  readOneDimensional(): RowResult {
    const row: number[] = [];
    let at = 0;
    let isBlack = false;
    while (at < this.columns) {
      const run = this.readRun(isBlack);
      if (run === undefined) return this.finish(row, 'damaged');
      at += run;
      row.push(Math.min(at, this.columns));
      isBlack = !isBlack;
    }
    return this.finish(row, 'whole');
  }

  readTwoDimensional(): RowResult {
    const above = this.changes;
    const row: number[] = [];
    let at = -1;
    let color = 0;
    let index = 0; // of b1 in `above`: the first change right of `at` towards the other colour
    while (at < this.columns) {
      index = Math.max(0, index - 2);
      if ((index & 1) !== color) index++;
      while (index < above.length && above[index]! <= at) index += 2;
      const b1 = above[index] ?? this.columns;
      const mode = this.readMode();
      if (mode === undefined) return this.finish(row, 'damaged');
      if (mode === 'pass') at = above[index + 1] ?? this.columns;
      else if (mode === 'horizontal') {
        const first = this.readRun(color === 1);
        const second = first === undefined ? undefined : this.readRun(color === 0);
        if (first === undefined || second === undefined) return this.finish(row, 'damaged');
        const middle = Math.min(this.columns, Math.max(at, 0) + first);
        at = Math.min(this.columns, middle + second);
        row.push(middle, at);
      } else {
        const next = Math.min(this.columns, b1 + mode);
        if (next < Math.max(at, 0)) return this.finish(row, 'damaged');
        at = next;
        row.push(at);
        color ^= 1;
      }
    }
    return this.finish(row, 'whole');
  }

  private finish(row: number[], result: RowResult): RowResult {
    this.changes = row;
    return result;
  }

  /** A vertical offset, 'pass' or 'horizontal' (T.4 table 4). */
  private readMode(): number | 'pass' | 'horizontal' | undefined {
    const bits = this.peek(7);
    if (bits >= 64) return this.skip(1, 0);
    if (bits >= 48) return this.skip(3, 1);
    if (bits >= 32) return this.skip(3, -1);
    if (bits >= 16) return this.skip(3, 'horizontal');
    if (bits >= 8) return this.skip(4, 'pass');
    if (bits >= 6) return this.skip(6, 2);
    if (bits >= 4) return this.skip(6, -2);
    if (bits === 3) return this.skip(7, 3);
    return bits === 2 ? this.skip(7, -3) : undefined;
  }

  private skip<T>(bits: number, value: T): T | undefined {
    if (this.isAtEnd) return undefined;
    this.bit += bits;
    return value;
  }

  /** Make-up codes and the terminating code after them. */
  private readRun(isBlack: boolean): number | undefined {
    const table = isBlack ? BLACK_CODES : WHITE_CODES;
    let total = 0;
    while (total <= this.columns && !this.isAtEnd) {
      const code = table[this.peek(LONGEST_CODE)]!;
      if (code === 0) return undefined;
      this.bit += code & 15;
      const run = code >> 4;
      total += run;
      if (run < 64) return total;
    }
    return undefined;
  }

  private take(bits: number): number {
    const value = this.peek(bits);
    this.bit += bits;
    return value;
  }

  /** The next bits, at most 16, zeros after the end. */
  private peek(bits: number): number {
    const byte = this.bit >> 3;
    const window = ((this.data[byte] ?? 0) << 16) | ((this.data[byte + 1] ?? 0) << 8) | (this.data[byte + 2] ?? 0);
    return (window >> (24 - bits - (this.bit & 7))) & ((1 << bits) - 1);
  }
}
