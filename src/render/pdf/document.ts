/**
 * The PDF backend: display lists in, one PDF 1.7 file out, written while the pages come. Text stays text in subset
 * fonts, pictures keep their coding, and nothing is turned into pixels.
 */
import { mergeFacts } from '../../display/facts.js';
import type { DisplayList, Item } from '../../display/list.js';
import type { Backend, BackendRun, Output, RenderOptions } from '../backend.js';
import type { ContentStream } from './content.js';
import { PdfFile } from './file.js';
import { FontTable } from './font-table.js';
import { FormTable } from './group.js';
import { ImageTable } from './image-table.js';
import { infoDictionary } from './info.js';
import { drawItems, writePage } from './page.js';
import { PageTree } from './page-tree.js';
import type { Scene } from './scene.js';
import { StateTable } from './state-table.js';

export const pdfBackend: Backend = {
  format: 'pdf',
  paging: 'document',
  start: (output, options) => new PdfRun(output, options),
};

class PdfRun implements BackendRun {
  readonly #options: RenderOptions;
  readonly #scene: Scene;
  readonly #pages: PageTree;

  constructor(output: Output, options: RenderOptions) {
    const file = new PdfFile(output.openDocument());
    const forms = new FormTable();
    const scene: Scene = {
      file,
      states: new StateTable(file),
      fonts: new FontTable(file),
      images: new ImageTable(file, options.report),
      drawItems: (stream: ContentStream, items: readonly Item[]) => drawItems(scene, forms, stream, items),
    };
    this.#options = options;
    this.#scene = scene;
    this.#pages = new PageTree(file);
  }

  async page(list: DisplayList): Promise<void> {
    await this.#scene.images.prepare(list.items, list.pageNumber);
    this.#pages.add((parent) => writePage(this.#scene, list, parent));
  }

  async end(): Promise<void> {
    const { file, fonts } = this.#scene;
    fonts.finish();
    const catalog = file.add(file.object({ Type: 'Catalog', Pages: this.#pages.finish() }));
    const facts = mergeFacts(this.#options.documents);
    const info = file.add(infoDictionary(file, facts.info));
    file.finish(catalog, info);
  }
}
