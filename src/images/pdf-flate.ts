/** Packs decoded pixels for PDF with the fewest bits that hold them, deflated. */
import { deflateSync } from '../zlib.js';
import { paeth } from './png.js';
import type { DecodedImage, DecodeParameters, PdfImageData } from './types.js';

/** Predictor 15: each row says by which of PNG's filters it was prepared. */
const PNG_PREDICTOR = 15;
const MAX_COLORS = 256;

/** Grey and few-coloured pictures come out as such; opacity becomes a soft mask, unless all is opaque. */
export function flatePdfImage(image: DecodedImage): PdfImageData {
  const opacity = image.hasAlpha ? withSoftMask(image) : {};
  return { ...packColors(image), ...opacity, ...(image.isPartial ? { isPartial: true } : {}) };
}

function withSoftMask(image: DecodedImage): { softMask: PdfImageData } {
  const { widthPx, heightPx, rgba } = image;
  const alpha = new Uint8Array(widthPx * heightPx);
  for (let i = 0; i < alpha.length; i++) alpha[i] = rgba[i * 4 + 3]!;
  return { softMask: packGray(alpha, widthPx, heightPx) };
}

function packColors(image: DecodedImage): PdfImageData {
  const { widthPx, heightPx, rgba } = image;
  if (isGray(rgba)) {
    const gray = new Uint8Array(widthPx * heightPx);
    for (let i = 0; i < gray.length; i++) gray[i] = rgba[i * 4]!;
    return packGray(gray, widthPx, heightPx);
  }
  return packIndexed(image) ?? packRgb(image);
}

function isGray(rgba: Uint8Array): boolean {
  for (let i = 0; i < rgba.length; i += 4) {
    if (rgba[i] !== rgba[i + 1] || rgba[i] !== rgba[i + 2]) return false;
  }
  return true;
}

/** The fewest bits whose evenly spaced levels hold all values. */
function packGray(gray: Uint8Array, width: number, height: number): PdfImageData {
  const bits = grayBits(gray);
  const levelStep = 255 / ((1 << bits) - 1);
  const common = { filter: 'FlateDecode', width, height, bitsPerComponent: bits, colorSpace: 'DeviceGray' } as const;
  if (bits === 8) return { ...common, ...deflateRows(gray, width, 1, 8, width) };
  const packed = packBits(gray, levelStep, width, height, bits);
  return { ...common, data: deflateSync(packed) };
}

function grayBits(gray: Uint8Array): 1 | 2 | 4 | 8 {
  const isUsed = new Uint8Array(256);
  // By index: an iterator takes four times as long on a large picture.
  for (let i = 0; i < gray.length; i++) isUsed[gray[i]!] = 1;
  const fits = (step: number) => isUsed.every((used, value) => used === 0 || value % step === 0);
  if (fits(255)) return 1;
  if (fits(85)) return 2;
  return fits(17) ? 4 : 8;
}

function packIndexed(image: DecodedImage): PdfImageData | undefined {
  const { widthPx, heightPx, rgba } = image;
  const indexOf = new Map<number, number>();
  const indices = new Uint8Array(widthPx * heightPx);
  let lastColor = -1;
  let lastIndex = 0;
  for (let i = 0; i < indices.length; i++) {
    const color = (rgba[i * 4]! << 16) | (rgba[i * 4 + 1]! << 8) | rgba[i * 4 + 2]!;
    if (color !== lastColor) {
      let index = indexOf.get(color);
      if (index === undefined) {
        if (indexOf.size === MAX_COLORS) return undefined;
        index = indexOf.size;
        indexOf.set(color, index);
      }
      lastColor = color;
      lastIndex = index;
    }
    indices[i] = lastIndex;
  }
  const palette = Uint8Array.from(
    [...indexOf.keys()].flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]),
  );
  const bits = indexOf.size <= 2 ? 1 : indexOf.size <= 4 ? 2 : indexOf.size <= 16 ? 4 : 8;
  const packed = bits === 8 ? indices : packBits(indices, 1, widthPx, heightPx, bits);
  return {
    filter: 'FlateDecode',
    data: deflateSync(packed),
    width: widthPx,
    height: heightPx,
    bitsPerComponent: bits,
    colorSpace: { palette },
  };
}

