/** What the rest of the service knows of a conversion: a task in, files out. */
import type { Diagnostic } from '../display/list.js';
import type { FormatId } from '../formats.js';
import type { Step } from './plan.js';

export interface ConversionOptions {
  /** Pages as a client writes them, "1-3,7"; all where absent. */
  readonly pages?: string;
  /** Raster outputs: dots an inch; excludes width and height. */
  readonly dpi?: number;
  /** Raster outputs: pixels of a page. One keeps the page's shape; with both the page is as large as fits into them. */
  readonly width?: number;
  readonly height?: number;
  /** Raster outputs and svg: what lies under the page, `#rgb`, `#rrggbb`, either with alpha, or `transparent`; white where absent. */
  readonly background?: string;
  /** jpeg and webp: 1 to 100. */
  readonly quality?: number;
  /** False leaves annotations out; seals stay. */
  readonly annotations?: boolean;
  /** Of a PDF or an Office document that is encrypted. */
  readonly password?: string;
  /** Sheets that flowing inputs (html, mhtml, md) are put on, as convert/paper.ts reads them. */
  readonly paper?: string;
  readonly margins?: string;
  readonly landscape?: boolean;
  /** False leaves out backgrounds, as browsers do when they print. */
  readonly printBackground?: boolean;
  /** Codes of warnings that make the conversion fail. */
  readonly failOn?: readonly string[];
}

export interface ConversionTask {
  readonly inputPath: string;
  readonly from: FormatId | undefined;
  readonly to: FormatId;
  readonly options: ConversionOptions;
  /** An existing private directory; the files made are put there. */
  readonly outputDirectory: string;
  /** An existing private directory for whatever else the engines must put on disk. */
  readonly scratchDirectory: string;
  /** Base of the products' names (contract B5); `output` and `page` where absent. */
  readonly baseName: string | undefined;
  /** Largest size of one product; no limit where absent. */
  readonly maxOutputBytes?: number;
  /** How the client writes the name of the option `pages`, for messages; as HTTP does where absent. */
  readonly pagesField?: string;
}

/** One step of a task: one engine's part. */
export interface StepTask extends ConversionTask {
  readonly engine: Step['engine'];
  readonly from: FormatId;
}

export interface ProducedFile {
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  /** Hex digest of the bytes as they were written. */
  readonly sha256: string;
}

export interface ConversionResult {
  readonly fromActual: FormatId;
  /** Pages converted. */
  readonly pages: number;
  readonly files: readonly ProducedFile[];
  readonly warnings: readonly Diagnostic[];
}

export interface ConversionHooks {
  /** Aborting stops the conversion within two seconds; `run` then rejects with code `cancelled` or the abort's own ServiceError. */
  readonly signal: AbortSignal;
  /** The input could be opened as what it is; called before the first page, also where a later one fails. */
  onOpened?(format: FormatId): void;
  /** Called after each page. */
  onProgress?(done: number, total: number): void;
  /** A sign of life of an engine that does not tell of pages. */
  onAlive?(): void;
  /** Takes what an engine prints, pieces in order (contract L1). */
  log?(bytes: Uint8Array): void;
}

/** Runs single steps; the engine of a step is known to it. */
export interface StepRunner {
  /** Rejects as Converter.run does. */
  run(task: StepTask, hooks: ConversionHooks): Promise<ConversionResult>;
}

export interface Converter {
  /** Rejects with a ServiceError: conversion_failed (with reason), output_too_large, engine_crashed, cancelled. */
  run(task: ConversionTask, hooks: ConversionHooks): Promise<ConversionResult>;
}
