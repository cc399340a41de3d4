/** How many pixels a page gets. */
import { mmToPixels } from '../../display/units.js';

export interface RasterSize {
  readonly widthPx: number;
  readonly heightPx: number;
  /** Dots an inch; less than asked for where the page would have been too large. */
  readonly dpi: number;
  readonly isReduced: boolean;
}

/** Pixels of a page at `dpi`, at a lower resolution where that would be more than `maxPixels` or longer than `maxSidePx`. */
export function rasterSize(
  widthMm: number,
  heightMm: number,
  dpi: number,
  maxPixels: number,
  maxSidePx: number,
): RasterSize {
  const exactWidth = mmToPixels(widthMm, dpi);
  const exactHeight = mmToPixels(heightMm, dpi);
  const widthPx = Math.max(1, Math.round(exactWidth));
  const heightPx = Math.max(1, Math.round(exactHeight));
  if (widthPx * heightPx <= maxPixels && Math.max(widthPx, heightPx) <= maxSidePx) {
    return { widthPx, heightPx, dpi, isReduced: false };
  }
  const bySide = maxSidePx / Math.max(exactWidth, exactHeight);
  const byPixels = Math.sqrt(maxPixels / (exactWidth * exactHeight));
  const factor = Math.min(1, bySide, byPixels);
  const reducedWidth = Math.max(1, Math.floor(exactWidth * factor));
  return {
    widthPx: reducedWidth,
    heightPx: Math.max(1, Math.min(Math.floor(exactHeight * factor), Math.floor(maxPixels / reducedWidth))),
    dpi: dpi * factor,
    isReduced: true,
  };
}
