/** Pages of pixels as files: PNG, JPEG, WebP. */
import type { Canvas } from '@napi-rs/canvas';
import type { RenderOptions } from '../backend.js';
import type { Pixels } from '../pixels.js';
import { encodePng, type PixelRows, pixelRows } from '../png-encoder.js';
import { toCanvas } from './pictures.js';
import { releasePixels } from './target.js';

export interface RasterFormat {
  readonly format: 'png' | 'jpeg' | 'webp';
  /** Longest side that the format, or the raster library, can make. */
  readonly maxSidePx: number;
  encode(canvas: Canvas, dpi: number, options: RenderOptions): Uint8Array | Promise<Uint8Array>;
  encodePixels(pixels: Pixels, dpi: number, options: RenderOptions): Uint8Array | Promise<Uint8Array>;
}

/** A larger page is read in bands: slower, but without a second copy of it. */
const MAX_COPIED_PIXELS = 16_000_000;
/** Takes half the time of zlib's own choice, 6, for files a fiftieth larger. */
const PNG_LEVEL = 4;

export const png: RasterFormat = {
  format: 'png',
  maxSidePx: 16_384,
  encode: (canvas, dpi, { background }) =>
    encodePng(canvasRows(canvas, background.alpha >= 1), { dpi, level: PNG_LEVEL }),
  encodePixels: (pixels, dpi) => encodePng(pixelRows(pixels), { dpi, level: PNG_LEVEL }),
};

export const jpeg: RasterFormat = {
  format: 'jpeg',
  maxSidePx: 16_384,
  encode: (canvas, dpi, { quality }) => canvas.encodeSync('jpeg', { quality, resolution: statedResolution(dpi) }),
  encodePixels: (pixels, dpi, options) => throughCanvas(jpeg, pixels, dpi, options),
};

export const webp: RasterFormat = {
  format: 'webp',
  maxSidePx: 16_383,
  encode: (canvas, _dpi, { quality }) => canvas.encodeSync('webp', quality),
  encodePixels: (pixels, dpi, options) => throughCanvas(webp, pixels, dpi, options),
};

async function throughCanvas(
  format: RasterFormat,
  pixels: Pixels,
  dpi: number,
  options: RenderOptions,
): Promise<Uint8Array> {
  const canvas = toCanvas(pixels);
  try {
    return await format.encode(canvas, dpi, options);
  } finally {
    releasePixels(canvas);
  }
}

/** JPEG keeps it in two bytes. */
function statedResolution(dpi: number): number {
  return Math.min(65_535, Math.max(1, Math.round(dpi)));
}

/** The pixels of a canvas. Its own form has opacity multiplied into the colours: nothing where it is opaque. */
function canvasRows(canvas: Canvas, isOpaque: boolean): PixelRows {
  const { width: widthPx, height: heightPx } = canvas;
  if (isOpaque && widthPx * heightPx <= MAX_COPIED_PIXELS) return pixelRows({ widthPx, heightPx, rgba: canvas.data() });
  const context = canvas.getContext('2d');
  const rows = (first: number, count: number) => {
    const { data } = context.getImageData(0, first, widthPx, count);
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  };
  return { widthPx, heightPx, rows };
}
