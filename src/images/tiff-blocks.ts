/** Undoes the compressions of TIFF strips and tiles. Each gives at most the bytes that the block should hold. */
import { decodeFax } from './fax.js';
import { inflateUpTo } from './inflate.js';

export interface BlockLayout {
  readonly compression: number;
  readonly columns: number;
  readonly rows: number;
  readonly bytes: number;
  /** Bits of each byte stand in reverse. */
  readonly isReversed: boolean;
  /** Bit 0: two-dimensional rows. */
  readonly t4Options: number;
}

export const FAX_COMPRESSIONS = [2, 3, 4];

/** Undefined for a compression that is not known. */
export async function decodeBlock(coded: Uint8Array, layout: BlockLayout): Promise<Uint8Array | undefined> {
  const data = layout.isReversed ? reverseBits(coded) : coded;
  const { columns, rows } = layout;
  switch (layout.compression) {
    case 1:
      return data.subarray(0, layout.bytes);
    case 2:
      return decodeFax(data, { columns, rows, coding: 'mh' });
    case 3:
      return decodeFax(data, { columns, rows, coding: (layout.t4Options & 1) === 1 ? 'g3-2d' : 'g3' });
    case 4:
      return decodeFax(data, { columns, rows, coding: 'g4' });
    case 5:
      return decodeLzw(data, layout.bytes);
    case 8:
    case 32946:
      return (await inflateUpTo(data, layout.bytes)).bytes;
    case 32773:
      return decodePackBits(data, layout.bytes);
    default:
      return undefined;
  }
}

export function reverseBits(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => {
    const halves = ((byte & 0x0f) << 4) | (byte >> 4);
    const pairs = ((halves & 0x33) << 2) | ((halves & 0xcc) >> 2);
    return ((pairs & 0x55) << 1) | ((pairs & 0xaa) >> 1);
  });
}

function decodePackBits(data: Uint8Array, bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  let at = 0;
  let to = 0;
  while (at < data.length && to < bytes) {
    const count = (data[at]! << 24) >> 24;
    at++;
    if (count >= 0) {
      const literal = data.subarray(at, at + Math.min(count + 1, bytes - to));
      out.set(literal, to);
      at += count + 1;
      to += literal.length;
    } else if (count !== -128) {
      out.fill(data[at] ?? 0, to, Math.min(bytes, to + 1 - count));
      at++;
      to += 1 - count;
    }
  }
  return out;
}

const CLEAR = 256;
const END = 257;

/** Codes from the highest bit, widened one code early, as TIFF 6 has it. */
function decodeLzw(data: Uint8Array, bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  const starts = new Uint32Array(4096); // where in `out` the string of a code stands
  const lengths = new Uint16Array(4096);
  let next = 258;
  let width = 9;
  let bit = 0;
  let to = 0;
  let previousAt = -1;
  let previousLength = 0;
  while (bit + width <= data.length * 8 && to < bytes) {
    const byte = bit >> 3;
    const window = (data[byte]! << 16) | ((data[byte + 1] ?? 0) << 8) | (data[byte + 2] ?? 0);
    const code = (window >> (24 - width - (bit & 7))) & ((1 << width) - 1);
    bit += width;
    if (code === END) break;
    if (code === CLEAR) {
      next = 258;
      width = 9;
      previousAt = -1;
      continue;
    }
    if (previousAt >= 0 && next < 4096) {
      // The string before and the first byte of this one, which follows it in `out`.
      starts[next] = previousAt;
      lengths[next] = previousLength + 1;
      next++;
    }
    const at = to;
    if (code < 256) out[to++] = code;
    else if (code < next) to = repeat(out, starts[code]!, lengths[code]!, to);
    else break;
    previousAt = at;
    previousLength = to - at;
    if (next + 1 >= 1 << width && width < 12) width++;
  }
  return out;
}

function repeat(out: Uint8Array, from: number, length: number, to: number): number {
  const end = Math.min(out.length, to + length);
  for (let i = from; to < end; i++) out[to++] = out[i]!;
  return end;
}
