/** What every output format implements. A backend draws display lists and knows nothing of OFD. */
import type { DocumentFacts } from '../display/facts.js';
import type { DisplayList, Report } from '../display/list.js';
import type { Color } from '../display/paint.js';

export interface Background {
  readonly color: Color;
  /** 0 to 1. */
  readonly alpha: number;
}

export const WHITE_PAPER: Background = { color: [255, 255, 255], alpha: 1 };

export interface RenderOptions {
  /** Raster formats: dots an inch, 36–600. */
  readonly dpi: number;
  /** Raster formats: the box in pixels, one side or both, that a page is made to fit into, whatever `dpi` says. */
  readonly widthPx?: number;
  readonly heightPx?: number;
  /** Raster formats and svg: what lies under the page. */
  readonly background: Background;
  /** jpeg and webp: 1–100. */
  readonly quality: number;
  /** Most pixels of one raster page. */
  readonly maxPixels: number;
  /** The pages that will come, rising. */
  readonly pageNumbers: readonly number[];
  /** What the documents of the package say beside their pages, in order, one at least; found out when asked for. */
  readonly documents: readonly DocumentFacts[];
  readonly report: Report;
}

/** Bytes going out in order. Throws OutputLimitError from the owner's side when too many came. */
export interface OutputFile {
  write(bytes: Uint8Array): void;
}

/** Where a backend's files go. A document format opens one document, a page format one file a page. */
export interface Output {
  openDocument(): OutputFile;
  openPage(pageNumber: number): OutputFile;
}

/** One conversion in progress. Pages come in order, each once; `end` comes last and only after success. */
export interface BackendRun {
  page(list: DisplayList): Promise<void>;
  end(): Promise<void>;
}

export interface Backend {
  readonly format: string;
  /** 'document': one file for all pages; 'page': a file each. */
  readonly paging: 'document' | 'page';
  start(output: Output, options: RenderOptions): BackendRun;
}
