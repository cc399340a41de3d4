/** One page: sheet, templates, layers, seals and annotations in the order in which they lie. */
import type { AnnotationNote } from '../../display/annotation.js';
import type { Box } from '../../display/geometry.js';
import type { LinkArea } from '../../display/link.js';
import type { DisplayList, Item } from '../../display/list.js';
import { type PageReference, type Sheet, sheetOf } from '../document.js';
import { OfdError } from '../error.js';
import type { ResourceTable } from '../resources.js';
import type { XmlElement } from '../xml.js';
import { buildAnnotations } from './annotation.js';
import { annotationNotes } from './annotation-note.js';
import { type DocumentContext, PageState, pageSpace } from './context.js';
import { buildLayers, LAYER_CLASSES, type LayerClass, layerClass, pageResources } from './layers.js';
import { annotationLinks, contentLinks, pageLinks } from './link.js';
import { type Template, Templates } from './template.js';

/** What the seals of a document put on one page. */
export interface PageSeals {
  readonly items: readonly Item[];
  /** Where they stand, on the page. */
  readonly boxes: readonly Box[];
}

export interface SealPlacer {
  onPage(pageId: string, page: PageState): PageSeals;
}

interface PlacedTemplate {
  readonly template: Template;
  readonly order: LayerClass;
}

/** Builds the pages of one document; keeps what pages share and no page. */
export class PageBuilder {
  readonly document: DocumentContext;
  readonly #templates: Templates;
  readonly #seals: SealPlacer | undefined;
  readonly #depth: number;

  /**
   * @param seals those of the document; a seal's own page has none
   * @param depth groups around the page where it is placed
   */
  constructor(document: DocumentContext, seals?: SealPlacer, depth = 0) {
    this.document = document;
    this.#templates = new Templates(document, depth + 1);
    this.#seals = seals;
    this.#depth = depth;
  }

  /**
   * The display list of a page: blank, with a diagnostic, where nothing of it can be read.
   *
   * @param pageNumber through all documents of the package, from 1
   * @param root the page's tree, where the caller has it already
   */
  build(reference: PageReference, pageNumber: number, root = this.#read(reference, pageNumber)): DisplayList {
    const templates = root === undefined ? [] : this.#placeTemplates(root);
    const sheet = this.#sheet(root, templates);
    const page = new PageState(this.document, pageNumber, reference.part ?? reference.location, sheet);
    if (sheet.fault !== undefined) page.report('page_size_invalid', sheet.fault);
    const items: Item[] = [];
    const links: LinkArea[] = [];
    let notes: readonly AnnotationNote[] = [];
    let own: ResourceTable | undefined;
    const resources = (): ResourceTable => {
      own ??= root === undefined ? this.document.body.resources : pageResources(this.document, root, page.part);
      return own;
    };
    try {
      const annotations = this.#readAnnotations(reference);
      notes = annotationNotes(annotations);
      if (root !== undefined) this.#addContent(items, root, resources(), templates, page);
      this.#addOverlays(items, reference, resources, annotations, page);
      this.#addLinks(links, root, resources, templates, annotations, sheet);
    } catch (error) {
      // A bomb ends the conversion. Anything else is our own fault, and costs the rest of this page only.
      if (error instanceof OfdError) throw error;
      const cause = error instanceof Error ? error.message : String(error);
      page.report('page_failed', `Page ${pageNumber} cannot be shown whole: ${cause}`);
    }
    page.fonts.flush((finding) => this.document.report({ ...finding, page: pageNumber, part: page.part }));
    if (this.#seals !== undefined && page.tally.hasInk && !page.tally.hasText) this.#reportNoText(page);
    const { widthMm, heightMm } = sheet;
    return {
      pageNumber,
      widthMm,
      heightMm,
      items,
      ...(links.length > 0 ? { links } : {}),
      ...(notes.length > 0 ? { annotations: notes } : {}),
    };
  }

  #read(reference: PageReference, pageNumber: number): XmlElement | undefined {
    const { part, location } = reference;
    const root = part === undefined ? undefined : this.document.body.pkg.xml(part);
    if (root === undefined) {
      const message =
        part === undefined
          ? `Page ${pageNumber} names the part "${location}", which the package does not have; it is left blank`
          : `Page ${pageNumber} (${part}) cannot be read; it is left blank`;
      this.document.report({ code: 'page_missing', message, page: pageNumber, part: part ?? location });
    }
    return root;
  }

