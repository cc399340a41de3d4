/**
 * The PDF backend: display lists in, one PDF 1.7 file out, written while the pages come. Text stays text in subset
 * fonts, pictures keep their coding, and nothing is turned into pixels. The file is a PDF/A wherever its content allows.
 */
import { type DocumentFacts, mergeFacts } from '../../display/facts.js';
import type { DisplayList, Item } from '../../display/list.js';
import { mmToPoints } from '../../display/units.js';
import type { Backend, BackendRun, Output, RenderOptions } from '../backend.js';
import { languageOf } from '../language.js';
import { AttachmentTable } from './attachment-table.js';
import { nameEntries, outputIntents, pageLabelEntries, viewerEntries } from './catalog.js';
import { Conformance } from './conformance.js';
import type { ContentStream } from './content.js';
import { WrittenPages } from './destination.js';
import { PdfFile } from './file.js';
import { FontTable } from './font-table.js';
import { FormTable } from './group.js';
import { ImageTable } from './image-table.js';
import { fileInfo, infoDictionary } from './info.js';
import { LinkTable } from './link-table.js';
import { metadataPacket } from './metadata.js';
import { writeOutline } from './outline.js';
import { drawItems, writePage } from './page.js';
import { PageTree } from './page-tree.js';
import { PDFString } from './pdf-lib.js';
import type { Scene } from './scene.js';
import { StateTable } from './state-table.js';

/** Graphics states saved at one time, and lengths of a page's sides in points, that a PDF/A may have. */
const MOST_SAVED = 28;
const SHORTEST_SIDE = 3;
const LONGEST_SIDE = 14_400;
const NESTED_TOO_DEEP = `groups are nested more than ${MOST_SAVED} deep`;

export const pdfBackend: Backend = {
  format: 'pdf',
  paging: 'document',
  start: (output, options) => new PdfRun(output, options),
};

class PdfRun implements BackendRun {
  readonly #options: RenderOptions;
  readonly #scene: Scene;
  readonly #pages: PageTree;
  readonly #written = new WrittenPages();
  readonly #attachments: AttachmentTable;
  readonly #links: LinkTable;
  #merged: DocumentFacts | undefined;

  constructor(output: Output, options: RenderOptions) {
    const file = new PdfFile(output.openDocument());
    const forms = new FormTable();
    const conformance = new Conformance(options.report);
    const scene: Scene = {
      file,
      conformance,
      states: new StateTable(file),
      fonts: new FontTable(file),
      images: new ImageTable(file, options.report),
      drawItems: (stream: ContentStream, items: readonly Item[]) => {
        drawItems(scene, forms, stream, items);
        if (stream.deepestSave > MOST_SAVED) conformance.obstruct(NESTED_TOO_DEEP);
      },
    };
    this.#options = options;
    this.#scene = scene;
    this.#pages = new PageTree(file);
    this.#attachments = new AttachmentTable(file, () => this.#facts);
    this.#links = new LinkTable(file, this.#written, this.#attachments);
  }

  get #facts(): DocumentFacts {
    this.#merged ??= mergeFacts(this.#options.documents);
    return this.#merged;
  }

  async page(list: DisplayList): Promise<void> {
    const { pageNumber, widthMm, heightMm } = list;
    const sides = [mmToPoints(widthMm), mmToPoints(heightMm)];
    if (sides.some((side) => side < SHORTEST_SIDE || side > LONGEST_SIDE)) {
      const obstacle = `a page of ${widthMm} × ${heightMm} mm is larger or smaller than pages of a PDF/A may be`;
      this.#scene.conformance.obstruct(obstacle, pageNumber);
    }
    await this.#scene.images.prepare(list.items, pageNumber);
    this.#pages.add((parent, reference) => {
      this.#written.add(pageNumber, reference, heightMm);
      writePage(this.#scene, list, parent, reference, this.#links.listOf(list));
    });
    this.#links.arrived(pageNumber);
  }

  async end(): Promise<void> {
    const { file, fonts, conformance } = this.#scene;
    fonts.finish();
    this.#links.finish();
    const facts = this.#facts;
    const attachments = this.#attachments.finish();
    const part = attachments.length > 0 ? 3 : 2;
    const info = fileInfo(facts.info);
    const metadata = metadataPacket(info, facts, conformance.isReached ? part : undefined);
    const outline = writeOutline(file, this.#written, facts.outline);
    const language = languageOf(fonts.characters());
    const catalog = {
      Type: 'Catalog',
      Pages: this.#pages.finish(),
      Metadata: file.addPlainStream({ Type: 'Metadata', Subtype: 'XML' }, metadata),
      ...(conformance.isReached ? outputIntents(file) : {}),
      ...(outline === undefined ? {} : { Outlines: outline }),
      ...nameEntries(file, facts.destinations, this.#written, attachments),
      ...viewerEntries(facts, this.#written),
      ...pageLabelEntries(this.#written),
      ...(language === undefined ? {} : { Lang: PDFString.of(language) }),
    };
    file.finish(file.add(file.object(catalog)), file.add(infoDictionary(file, info)));
  }
}
