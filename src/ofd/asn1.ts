/** BER as far as seals need it: tags, lengths (definite and not), nesting; what is cut off is read as far as it goes. */

export const TAG_INTEGER = 2;
export const TAG_OCTET_STRING = 4;
export const TAG_SEQUENCE = 16;
const TAG_UTF8 = 12;
const TAG_BMP = 30;
/** Every string type whose characters are bytes: UTF8, Numeric, Printable, T61, IA5, Visible. */
const STRING_TAGS: ReadonlySet<number> = new Set([TAG_UTF8, 18, 19, 20, 22, 26, TAG_BMP]);

const UNIVERSAL = 0;
const CONSTRUCTED = 0x20;
const LONG_TAG = 0x1f;
const INDEFINITE = 0x80;

/** Real seals nest 12 deep and have some 200 values. */
const MAX_DEPTH = 64;
const MAX_VALUES = 50_000;

export interface BerValue {
  /** Tag number of a universal type; -1 for all other classes. */
  readonly tag: number;
  /** Content bytes, without the end mark of an indefinite length. */
  readonly content: Uint8Array;
  /** Empty for primitive values. */
  readonly children: readonly BerValue[];
}

/** The bytes are no BER, or nest or branch without measure. */
export class BerError extends Error {}

/** The first value in `bytes`; what follows it is ignored. Throws BerError. */
export function readBer(bytes: Uint8Array): BerValue {
  return new BerReader(bytes).value(0, bytes.length, 0).value;
}

/** Characters of a string value, undefined for other types. */
export function berString(value: BerValue | undefined): string | undefined {
  if (value === undefined || !STRING_TAGS.has(value.tag)) return undefined;
  if (value.tag === TAG_BMP) return new TextDecoder('utf-16be').decode(value.content);
  return new TextDecoder('utf-8').decode(value.content);
}

/** Bytes of an OCTET STRING, its pieces joined where it is constructed; undefined for other types. */
export function berOctets(value: BerValue | undefined): Uint8Array | undefined {
  if (value === undefined || value.tag !== TAG_OCTET_STRING) return undefined;
  if (value.children.length === 0) return value.content;
  const pieces = value.children.flatMap((child) => berOctets(child) ?? []);
  const joined = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

interface Read {
  readonly value: BerValue;
  readonly next: number;
}

class BerReader {
  readonly #bytes: Uint8Array;
  #values = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  value(at: number, end: number, depth: number): Read {
    if (depth > MAX_DEPTH) throw new BerError(`values nest deeper than ${MAX_DEPTH}`);
    if (++this.#values > MAX_VALUES) throw new BerError(`more than ${MAX_VALUES} values`);
    const first = this.#byte(at, end);
    let position = at + 1;
    let tag = first & LONG_TAG;
    if (tag === LONG_TAG) {
      tag = -1;
      while (this.#byte(position++, end) & 0x80);
    }
    if (first >> 6 !== UNIVERSAL) tag = -1;
    const length = this.#byte(position++, end);
    const isConstructed = (first & CONSTRUCTED) !== 0;
    if (length === INDEFINITE) {
      if (!isConstructed) throw new BerError(`a primitive value at byte ${at} has no length`);
      return this.#indefinite(tag, position, end, depth);
    }
    const start = length < INDEFINITE ? position : position + (length & 0x7f);
    const size = length < INDEFINITE ? length : this.#longLength(position, start, end);
    // A value that runs over its parent is cut there: its picture may stand in what is left.
    const stop = Math.min(start + size, end);
    const children = isConstructed ? this.#children(start, stop, depth) : [];
    return { value: { tag, content: this.#bytes.subarray(start, stop), children }, next: stop };
  }

  #byte(at: number, end: number): number {
    if (at >= end) throw new BerError(`the data end at byte ${end} within a value`);
    return this.#bytes[at]!;
  }

  #longLength(at: number, start: number, end: number): number {
    let length = 0;
    for (let i = at; i < start; i++) length = length * 256 + this.#byte(i, end);
    return length;
  }

  #children(start: number, end: number, depth: number): BerValue[] {
    const children: BerValue[] = [];
    for (let at = start; at < end; ) {
      const { value, next } = this.value(at, end, depth + 1);
      children.push(value);
      at = next;
    }
    return children;
  }

  #indefinite(tag: number, start: number, end: number, depth: number): Read {
    const children: BerValue[] = [];
    let at = start;
    while (at < end) {
      if (this.#bytes[at] === 0 && (at + 1 >= end || this.#bytes[at + 1] === 0)) break;
      const { value, next } = this.value(at, end, depth + 1);
      children.push(value);
      at = next;
    }
    return { value: { tag, content: this.#bytes.subarray(start, at), children }, next: Math.min(at + 2, end) };
  }
}