function packRgb(image: DecodedImage): PdfImageData {
  const { widthPx, heightPx, rgba } = image;
  const rgb = new Uint8Array(widthPx * heightPx * 3);
  for (let from = 0, to = 0; to < rgb.length; from += 4, to += 3) {
    rgb[to] = rgba[from]!;
    rgb[to + 1] = rgba[from + 1]!;
    rgb[to + 2] = rgba[from + 2]!;
  }
  return {
    filter: 'FlateDecode',
    width: widthPx,
    height: heightPx,
    bitsPerComponent: 8,
    colorSpace: 'DeviceRGB',
    ...deflateRows(rgb, widthPx * 3, 3, 8, widthPx),
  };
}

/** Values are divided by `unit`. Rows start on bytes; the leftmost value stands in the highest bits. */
function packBits(values: Uint8Array, unit: number, width: number, height: number, bits: number): Uint8Array {
  const stride = Math.ceil((width * bits) / 8);
  const packed = new Uint8Array(stride * height);
  for (let y = 0, from = 0; y < height; y++) {
    for (let x = 0, bit = y * stride * 8; x < width; x++, bit += bits, from++) {
      if (values[from] !== 0) packed[bit >> 3]! |= (values[from]! / unit) << (8 - bits - (bit & 7));
    }
  }
  return packed;
}

function deflateRows(
  samples: Uint8Array,
  stride: number,
  colors: number,
  bits: number,
  columns: number,
): { data: Uint8Array; decodeParms: DecodeParameters } {
  return { data: deflateSync(filterRows(samples, stride, colors)), decodeParms: predictorParms(colors, bits, columns) };
}

/** `DecodeParms` for rows that carry a PNG filter byte. */
export function predictorParms(colors: number, bits: number, columns: number): DecodeParameters {
  return { Predictor: PNG_PREDICTOR, Colors: colors, BitsPerComponent: bits, Columns: columns };
}

/** Puts the filter byte before each row: of none, left, above and Paeth the one with the smallest sum of differences. */
function filterRows(samples: Uint8Array, stride: number, step: number): Uint8Array {
  const rows = samples.length / stride;
  const out = new Uint8Array(rows * (stride + 1));
  const candidates = FILTERS.map(() => new Uint8Array(stride));
  let above: Uint8Array = new Uint8Array(stride);
  for (let y = 0; y < rows; y++) {
    const line = samples.subarray(y * stride, (y + 1) * stride);
    let best = 0;
    let bestSum = Infinity;
    for (let i = 0; i < FILTERS.length; i++) {
      const sum = FILTERS[i]!.apply(line, above, step, candidates[i]!);
      if (sum < bestSum) {
        bestSum = sum;
        best = i;
      }
    }
    out[y * (stride + 1)] = FILTERS[best]!.type;
    out.set(candidates[best]!, y * (stride + 1) + 1);
    above = line;
  }
  return out;
}

interface RowFilter {
  /** The number in the filter byte. */
  readonly type: number;
  /** Writes the differences to `to`; gives the sum of their sizes. */
  readonly apply: (line: Uint8Array, above: Uint8Array, step: number, to: Uint8Array) => number;
}

const FILTERS: readonly RowFilter[] = [
  { type: 0, apply: keep },
  { type: 1, apply: lessLeft },
  { type: 2, apply: lessAbove },
  { type: 4, apply: lessPaeth },
];

// Each loop is written out: these run once a byte of every large picture.

function keep(line: Uint8Array, _above: Uint8Array, _step: number, to: Uint8Array): number {
  to.set(line);
  return sizeOfDifferences(to);
}

function lessLeft(line: Uint8Array, _above: Uint8Array, step: number, to: Uint8Array): number {
  to.set(line.subarray(0, step));
  for (let i = step; i < line.length; i++) to[i] = line[i]! - line[i - step]!;
  return sizeOfDifferences(to);
}

function lessAbove(line: Uint8Array, above: Uint8Array, _step: number, to: Uint8Array): number {
  for (let i = 0; i < line.length; i++) to[i] = line[i]! - above[i]!;
  return sizeOfDifferences(to);
}

function lessPaeth(line: Uint8Array, above: Uint8Array, step: number, to: Uint8Array): number {
  for (let i = 0; i < Math.min(step, line.length); i++) to[i] = line[i]! - above[i]!;
  for (let i = step; i < line.length; i++) {
    to[i] = line[i]! - paeth(line[i - step]!, above[i]!, above[i - step]!);
  }
  return sizeOfDifferences(to);
}

/** Bytes as signed numbers, their sizes added. */
function sizeOfDifferences(differences: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < differences.length; i++) {
    const difference = differences[i]!;
    sum += difference < 128 ? difference : 256 - difference;
  }
  return sum;
}
