/** What a client's options mean for a backend: defaults and limits that all engines share. */
import type { DocumentFacts } from '../../display/facts.js';
import type { Report } from '../../display/list.js';
import { type RenderOptions, WHITE_PAPER } from '../../render/backend.js';
import { parseColor } from '../color.js';
import type { ConversionOptions } from '../converter-types.js';

export const DEFAULT_DPI = 150;
const DEFAULT_QUALITY = 85;
/** 256 MB of RGBA; A3 at 600 dpi is 69 million pixels and comes out a little smaller, with a warning. */
const MAX_RASTER_PIXELS = 64_000_000;

/** @param documents asked when a backend wants to know */
export function renderOptions(
  options: ConversionOptions,
  pageNumbers: readonly number[],
  report: Report,
  documents: () => readonly DocumentFacts[],
): RenderOptions {
  return {
    dpi: options.dpi ?? DEFAULT_DPI,
    ...(options.width !== undefined && { widthPx: options.width }),
    ...(options.height !== undefined && { heightPx: options.height }),
    quality: options.quality ?? DEFAULT_QUALITY,
    background: (options.background !== undefined && parseColor(options.background)) || WHITE_PAPER,
    maxPixels: MAX_RASTER_PIXELS,
    pageNumbers,
    get documents() {
      return documents();
    },
    report,
  };
}
