/** Pages that somebody else draws as pixels, as PNG, JPEG and WebP files: sizes, names and encoding are those of drawn pages. */
import type { Output, RenderOptions } from '../backend.js';
import { jpeg, png, webp } from './encoders.js';
import { type RasterSize, sizeOfPage } from './page-size.js';

export interface PixelPage {
  readonly pageNumber: number;
  readonly widthMm: number;
  readonly heightMm: number;
  /** RGBA of the whole page at this size, rows from the top, alpha not multiplied in. */
  draw(size: RasterSize): Uint8Array;
}

const FORMATS = { png, jpeg, webp };

export type PixelFormat = keyof typeof FORMATS;

export const PIXEL_FORMATS = Object.keys(FORMATS) as readonly PixelFormat[];

/** Writes one page's file. */
export async function writePixelPage(
  page: PixelPage,
  format: PixelFormat,
  output: Output,
  options: RenderOptions,
): Promise<void> {
  const raster = FORMATS[format];
  const size = sizeOfPage(page, raster, options);
  const { widthPx, heightPx, dpi } = size;
  const bytes = await raster.encodePixels({ widthPx, heightPx, rgba: page.draw(size) }, dpi, options);
  output.openPage(page.pageNumber).write(bytes);
}
