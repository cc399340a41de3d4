/** Big-endian reads that give 0 beyond the end (broken fonts are the rule here), and a growing writer. */

export function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

export function i16(bytes: Uint8Array, at: number): number {
  return (u16(bytes, at) << 16) >> 16;
}

export function i8(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) >> 24;
}

export function u32(bytes: Uint8Array, at: number): number {
  return ((u16(bytes, at) << 16) | u16(bytes, at + 2)) >>> 0;
}

export function i32(bytes: Uint8Array, at: number): number {
  return (u16(bytes, at) << 16) | u16(bytes, at + 2);
}

/** An unsigned number of 1 to 4 bytes. */
export function uintOfSize(bytes: Uint8Array, at: number, size: number): number {
  let value = 0;
  for (let i = 0; i < size; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

/** Bytes as characters U+0000–U+00FF. */
export function latin1(bytes: Uint8Array, from = 0, to = bytes.length): string {
  let text = '';
  for (let i = Math.max(0, from); i < Math.min(to, bytes.length); i++) text += String.fromCharCode(bytes[i]!);
  return text;
}

/** Appends big-endian values to a buffer that grows. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  u16(value: number): void {
    this.#reserve(2);
    this.#bytes[this.#length++] = value >> 8;
    this.#bytes[this.#length++] = value;
  }

  u32(value: number): void {
    this.u16(value >>> 16);
    this.u16(value);
  }

  bytes(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Appends `from`…`to` of `source`; quicker than a view for a few bytes. */
  copy(source: Uint8Array, from: number, to: number): void {
    const end = Math.min(to, source.length);
    this.#reserve(Math.max(0, end - from));
    for (let i = from; i < end; i++) this.#bytes[this.#length++] = source[i]!;
  }

  latin1(text: string): void {
    for (let i = 0; i < text.length; i++) this.u8(text.charCodeAt(i));
  }

  /** Zero bytes up to a multiple of `size`. */
  align(size: number): void {
    while (this.#length % size !== 0) this.u8(0);
  }

  /** Takes back everything after `length`. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** Takes out the bytes from `from` up to `to`. */
  remove(from: number, to: number): void {
    this.#bytes.copyWithin(from, to, this.#length);
    this.#length -= to - from;
  }

  /** A copy of what was written. */
  take(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
