/** The OFD engine as one conversion: bytes of a package in, files of one format out, page by page, in this thread. */
import { readFileSync } from 'node:fs';
import type { Diagnostic } from '../../display/list.js';
import { ServiceError } from '../../errors.js';
import type { FontBook } from '../../fonts/index.js';
import type { FormatId } from '../../formats.js';
import { OfdError } from '../../ofd/error.js';
import { openOfd } from '../../ofd/index.js';
import { DEFAULT_LIMITS, type OfdLimits } from '../../ofd/limits.js';
import { loadBackend } from '../../render/index.js';
import type { ConversionOptions } from '../converter-types.js';
import type { OutputFiles } from '../output-files.js';
import { selectPages } from '../page-list.js';
import type { Engine } from './engine.js';
import { engineFault, noPage } from './faults.js';
import { renderOptions } from './render-options.js';
import { WarningList } from './warning-list.js';

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
    if (pageNumbers.length === 0) throw noPage(options.pages, conversion.pagesField ?? 'pages', document.pageCount);
    warnings.throwIfFatal();
    const backend = await loadBackend(conversion.to);
    const run = backend.start(
      conversion.output,
      renderOptions(options, pageNumbers, warnings.report, () => document.documents),
    );
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
    await conversion.output.discard();
    throw asServiceError(error, conversion);
  }
}

function asServiceError(error: unknown, { pagesField = 'pages' }: OfdConversion): ServiceError {
  return error instanceof OfdError
    ? new ServiceError('conversion_failed', error.message, { reason: error.reason, cause: error })
    : engineFault(error, 'The OFD engine', pagesField);
}
