/** A document as one HTML file: pages drawn as SVG, their text over them, outline, links, attached files. No script. */
import { type DocumentFacts, mergeFacts } from '../../display/facts.js';
import type { LinkArea } from '../../display/link.js';
import type { DisplayList, Item } from '../../display/list.js';
import {
  type Backend,
  type BackendRun,
  type Output,
  type OutputFile,
  type RenderOptions,
  WHITE_PAPER,
} from '../backend.js';
import { ImageDecoder } from '../decoding.js';
import { languageOf } from '../language.js';
import { DataUris } from '../svg/images.js';
import { attribute, fixed } from '../svg/markup.js';
import { Outlines } from '../svg/outlines.js';
import { type PageTools, pageMarkup, sizeAttributes } from '../svg/page.js';
import { WrittenElements } from '../svg/written.js';
import { writeAttachments } from './attachments.js';
import { headMarkup, PAGE_GAP_MM } from './head.js';
import { escapeHtml, hrefAttribute } from './markup.js';
import { outlineElement } from './outline.js';
import { pageId, Targets } from './targets.js';
import { textLayer } from './text-layer.js';
import { type Words, wordsOf } from './words.js';

export const htmlBackend: Backend = {
  format: 'html',
  paging: 'document',
  start: (output, options) => new HtmlRun(output, options),
};

class HtmlRun implements BackendRun {
  readonly #file: OutputFile;
  readonly #decoder: ImageDecoder;
  readonly #tools: PageTools;
  readonly #facts: DocumentFacts;
  readonly #targets: Targets;
  /** Class of the pages of one size. */
  readonly #classOfSize = new Map<string, string>();
  /** Where pages begin, from the upper edge of the first. */
  readonly #tops = new Map<number, number>();
  #nextTopMm = PAGE_GAP_MM;
  #words: Words | undefined;

  constructor(output: Output, options: RenderOptions) {
    this.#file = output.openDocument();
    this.#decoder = new ImageDecoder(options.report);
    this.#tools = {
      uris: new DataUris(this.#decoder),
      outlines: new Outlines(),
      background: WHITE_PAPER,
      written: new WrittenElements(),
    };
    this.#facts = mergeFacts(options.documents);
    const names = this.#facts.attachments.map(({ name }) => name);
    this.#targets = new Targets(options.pageNumbers, names);
  }

  async page(list: DisplayList): Promise<void> {
    this.#words ??= this.#begin(languageOf(charactersOf(list.items)));
    this.#decoder.pageNumber = list.pageNumber;
    this.#tops.set(list.pageNumber, this.#nextTopMm);
    this.#nextTopMm += list.heightMm + PAGE_GAP_MM;
    const { pageNumber, links = [] } = list;
    const { name, style } = this.#sizeClass(list);
    const drawing = await pageMarkup(list, this.#tools);
    this.#tools.outlines.trim();
    this.#write(
      `<section class="page ${name}" id="${pageId(pageNumber)}" aria-label="${this.#words.page(pageNumber)}">\n` +
        `<svg${sizeAttributes(list)}>${style}<g aria-hidden="true">${drawing}</g>\n` +
        `${textLayer(list)}${this.#links(links)}</svg>\n</section>\n`,
    );
  }

  async end(): Promise<void> {
    this.#words ??= this.#begin(undefined);
    for (const { id, pageNumber, topMm } of this.#targets.places) {
      const pageTopMm = this.#tops.get(pageNumber);
      if (pageTopMm === undefined) continue;
      this.#write(`<span class="place" id="${id}" style="top:${fixed(pageTopMm + topMm, 1)}mm"></span>\n`);
    }
    this.#write('</main>\n');
    writeAttachments(this.#file, this.#facts.attachments, this.#targets, this.#words);
    this.#write('</body>\n</html>\n');
  }

  #write(text: string): void {
    this.#file.write(Buffer.from(text));
  }

  #begin(language: string | undefined): Words {
    const words = wordsOf(language);
    this.#write(headMarkup(this.#facts.info, language, words));
    this.#write(`${outlineElement(this.#facts.outline, this.#targets, words)}<main>\n`);
    return words;
  }

  /** The rules of a size stand in the first page that has it: nobody knows before which sizes there will be. */
  #sizeClass({ widthMm, heightMm }: DisplayList): { readonly name: string; readonly style: string } {
    const [width, height] = [`${fixed(widthMm, 4)}mm`, `${fixed(heightMm, 4)}mm`];
    const size = `${width} ${height}`;
    const known = this.#classOfSize.get(size);
    if (known !== undefined) return { name: known, style: '' };
    const name = `size-${this.#classOfSize.size + 1}`;
    this.#classOfSize.set(size, name);
    const rules = `.${name}{width:${width};height:${height};page:${name}}@page ${name}{size:${size};margin:0}`;
    return { name, style: `<style>${rules}</style>` };
  }

  /** Areas over the text; later ones lie on top. */
  #links(links: readonly LinkArea[]): string {
    return links
      .flatMap(({ box, target }) => {
        const href = this.#targets.href(target);
        if (href === undefined) return [];
        const place =
          attribute('x', fixed(box.x, 2)) +
          attribute('y', fixed(box.y, 2)) +
          attribute('width', fixed(box.width, 2)) +
          attribute('height', fixed(box.height, 2));
        const title =
          target.kind === 'page' ? this.#words!.page(target.pageNumber) : 'uri' in target ? target.uri : target.name;
        return [`<a${hrefAttribute(href)}><title>${escapeHtml(title)}</title><rect${place} fill="transparent"/></a>`];
      })
      .join('');
  }
}

function* charactersOf(items: readonly Item[]): Iterable<string> {
  for (const item of items) {
    if (item.kind === 'group') yield* charactersOf(item.items);
    else if (item.kind === 'glyphs') yield* item.characters;
  }
}
