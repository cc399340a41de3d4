/** What every engine is to the rest of the service: one file of one format in, files of one format out. */
import type { Diagnostic } from '../../display/list.js';
import type { FontBook } from '../../fonts/index.js';
import type { FormatId } from '../../formats.js';
import type { ConversionOptions } from '../converter-types.js';
import type { OutputFiles } from '../output-files.js';

/** One conversion by one engine. */
export interface EngineRun {
  readonly inputPath: string;
  readonly from: FormatId;
  readonly to: FormatId;
  /** Those that this engine has a use for, checked. */
  readonly options: ConversionOptions;
  /** How the client writes the name of the option `pages`, for messages. */
  readonly pagesField: string;
  /** Takes what is made; the engine discards it where it fails. */
  readonly output: OutputFiles;
  /** An existing private folder for whatever else the engine must put on disk; removed by the caller. */
  readonly scratchDirectory: string;
  readonly fonts: FontBook;
  /** Aborting stops the engine within two seconds, all its processes included. In a thread it never aborts: the thread is ended. */
  readonly signal: AbortSignal;
  /** Takes what the engine prints (contract L1): pieces in order, never waits. */
  readonly log: (bytes: Uint8Array) => void;
  /** The input could be opened as this format; called before the first page, also where a later one fails. */
  onOpened(format: FormatId): void;
  /** Called after each page, and as a sign of life (contract R5) by engines that do not tell of pages. */
  onProgress(done: number, total: number): void;
  onAlive(): void;
}

export interface EngineResult {
  /** Pages converted. */
  readonly pages: number;
  readonly warnings: readonly Diagnostic[];
  /** What the input was opened as, where its content is another format than the one claimed (a docx called .doc). */
  readonly fromActual?: FormatId;
}

export interface Engine {
  /**
   * @throws ServiceError: conversion_failed with a reason, conversion_timeout, engine_crashed, output_too_large,
   *   invalid_request for an option that the document cannot follow, or the reason of the signal
   */
  convert(run: EngineRun): Promise<EngineResult>;
  /** Does before the first conversion what that would wait for: a profile, a program that starts. */
  warm?(): Promise<void>;
  /** Ends what the engine keeps between conversions: processes, profiles. */
  close?(): Promise<void>;
}
