/** Damage to binary parts: fonts, pictures, seals, and whole packages. */
import type { Numbers } from './numbers.js';

const WORDS = [0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xfffe, 0xffff];
const LONGS = [0, 1, 0xff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff];
/** Headers and directories stand here; what is wrong in them goes furthest. */
const HEAD_BYTES = 512;

/** A damaged copy. */
export function mutateBytes(bytes: Uint8Array, numbers: Numbers): Uint8Array {
  let result: Buffer = Buffer.from(bytes);
  for (let count = 1 + numbers.below(numbers.pick([1, 2, 8])); count > 0; count--) result = damage(result, numbers);
  return result;
}

function damage(bytes: Buffer, numbers: Numbers): Buffer {
  if (bytes.length === 0) return Buffer.from([numbers.below(256)]);
  const at = numbers.once(2) ? numbers.below(Math.min(HEAD_BYTES, bytes.length)) : numbers.below(bytes.length);
  switch (numbers.below(9)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + numbers.below(64))]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(numbers.below(bytes.length))]).subarray(0, 1 << 20);
    case 3:
      bytes[at] = numbers.below(256);
      return bytes;
    case 4:
      bytes[at] = bytes[at]! ^ (1 << numbers.below(8));
      return bytes;
    case 5:
      return written(bytes, at, 2, numbers.pick(WORDS), numbers.once(3));
    case 6:
      return written(bytes, at, 4, numbers.pick(LONGS), numbers.once(3));
    case 7:
      bytes.copy(bytes, at, numbers.below(bytes.length), Math.min(bytes.length, at + 1 + numbers.below(32)));
      return bytes;
    default:
      for (let i = at; i < Math.min(bytes.length, at + 4); i++) bytes[i] = numbers.below(256);
      return bytes;
  }
}

/** A number of `size` bytes at `at` or the even place before it. */
function written(bytes: Buffer, at: number, size: 2 | 4, value: number, isLittleEndian: boolean): Buffer {
  const place = at & ~1;
  if (place + size > bytes.length) return bytes;
  if (isLittleEndian) bytes.writeUIntLE(value, place, size);
  else bytes.writeUIntBE(value, place, size);
  return bytes;
}
