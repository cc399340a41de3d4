/** What every output format implements. A backend draws display lists and knows nothing of OFD. */
import type { DocumentFacts } from '../display/facts.js';
import type { DisplayList, Report } from '../display/list.js';

export interface RenderOptions {
  /** Raster formats: dots an inch, 36–600. */
  readonly dpi: number;
  /** jpeg and webp: 1–100. */
  readonly quality: number;
  /** Most pixels of one raster page. */
  readonly maxPixels: number;
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