  #placeTemplates(root: XmlElement): PlacedTemplate[] {
    return root.childrenNamed('Template').flatMap((element): PlacedTemplate[] => {
      const id = element.id('TemplateID');
      if (id === undefined) {
        const message = 'A page names no TemplateID where it asks for a template';
        this.document.reportOnce({ code: 'reference_missing', message, part: this.document.body.part });
        return [];
      }
      const template = this.#templates.open(id);
      if (template === undefined) return [];
      const order = element.attribute('ZOrder') ?? this.document.body.templates.get(id)?.zOrder;
      return [{ template, order: layerClass(order, 'background') }];
    });
  }

  /** The page's own area before those of its templates, the topmost first, before the document's. */
  #sheet(root: XmlElement | undefined, templates: readonly PlacedTemplate[]): Sheet {
    const fromTop = [...LAYER_CLASSES].reverse().flatMap((type) => {
      return templates.filter(({ order }) => order === type).reverse();
    });
    const areas = fromTop.map(({ template }) => template.area);
    return sheetOf([root?.child('Area'), ...areas, this.document.body.pageArea]);
  }

  /** Class by class the templates, then the page's own layers (format reference 3.2). */
  #addContent(
    items: Item[],
    root: XmlElement,
    resources: ResourceTable,
    templates: readonly PlacedTemplate[],
    page: PageState,
  ): void {
    const space = pageSpace(this.document, page, resources, this.#depth);
    for (const type of LAYER_CLASSES) {
      for (const { template, order } of templates) {
        const group = order === type ? template.place(page) : undefined;
        if (group !== undefined && group.items.length > 0) items.push(group);
      }
      for (const item of buildLayers(root, type, space)) items.push(item);
    }
  }

  /** Root elements of the page's annotation files. */
  #readAnnotations({ id }: PageReference): XmlElement[] {
    const { annotationParts, pkg } = this.document.body;
    const parts = id === undefined ? undefined : annotationParts.get(id);
    return parts?.flatMap((part) => pkg.xml(part) ?? []) ?? [];
  }

  /** Seals, and annotations above them. */
  #addOverlays(
    items: Item[],
    reference: PageReference,
    resources: () => ResourceTable,
    annotations: readonly XmlElement[],
    page: PageState,
  ): void {
    const { id } = reference;
    if (id === undefined) return;
    const seals = this.#seals?.onPage(id, page) ?? { items: [], boxes: [] };
    for (const item of seals.items) items.push(item);
    if (annotations.length === 0) return;
    const space = pageSpace(this.document, page, resources(), this.#depth);
    for (const item of buildAnnotations(annotations, space, seals.boxes)) items.push(item);
  }

  /** In the order in which they lie: of the page as a whole, its templates, its objects, its annotations. */
  #addLinks(
    links: LinkArea[],
    root: XmlElement | undefined,
    resources: () => ResourceTable,
    templates: readonly PlacedTemplate[],
    annotations: readonly XmlElement[],
    sheet: Sheet,
  ): void {
    const { actions, limits } = this.document;
    if (actions === undefined) return;
    const source = { context: actions, limits, resources };
    if (root !== undefined) links.push(...pageLinks(root, sheet, actions));
    for (const { template } of templates) for (const link of template.links) links.push(link);
    if (root !== undefined) for (const link of contentLinks(root, source)) links.push(link);
    for (const file of annotations) for (const link of annotationLinks(file, source)) links.push(link);
    links.length = actions.takeLinks(links.length);
  }

  /** Once a document: of scans every page is one. */
  #reportNoText({ pageNumber, part }: PageState): void {
    const message = 'The page has drawings or pictures but no text: there is none to extract or search';
    this.document.reportOnce({ code: 'page_without_text', message, page: pageNumber, part });
  }
}
