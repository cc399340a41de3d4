/** The OFD engine as one conversion: bytes of a package in, files of one format out, page by page, in this thread. */
import { readFileSync } from 'node:fs';
import type { Diagnostic, Report } from '../../display/list.js';
import { ServiceError } from '../../errors.js';
import type { FontBook } from '../../fonts/index.js';
import type { FormatId } from '../../formats.js';
import { OfdError } from '../../ofd/error.js';
import { openOfd } from '../../ofd/index.js';
import { DEFAULT_LIMITS, type OfdLimits } from '../../ofd/limits.js';
import { WHITE_PAPER } from '../../render/backend.js';
import { loadBackend } from '../../render/index.js';
import { parseColor } from '../color.js';
import type { ConversionOptions } from '../converter-types.js';
import type { OutputFiles } from '../output-files.js';
import { PageListError, selectPages } from '../page-list.js';
import type { Engine } from './engine.js';

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
  /** How the client writes the name of the option `pages`, for messages. */
  readonly pagesField?: string;
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

export const ofdEngine: Engine = {
  convert: (run) =>
    convertOfd({
      input: readFileSync(run.inputPath),
      to: run.to,
      options: run.options,
      pagesField: run.pagesField,
      output: run.output,
      fonts: run.fonts,
      onOpened: () => run.onOpened('ofd'),
      onProgress: (done, total) => run.onProgress(done, total),
    }),
};

/**
 * Converts a package. Nothing is left in `output`'s directory when it rejects.
 * Throws ServiceError: conversion_failed with the reason (`unsupported` for a warning of `failOn`), output_too_large,
 * invalid_request for pages the document lacks.
 */
export async function convertOfd(conversion: OfdConversion): Promise<OfdConversionResult> {
  const { options } = conversion;
  const warnings = new WarningList(options.failOn ?? []);
  try {
    const document = await openOfd(conversion.input, {
      limits: conversion.limits ?? DEFAULT_LIMITS,
      fonts: conversion.fonts,
      report: warnings.report,
      withAnnotations: options.annotations ?? true,
      startAt: (pageCount) => (selectPages(options.pages, pageCount)[0] ?? 1) - 1,
    });
    conversion.onOpened?.();
    const pageNumbers = selectPages(options.pages, document.pageCount);
    if (pageNumbers.length === 0) throw noPage(conversion, document.pageCount);
    warnings.throwIfFatal();
    const backend = await loadBackend(conversion.to);
    const run = backend.start(conversion.output, {
      dpi: options.dpi ?? DEFAULT_DPI,
      ...(options.width !== undefined && { widthPx: options.width }),
      ...(options.height !== undefined && { heightPx: options.height }),
      quality: options.quality ?? DEFAULT_QUALITY,
      background: (options.background !== undefined && parseColor(options.background)) || WHITE_PAPER,
      maxPixels: MAX_RASTER_PIXELS,
      pageNumbers,
      get documents() {
        return document.documents;
      },
      report: warnings.report,
    });
    let done = 0;
    for (const pageNumber of pageNumbers) {
      await run.page(document.page(pageNumber - 1));
      warnings.throwIfFatal();
      conversion.onProgress?.(++done, pageNumbers.length);
    }
    await run.end();
    warnings.throwIfFatal();
    return { pages: pageNumbers.length, warnings: warnings.list };
  } catch (error) {
    conversion.output.discard();
    throw asServiceError(error, conversion);
  }
}

function noPage({ options: { pages }, pagesField = 'pages' }: OfdConversion, pageCount: number): ServiceError {
  return pages === undefined
    ? new ServiceError('conversion_failed', 'The package has no page', { reason: 'corrupt' })
    : new ServiceError('invalid_request', `${pagesField}: "${pages}" names no page of a document of ${pageCount}`);
}

function asServiceError(error: unknown, { pagesField = 'pages' }: OfdConversion): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof OfdError) {
    return new ServiceError('conversion_failed', error.message, { reason: error.reason, cause: error });
  }
  if (error instanceof PageListError) {
    return new ServiceError('invalid_request', `${pagesField}: ${error.message}`, { cause: error });
  }
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ServiceError('insufficient_storage', `No space for the product: ${message}`, { cause: error });
  }
  if (syscall !== undefined) {
    return new ServiceError('internal_error', `The product cannot be written: ${message}`, { cause: error });
  }
  return new ServiceError('conversion_failed', `The OFD engine failed: ${message ?? String(error)}`, {
    reason: 'internal',
    cause: error,
  });
}

/** Diagnostics in the order they came, each once, up to a limit. */
class WarningList {
  readonly list: Diagnostic[] = [];
  readonly #seen = new Set<string>();
  readonly #failOn: ReadonlySet<string>;
  #fatal: Diagnostic | undefined;

  constructor(failOn: readonly string[]) {
    this.#failOn = new Set(failOn);
  }

  /** Throws where a warning came that must make the conversion fail; whoever reports one can't be interrupted. */
  throwIfFatal(): void {
    if (this.#fatal === undefined) return;
    const { code, message, page } = this.#fatal;
    const place = page === undefined ? '' : ` (page ${page})`;
    throw new ServiceError('conversion_failed', `fail_on: ${code}: ${message}${place}`, { reason: 'unsupported' });
  }

  readonly report: Report = (diagnostic) => {
    if (this.#failOn.has(diagnostic.code)) this.#fatal ??= diagnostic;
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
