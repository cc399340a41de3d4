/**
 * Writes PNG files from pixels, with as few bits a pixel as they need. A page of black text comes out at less than
 * half the size, and in half the time, of what the raster library writes, which knows only colours with opacity.
 */
import { once } from 'node:events';
import { MM_PER_INCH } from '../display/units.js';
import { crc32, createDeflate } from '../zlib.js';
import type { Pixels } from './pixels.js';

/** Pixels that are asked for some rows at a time. */
export interface PixelRows {
  readonly widthPx: number;
  readonly heightPx: number;
  /** RGBA of `count` rows from row `first` on, alpha not multiplied in. */
  rows(first: number, count: number): Uint8Array;
}

export function pixelRows({ widthPx, heightPx, rgba }: Pixels): PixelRows {
  const stride = widthPx * 4;
  return { widthPx, heightPx, rows: (first, count) => rgba.subarray(first * stride, (first + count) * stride) };
}

export interface PngOptions {
  /** Resolution that the file states; none where undefined. */
  readonly dpi?: number;
  /** Of zlib, 1 (fast) to 9 (small). */
  readonly level?: number;
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const GREY = 0;
const RGB = 2;
const GREY_ALPHA = 4;
const RGB_ALPHA = 6;
/** Bytes of filtered rows that are handed to zlib at a time; a whole page of them would double the memory it takes. */
const BAND_BYTES = 1 << 20;

interface Layout {
  readonly colorType: number;
  readonly bitDepth: 1 | 8;
  readonly samples: number;
}

/** A PNG of the pixels: black and white in one bit, grey in one sample, alpha only where some pixel is not opaque. */
export async function encodePng(pixels: PixelRows, { dpi, level = 6 }: PngOptions = {}): Promise<Uint8Array> {
  const layout = layoutOf(pixels);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(pixels.widthPx, 0);
  header.writeUInt32BE(pixels.heightPx, 4);
  header[8] = layout.bitDepth;
  header[9] = layout.colorType;
  const data = await deflated(layout.bitDepth === 1 ? packedBands(pixels) : filteredBands(pixels, layout), level);
  const parts = [SIGNATURE, chunk('IHDR', header)];
  if (dpi !== undefined) parts.push(chunk('pHYs', physicalSize(dpi)));
  return Buffer.concat([...parts, chunk('IDAT', data), chunk('IEND', new Uint8Array(0))]);
}

function layoutOf(pixels: PixelRows): Layout {
  const found = { isGrey: true, isBilevel: true, isOpaque: true };
  for (const { first, count } of bandsOf(pixels.heightPx, pixels.widthPx * 4)) {
    look(pixels.rows(first, count), found);
    if (!found.isGrey && !found.isOpaque) break;
  }
  const { isGrey, isBilevel, isOpaque } = found;
  if (isGrey && isOpaque) return { colorType: GREY, bitDepth: isBilevel ? 1 : 8, samples: 1 };
  if (isGrey) return { colorType: GREY_ALPHA, bitDepth: 8, samples: 2 };
  return isOpaque ? { colorType: RGB, bitDepth: 8, samples: 3 } : { colorType: RGB_ALPHA, bitDepth: 8, samples: 4 };
}

function look(rgba: Uint8Array, found: { isGrey: boolean; isBilevel: boolean; isOpaque: boolean }): void {
  let { isGrey, isBilevel, isOpaque } = found;
  for (let i = 0; i < rgba.length; i += 4) {
    const red = rgba[i]!;
    if (red !== rgba[i + 1] || red !== rgba[i + 2]) isGrey = false;
    if (red !== 0 && red !== 255) isBilevel = false;
    if (rgba[i + 3] !== 255) isOpaque = false;
  }
  Object.assign(found, { isGrey, isBilevel, isOpaque });
}

async function deflated(bands: Iterable<Uint8Array>, level: number): Promise<Uint8Array> {
  const deflate = createDeflate({ level, chunkSize: 1 << 18 });
  const parts: Buffer[] = [];
  deflate.on('data', (part: Buffer) => parts.push(part));
  for (const band of bands) if (!deflate.write(band)) await once(deflate, 'drain');
  deflate.end();
  await once(deflate, 'end');
  return Buffer.concat(parts);
}

/** Groups of rows of about BAND_BYTES. */
function* bandsOf(heightPx: number, stride: number): Generator<{ first: number; count: number }> {
  const rows = Math.max(1, Math.floor(BAND_BYTES / stride));
  for (let first = 0; first < heightPx; first += rows) yield { first, count: Math.min(rows, heightPx - first) };
}

/** The rows as zlib gets them. `write` puts one of them, its filter's number first, at an offset of a band. */
function* bands(
  pixels: PixelRows,
  stride: number,
  write: (rgba: Uint8Array, band: Uint8Array, at: number) => void,
): Generator<Uint8Array> {
  const rowBytes = pixels.widthPx * 4;
  for (const { first, count } of bandsOf(pixels.heightPx, rowBytes)) {
    const rgba = pixels.rows(first, count);
    const band = new Uint8Array(count * stride);
    for (let i = 0; i < count; i++) write(rgba.subarray(i * rowBytes, (i + 1) * rowBytes), band, i * stride);
    yield band;
  }
}

function packedBands(pixels: PixelRows): Generator<Uint8Array> {
  return bands(pixels, Math.ceil(pixels.widthPx / 8) + 1, (rgba, band, at) => {
    for (let x = 0; x < pixels.widthPx; x++) {
      if (rgba[x * 4] === 0) continue;
      const byte = at + 1 + (x >> 3);
      band[byte] = band[byte]! | (0x80 >> (x & 7));
    }
  });
}

function filteredBands(pixels: PixelRows, { samples }: Layout): Generator<Uint8Array> {
  const length = pixels.widthPx * samples;
  let above = new Uint8Array(length);
  let row = new Uint8Array(length);
  return bands(pixels, length + 1, (rgba, band, at) => {
    readSamples(rgba, row, samples);
    filterRow(row, above, samples, band, at);
    [above, row] = [row, above];
  });
}

/**
 * Rows of text and flat colour repeat themselves, which zlib finds best in the plain samples; rows of photographs
 * get the differences from the left or from above, whichever are smaller.
 */
function filterRow(row: Uint8Array, above: Uint8Array, samples: number, band: Uint8Array, at: number): void {
  let repeats = 0;
  let sumLeft = 0;
  let sumAbove = 0;
  for (let i = samples; i < row.length; i++) {
    const value = row[i]!;
    const left = value - row[i - samples]!;
    if (left === 0) repeats++;
    sumLeft += Math.abs((left << 24) >> 24);
    sumAbove += Math.abs(((value - above[i]!) << 24) >> 24);
  }
  if (repeats * 2 >= row.length - samples) {
    band.set(row, at + 1);
    return;
  }
  const isLeft = sumLeft <= sumAbove;
  band[at] = isLeft ? 1 : 2;
  for (let i = 0; i < row.length; i++) {
    band[at + 1 + i] = row[i]! - (isLeft ? (i < samples ? 0 : row[i - samples]!) : above[i]!);
  }
}

function readSamples(rgba: Uint8Array, row: Uint8Array, samples: number): void {
  for (let i = 0, from = 0; i < row.length; from += 4) {
    row[i++] = rgba[from]!;
    if (samples >= 3) {
      row[i++] = rgba[from + 1]!;
      row[i++] = rgba[from + 2]!;
    }
    if (samples % 2 === 0) row[i++] = rgba[from + 3]!;
  }
}

/** Pixels a metre in both directions. */
function physicalSize(dpi: number): Uint8Array {
  const perMetre = Math.round((dpi * 1000) / MM_PER_INCH);
  const bytes = Buffer.alloc(9);
  bytes.writeUInt32BE(perMetre, 0);
  bytes.writeUInt32BE(perMetre, 4);
  bytes[8] = 1;
  return bytes;
}

function chunk(type: string, body: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(body.length + 12);
  bytes.writeUInt32BE(body.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(body, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, body.length + 8)), body.length + 8);
  return bytes;
}
