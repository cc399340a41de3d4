/** Pages as SVG: outlines, pictures inside the file, and the text over them to be selected. One file a page. */
import type { DisplayList } from '../../display/list.js';
import type { Backend, BackendRun, Background, Output, RenderOptions } from '../backend.js';
import { ImageDecoder } from '../decoding.js';
import { DataUris } from './images.js';
import { Outlines } from './outlines.js';
import { svgPage } from './page.js';

export const svgBackend: Backend = {
  format: 'svg',
  paging: 'page',
  start: (output, options) => new SvgRun(output, options),
};

class SvgRun implements BackendRun {
  readonly #output: Output;
  readonly #decoder: ImageDecoder;
  readonly #uris: DataUris;
  readonly #outlines = new Outlines();
  readonly #background: Background;

  constructor(output: Output, options: RenderOptions) {
    this.#output = output;
    this.#background = options.background;
    this.#decoder = new ImageDecoder(options.maxPixels, options.report);
    this.#uris = new DataUris(this.#decoder);
  }

  async page(list: DisplayList): Promise<void> {
    this.#decoder.pageNumber = list.pageNumber;
    const svg = await svgPage(list, this.#uris, this.#outlines, this.#background);
    this.#outlines.trim();
    this.#output.openPage(list.pageNumber).write(Buffer.from(svg));
  }

  async end(): Promise<void> {}
}
