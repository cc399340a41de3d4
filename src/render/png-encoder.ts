/** Writes PNG files from pixels, as few bits a pixel as they need. For backends that have no raster library at hand. */
import { crc32, deflateSync } from 'node:zlib';
import type { Pixels } from './pixels.js';

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const GREY = 0;
const RGB = 2;
const GREY_ALPHA = 4;
const RGB_ALPHA = 6;

interface Layout {
  readonly colorType: number;
  readonly bitDepth: 1 | 8;
  readonly samples: number;
}

/** A PNG of the pixels: black and white in one bit, grey in one sample, alpha only where some pixel is not opaque. */
export function encodePng(pixels: Pixels): Uint8Array {
  const layout = layoutOf(pixels.rgba);
  const rows = layout.bitDepth === 1 ? packedRows(pixels) : filteredRows(pixels, layout);
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, pixels.widthPx);
  view.setUint32(4, pixels.heightPx);
  header[8] = layout.bitDepth;
  header[9] = layout.colorType;
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 6 })),
    chunk('IEND', new Uint8Array(0)),
  ]);
}

function layoutOf(rgba: Uint8Array): Layout {
  let isGrey = true;
  let isBilevel = true;
  let isOpaque = true;
  for (let i = 0; i < rgba.length; i += 4) {
    const red = rgba[i]!;
    if (red !== rgba[i + 1] || red !== rgba[i + 2]) isGrey = false;
    if (red !== 0 && red !== 255) isBilevel = false;
    if (rgba[i + 3] !== 255) isOpaque = false;
  }
  if (isGrey && isOpaque) return { colorType: GREY, bitDepth: isBilevel ? 1 : 8, samples: 1 };
  if (isGrey) return { colorType: GREY_ALPHA, bitDepth: 8, samples: 2 };
  return isOpaque ? { colorType: RGB, bitDepth: 8, samples: 3 } : { colorType: RGB_ALPHA, bitDepth: 8, samples: 4 };
}

function packedRows({ rgba, widthPx, heightPx }: Pixels): Uint8Array {
  const stride = Math.ceil(widthPx / 8) + 1;
  const rows = new Uint8Array(stride * heightPx);
  for (let y = 0; y < heightPx; y++) {
    for (let x = 0; x < widthPx; x++) {
      if (rgba[(y * widthPx + x) * 4] === 0) continue;
      const at = y * stride + 1 + (x >> 3);
      rows[at] = rows[at]! | (0x80 >> (x & 7));
    }
  }
  return rows;
}

/** Rows with the filter (none, left, above) whose differences are smallest, after the filter's number. */
function filteredRows({ rgba, widthPx, heightPx }: Pixels, { samples }: Layout): Uint8Array {
  const length = widthPx * samples;
  const rows = new Uint8Array((length + 1) * heightPx);
  let above = new Uint8Array(length);
  let row = new Uint8Array(length);
  const candidates = [new Uint8Array(length), new Uint8Array(length), new Uint8Array(length)] as const;
  for (let y = 0; y < heightPx; y++) {
    readSamples(rgba, y * widthPx * 4, row, samples);
    const sums = [0, 0, 0];
    for (let i = 0; i < length; i++) {
      const value = row[i]!;
      const left = i < samples ? 0 : row[i - samples]!;
      candidates[0][i] = value;
      candidates[1][i] = value - left;
      candidates[2][i] = value - above[i]!;
      for (let f = 0; f < 3; f++) sums[f]! += Math.min(candidates[f]![i]!, 256 - candidates[f]![i]!);
    }
    const best = sums.indexOf(Math.min(...sums));
    rows[y * (length + 1)] = best;
    rows.set(candidates[best]!, y * (length + 1) + 1);
    [above, row] = [row, above];
  }
  return rows;
}

function readSamples(rgba: Uint8Array, start: number, row: Uint8Array, samples: number): void {
  for (let i = 0, from = start; i < row.length; from += 4) {
    row[i++] = rgba[from]!;
    if (samples >= 3) {
      row[i++] = rgba[from + 1]!;
      row[i++] = rgba[from + 2]!;
    }
    if (samples % 2 === 0) row[i++] = rgba[from + 3]!;
  }
}

function chunk(type: string, body: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(body.length + 12);
  bytes.writeUInt32BE(body.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(body, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, body.length + 8)), body.length + 8);
  return bytes;
}
