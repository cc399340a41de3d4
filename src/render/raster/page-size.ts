/** How many pixels a page gets. */
import { MM_PER_INCH, pixelsPerMm } from '../../display/units.js';
import type { RenderOptions } from '../backend.js';

/** A resolution; or the box in pixels, one side or both, that every page is made to fit into. */
export interface WantedSize {
  readonly dpi: number;
  readonly widthPx?: number;
  readonly heightPx?: number;
}

export interface RasterSize {
  readonly widthPx: number;
  readonly heightPx: number;
  /** Dots an inch; less than asked for where the page would have been too large. */
  readonly dpi: number;
  readonly isReduced: boolean;
}

/** Pixels of a page as wanted, fewer where that would be more than `maxPixels` or longer than `maxSidePx`. */
export function rasterSize(
  widthMm: number,
  heightMm: number,
  wanted: WantedSize,
  maxPixels: number,
  maxSidePx: number,
): RasterSize {
  const scale = wantedScale(widthMm, heightMm, wanted);
  const dpi = scale * MM_PER_INCH;
  const exactWidth = widthMm * scale;
  const exactHeight = heightMm * scale;
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

interface Sheet {
  readonly pageNumber: number;
  readonly widthMm: number;
  readonly heightMm: number;
}

/** Pixels of a page in a format, as the options want them; fewer, after a warning, where that would be too many. */
export function sizeOfPage(
  sheet: Sheet,
  { maxSidePx }: { readonly maxSidePx: number },
  options: RenderOptions,
): RasterSize {
  const size = rasterSize(sheet.widthMm, sheet.heightMm, options, options.maxPixels, maxSidePx);
  if (size.isReduced) {
    const message = reductionMessage(sheet, options, size);
    options.report({ code: 'resolution_reduced', message, page: sheet.pageNumber });
  }
  return size;
}

function reductionMessage(sheet: Sheet, wanted: WantedSize, { widthPx, heightPx, dpi }: RasterSize): string {
  const name = `Page ${sheet.pageNumber} (${Math.round(sheet.widthMm)} × ${Math.round(sheet.heightMm)} mm)`;
  if (wanted.widthPx === undefined && wanted.heightPx === undefined) {
    return `${name} is too large for ${wanted.dpi} dpi and comes out at ${dpi.toFixed(1)} dpi`;
  }
  return `${name} is too large for the pixels asked for and comes out at ${widthPx} × ${heightPx}`;
}

/** Pixels a millimetre. */
function wantedScale(widthMm: number, heightMm: number, { dpi, widthPx, heightPx }: WantedSize): number {
  if (widthPx === undefined && heightPx === undefined) return pixelsPerMm(dpi);
  return Math.min((widthPx ?? Infinity) / widthMm, (heightPx ?? Infinity) / heightMm);
}
