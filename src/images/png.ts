/** Decodes PNG exactly: every depth, interlaced or not, alpha as it stands in the file (a canvas would round it). */
import { inflateUpTo } from './inflate.js';
import { type PngFile, readPng } from './png-file.js';
import type { DecodedImage } from './types.js';

interface Pass {
  readonly x0: number;
  readonly y0: number;
  readonly xStep: number;
  readonly yStep: number;
  readonly columns: number;
  readonly rows: number;
}

const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Undefined where not even one row can be read. Rows after damage stay blank. */
export async function decodePng(bytes: Uint8Array): Promise<DecodedImage | undefined> {
  const png = readPng(bytes);
  if (png === undefined) return undefined;
  const passes = passesOf(png);
  const expected = passes.reduce((sum, pass) => sum + pass.rows * (1 + rowBytes(png, pass.columns)), 0);
  const { bytes: raw } = await inflateUpTo(png.data, expected);
  const rgba = new Uint8Array(png.width * png.height * 4);
  const expand = rowExpander(png);
  let at = 0;
  let rowsRead = 0;
  for (const pass of passes) {
    const length = rowBytes(png, pass.columns);
    let previous: Uint8Array = new Uint8Array(length);
    for (let row = 0; row < pass.rows && at + 1 + length <= raw.length; row++) {
      const line = raw.subarray(at + 1, at + 1 + length);
      unfilter(raw[at]!, line, previous, pixelBytes(png));
      expand(line, pass.columns, rgba, ((pass.y0 + row * pass.yStep) * png.width + pass.x0) * 4, pass.xStep * 4);
      previous = line;
      at += 1 + length;
      rowsRead++;
    }
  }
  if (rowsRead === 0) return undefined;
  const isPartial = at < expected;
  const mayHaveAlpha = png.colorType >= 4 || png.transparency !== undefined || isPartial;
  return { widthPx: png.width, heightPx: png.height, rgba, hasAlpha: mayHaveAlpha && hasTransparency(rgba), isPartial };
}

/** Bytes of one row without its filter byte. */
export function rowBytes(png: PngFile, columns: number): number {
  return Math.ceil((columns * png.samplesPerPixel * png.bitDepth) / 8);
}

function pixelBytes(png: PngFile): number {
  return Math.max(1, (png.samplesPerPixel * png.bitDepth) >> 3);
}

function passesOf(png: PngFile): Pass[] {
  const { width, height } = png;
  if (!png.isInterlaced) return [{ x0: 0, y0: 0, xStep: 1, yStep: 1, columns: width, rows: height }];
  return ADAM7.map(([x0, y0, xStep, yStep]) => ({
    x0,
    y0,
    xStep,
    yStep,
    columns: Math.max(0, Math.ceil((width - x0) / xStep)),
    rows: width > x0 ? Math.max(0, Math.ceil((height - y0) / yStep)) : 0,
  })).filter((pass) => pass.columns > 0 && pass.rows > 0);
}

/** Undoes a row's filter in place; an unknown filter leaves the row as it is. */
export function unfilter(filter: number, line: Uint8Array, above: Uint8Array, step: number): void {
  const length = line.length;
  if (filter === 1) {
    for (let i = step; i < length; i++) line[i] = line[i]! + line[i - step]!;
  } else if (filter === 2) {
    for (let i = 0; i < length; i++) line[i] = line[i]! + above[i]!;
  } else if (filter === 3) {
    for (let i = 0; i < length; i++) line[i] = line[i]! + (((i < step ? 0 : line[i - step]!) + above[i]!) >> 1);
  } else if (filter === 4) {
    for (let i = 0; i < length; i++) {
      const left = i < step ? 0 : line[i - step]!;
      const corner = i < step ? 0 : above[i - step]!;
      line[i] = line[i]! + paeth(left, above[i]!, corner);
    }
  }
}

