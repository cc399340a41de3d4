/** Pages as SVG: outlines, pictures inside the file, and the text over them to be selected. One file a page. */
import type { DisplayList } from '../../display/list.js';
import type { Backend, BackendRun, Output, RenderOptions } from '../backend.js';
import { ImageDecoder } from '../decoding.js';
import { DataUris } from './images.js';
import { Outlines } from './outlines.js';
import { type PageTools, svgPage } from './page.js';

export const svgBackend: Backend = {
  format: 'svg',
  paging: 'page',
  start: (output, options) => new SvgRun(output, options),
};

class SvgRun implements BackendRun {
  readonly #output: Output;
  readonly #decoder: ImageDecoder;
  readonly #tools: PageTools;

  constructor(output: Output, options: RenderOptions) {
    this.#output = output;
    this.#decoder = new ImageDecoder(options.report);
    const { background } = options;
    this.#tools = { uris: new DataUris(this.#decoder), outlines: new Outlines(), background };
  }

  async page(list: DisplayList): Promise<void> {
    this.#decoder.pageNumber = list.pageNumber;
    const svg = await svgPage(list, this.#tools);
    this.#tools.outlines.trim();
    this.#output.openPage(list.pageNumber).write(Buffer.from(svg));
  }

  async end(): Promise<void> {}
}
