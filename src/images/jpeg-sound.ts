/** Whether a JPEG's own tables make sense: what decoders refuse must not be handed to a PDF's reader unseen. */
import { segments } from './jpeg-header.js';

const HUFFMAN_TABLES = 0xc4;
const SCAN = 0xda;
const QUANTISATION_TABLES = 0xdb;
const NOT_FRAMES = new Set([HUFFMAN_TABLES, 0xc8, 0xcc]);
const MAX_CODES = 256;

/** Sampling, tables and scans of a Huffman-coded JPEG agree; the coded data themselves are not looked at. */
export function isJpegSound(bytes: Uint8Array): boolean {
  const components = new Set<number>();
  const quantisations = new Set<number>();
  let isFramed = false;
  for (const { marker, at, length } of segments(bytes)) {
    const body = bytes.subarray(at + 2, at + length);
    if (marker === HUFFMAN_TABLES && !areHuffmanTables(body)) return false;
    if (marker === QUANTISATION_TABLES) addTableNumbers(body, quantisations);
    if (marker === SCAN && !isScan(body, components)) return false;
    if (marker < 0xc0 || marker > 0xcf || NOT_FRAMES.has(marker)) continue;
    if (isFramed || !readFrame(body, components)) return false;
    isFramed = true;
  }
  return isFramed && quantisations.size > 0;
}

/** Takes in the component numbers; false where sampling or tables are beyond what there can be. */
function readFrame(body: Uint8Array, components: Set<number>): boolean {
  const count = body[5] ?? 0;
  if (body.length < 6 + 3 * count) return false;
  for (let i = 0; i < count; i++) {
    const [id = 0, sampling = 0, table = 0] = body.subarray(6 + 3 * i);
    const [across, down] = [sampling >> 4, sampling & 15];
    if (across < 1 || across > 4 || down < 1 || down > 4 || table > 3) return false;
    components.add(id);
  }
  return components.size === count;
}

function isScan(body: Uint8Array, components: ReadonlySet<number>): boolean {
  const count = body[0] ?? 0;
  if (count < 1 || count > 4 || body.length < 4 + 2 * count) return false;
  return Array.from({ length: count }, (_, i) => body[1 + 2 * i]!).every((id) => components.has(id));
}

/** Each table: a byte for its kind, how many codes each length has, and that many values; the codes must be possible. */
function areHuffmanTables(body: Uint8Array): boolean {
  let at = 0;
  while (at + 17 <= body.length) {
    const kind = body[at]!;
    if (kind >> 4 > 1 || (kind & 15) > 3) return false;
    let codes = 0;
    let room = 1;
    for (let length = 1; length <= 16; length++) {
      const count = body[at + length]!;
      codes += count;
      room = 2 * room - count;
      if (room < 0) return false;
    }
    if (codes > MAX_CODES) return false;
    at += 17 + codes;
  }
  return at === body.length;
}

function addTableNumbers(body: Uint8Array, numbers: Set<number>): void {
  for (let at = 0; at < body.length; ) {
    numbers.add(body[at]! & 15);
    at += 1 + (body[at]! >> 4 === 0 ? 64 : 128);
  }
}