/** Of left, above and corner the one nearest to left + above - corner (PNG 9.4). */
export function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner;
  const toLeft = Math.abs(estimate - left);
  const toAbove = Math.abs(estimate - above);
  const toCorner = Math.abs(estimate - corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

type RowExpander = (line: Uint8Array, columns: number, rgba: Uint8Array, at: number, step: number) => void;

function rowExpander(png: PngFile): RowExpander {
  if (png.colorType === 3) return tableExpander(png.bitDepth, paletteColors(png));
  if (png.colorType === 0 && png.bitDepth <= 8) return tableExpander(png.bitDepth, grayColors(png));
  const isPlain = png.bitDepth === 8 && png.transparency === undefined;
  if (isPlain && png.colorType === 2) return expandRgb;
  return isPlain && png.colorType === 6 ? expandRgba : wideExpander(png);
}

/** Each sample names one of 256 colours. */
function tableExpander(bitDepth: number, colors: Uint8Array): RowExpander {
  const whole = new Uint32Array(colors.buffer);
  return (line, columns, rgba, start, step) => {
    const pixels = new Uint32Array(rgba.buffer, rgba.byteOffset, rgba.byteLength >> 2);
    const pixelStep = step >> 2;
    for (let x = 0, at = start >> 2; x < columns; x++, at += pixelStep) {
      pixels[at] = whole[sampleAt(line, x, bitDepth)]!;
    }
  };
}

function paletteColors(png: PngFile): Uint8Array {
  const colors = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) {
    for (let c = 0; c < 3; c++) colors[i * 4 + c] = png.palette[i * 3 + c] ?? 0;
    colors[i * 4 + 3] = png.transparency?.[i] ?? 255;
  }
  return colors;
}

function grayColors(png: PngFile): Uint8Array {
  const colors = new Uint8Array(256 * 4);
  const scale = 255 / ((1 << png.bitDepth) - 1);
  const clear = colorKey(png, 1)?.[0];
  for (let i = 0; i < 256; i++) {
    colors.fill(Math.min(255, i * scale), i * 4, i * 4 + 3);
    colors[i * 4 + 3] = i === clear ? 0 : 255;
  }
  return colors;
}

function expandRgb(line: Uint8Array, columns: number, rgba: Uint8Array, start: number, step: number): void {
  for (let x = 0, from = 0, at = start; x < columns; x++, from += 3, at += step) {
    rgba[at] = line[from]!;
    rgba[at + 1] = line[from + 1]!;
    rgba[at + 2] = line[from + 2]!;
    rgba[at + 3] = 255;
  }
}

function expandRgba(line: Uint8Array, columns: number, rgba: Uint8Array, start: number, step: number): void {
  if (step === 4) {
    rgba.set(line.subarray(0, columns * 4), start);
    return;
  }
  for (let x = 0, from = 0, at = start; x < columns; x++, from += 4, at += step) {
    for (let c = 0; c < 4; c++) rgba[at + c] = line[from + c]!;
  }
}

/** Grey with alpha, a clear colour, or 16 bits, of which the high byte is kept. */
function wideExpander(png: PngFile): RowExpander {
  const bytesPerSample = png.bitDepth >> 3;
  const isGray = png.colorType === 0 || png.colorType === 4;
  const hasAlpha = png.colorType >= 4;
  const green = isGray ? 0 : bytesPerSample;
  const blue = isGray ? 0 : 2 * bytesPerSample;
  const alpha = (isGray ? 1 : 3) * bytesPerSample;
  const stride = png.samplesPerPixel * bytesPerSample;
  const key = hasAlpha ? undefined : colorKey(png, png.samplesPerPixel);
  return (line, columns, rgba, start, step) => {
    for (let x = 0, from = 0, at = start; x < columns; x++, from += stride, at += step) {
      rgba[at] = line[from]!;
      rgba[at + 1] = line[from + green]!;
      rgba[at + 2] = line[from + blue]!;
      rgba[at + 3] = hasAlpha
        ? line[from + alpha]!
        : key !== undefined && isKey(line, from, bytesPerSample, key)
          ? 0
          : 255;
    }
  };
}

/** The one colour that tRNS makes clear, a number a sample. */
function colorKey(png: PngFile, samples: number): number[] | undefined {
  const t = png.transparency;
  if (t === undefined || t.length < samples * 2) return undefined;
  return Array.from({ length: samples }, (_, i) => (t[i * 2]! << 8) | t[i * 2 + 1]!);
}

function isKey(line: Uint8Array, from: number, bytesPerSample: number, key: readonly number[]): boolean {
  return key.every((value, i) => {
    const at = from + i * bytesPerSample;
    return value === (bytesPerSample === 1 ? line[at]! : (line[at]! << 8) | line[at + 1]!);
  });
}

/** Sample `x` of a row packed at `depth` bits, the leftmost in the highest bits. */
export function sampleAt(line: Uint8Array, x: number, depth: number): number {
  if (depth === 8) return line[x]!;
  const bit = x * depth;
  return (line[bit >> 3]! >> (8 - depth - (bit & 7))) & ((1 << depth) - 1);
}

/** Whether any pixel is less than opaque. */
export function hasTransparency(rgba: Uint8Array): boolean {
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] !== 255) return true;
  return false;
}
