/** The OFD engine as one conversion: bytes of a package in, files of one format out, page by page, in this thread. */
import type { Diagnostic, Report } from '../../display/list.js';
import { ServiceError } from '../../errors.js';
import type { FontBook } from '../../fonts/index.js';
import type { FormatId } from '../../formats.js';
import { OfdError } from '../../ofd/error.js';
import { openOfd } from '../../ofd/index.js';
import { DEFAULT_LIMITS, type OfdLimits } from '../../ofd/limits.js';
import { loadBackend } from '../../render/index.js';
import type { ConversionOptions } from '../converter-types.js';
import type { OutputFiles } from '../output-files.js';
import { PageListError, selectPages } from '../page-list.js';

export const DEFAULT_DPI = 150;
const DEFAULT_QUALITY = 85;
/** 256 MB of RGBA; A3 at 600 dpi is 69 million pixels and comes out a little smaller, with a warning. */
const MAX_RASTER_PIXELS = 64_000_000;
/** More warnings than this say nothing new and would fill the job's record. */
const MAX_WARNINGS = 200;

export interface OfdConversion {
  readonly input: Uint8Array;
  readonly to: FormatId;
  readonly options: ConversionOptions;
  readonly output: OutputFiles;
  readonly fonts: FontBook;
  readonly limits?: OfdLimits;
  /** Called when the package is open, before its first page. */
  onOpened?(): void;
  /** Called after each page. */
  onProgress?(done: number, total: number): void;
}

export interface OfdConversionResult {
  readonly pages: number;
  readonly warnings: readonly Diagnostic[];
}

/**
 * Converts a package. Nothing is left in `output`'s directory when it rejects.
 * Throws ServiceError: conversion_failed with the reason, output_too_large, invalid_request for pages the document lacks.
 */
export async function convertOfd(conversion: OfdConversion): Promise<OfdConversionResult> {
  const warnings = new WarningList();
  try {
    const document = await openOfd(conversion.input, {
      limits: conversion.limits ?? DEFAULT_LIMITS,
      fonts: conversion.fonts,
      report: warnings.report,
    });
    conversion.onOpened?.();
    const pageNumbers = selectPages(conversion.options.pages, document.pageCount);
    if (pageNumbers.length === 0) throw noPage(conversion.options.pages, document.pageCount);
    const backend = await loadBackend(conversion.to);
    const run = backend.start(conversion.output, {
      dpi: conversion.options.dpi ?? DEFAULT_DPI,
      quality: DEFAULT_QUALITY,
      maxPixels: MAX_RASTER_PIXELS,
      get documents() {
        return document.documents;
      },
      report: warnings.report,
    });
    let done = 0;
    for (const pageNumber of pageNumbers) {
      await run.page(document.page(pageNumber - 1));
      conversion.onProgress?.(++done, pageNumbers.length);
    }
    await run.end();
    return { pages: pageNumbers.length, warnings: warnings.list };
  } catch (error) {
    conversion.output.discard();
    throw asServiceError(error);
  }
}

function noPage(pages: string | undefined, pageCount: number): ServiceError {
  return pages === undefined
    ? new ServiceError('conversion_failed', 'The package has no page', { reason: 'corrupt' })
    : new ServiceError('invalid_request', `pages: "${pages}" names no page of a document of ${pageCount}`);
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof OfdError) {
    return new ServiceError('conversion_failed', error.message, { reason: error.reason, cause: error });
  }
  if (error instanceof PageListError) return new ServiceError('invalid_request', error.message, { cause: error });
  const message = error instanceof Error ? error.message : String(error);
  return new ServiceError('conversion_failed', `The OFD engine failed: ${message}`, {
    reason: 'internal',
    cause: error,
  });
}

/** Diagnostics in the order they came, each once, up to a limit. */
class WarningList {
  readonly list: Diagnostic[] = [];
  readonly #seen = new Set<string>();

  readonly report: Report = (diagnostic) => {
    const key = JSON.stringify(diagnostic);
    if (this.#seen.has(key) || this.list.length > MAX_WARNINGS) return;
    this.#seen.add(key);
    this.list.push(
      this.list.length < MAX_WARNINGS
        ? diagnostic
        : { code: 'warnings_cut', message: `More than ${MAX_WARNINGS} warnings; the rest is left out` },
    );
  };
}
