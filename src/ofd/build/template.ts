/** Template pages: parsed and built once for all pages that stand on them. */
import { IDENTITY } from '../../display/geometry.js';
import type { LinkArea } from '../../display/link.js';
import type { Group } from '../../display/list.js';
import type { ResourceTable } from '../resources.js';
import type { XmlElement } from '../xml.js';
import { Cache } from './cache.js';
import { type DocumentContext, type PageState, pageSpace, type SharedGroup } from './context.js';
import { buildLayers, LAYER_CLASSES, pageResources } from './layers.js';
import { contentLinks } from './link.js';
import { NO_CLIPS } from './placement.js';

export class Template {
  /** The template's own area, for pages without one. */
  readonly area: XmlElement | undefined;
  readonly links: readonly LinkArea[];
  readonly #document: DocumentContext;
  readonly #depth: number;
  readonly #resources: ResourceTable;
  /** Let go once the group stands. */
  #root: XmlElement | undefined;
  #shared: SharedGroup | undefined;

  /** `depth`: groups around the template's content, its own among them. */
  constructor(document: DocumentContext, root: XmlElement, part: string, depth: number) {
    this.#document = document;
    this.#depth = depth;
    this.area = root.child('Area');
    const resources = pageResources(document, root, part);
    const { actions: context, limits } = document;
    this.links = context === undefined ? [] : contentLinks(root, { context, limits, resources: () => resources });
    this.#resources = resources;
    this.#root = root;
  }

  /** The template as one group, the same object on each page; undefined where the page has no room for it. */
  place(page: PageState): Group | undefined {
    if (this.#shared !== undefined) {
      if (!page.count(this.#shared.objects, this.#shared.characters)) return undefined;
      page.note(this.#shared.hasText, this.#shared.hasInk);
      return this.#shared.group;
    }
    const root = this.#root;
    if (root === undefined) return undefined;
    this.#root = undefined;
    const space = pageSpace(this.#document, page, this.#resources, this.#depth);
    const { result, tally } = page.measure(() => LAYER_CLASSES.flatMap((type) => buildLayers(root, type, space)));
    this.#shared = {
      group: {
        kind: 'group',
        matrix: IDENTITY,
        alpha: 1,
        items: result,
        isShared: true,
        clips: NO_CLIPS,
        blendMode: 'normal',
      },
      objects: tally.objects,
      characters: tally.characters,
      height: tally.deepest,
      hasText: tally.hasText,
      hasInk: tally.hasInk,
    };
    return this.#shared.group;
  }
}

/** Templates kept for the pages to come; a document with one for each page must not gather them. */
const MAX_TEMPLATES = 64;

/** The templates of one document. */
export class Templates {
  readonly #document: DocumentContext;
  readonly #depth: number;
  readonly #templates = new Cache<Template>(MAX_TEMPLATES);

  /** `depth`: groups around the content of a template. */
  constructor(document: DocumentContext, depth: number) {
    this.#document = document;
    this.#depth = depth;
  }

  /** The template of that ID; undefined, with a diagnostic, where there is none that can be read. */
  open(id: string): Template | undefined {
    const reference = this.#document.body.templates.get(id);
    if (reference === undefined) {
      this.#fault('reference_missing', `Template page ${id} is not defined`, this.#document.body.part);
      return undefined;
    }
    const key = reference.part ?? reference.location;
    const known = this.#templates.get(key);
    if (known !== undefined) return known;
    const root = reference.part === undefined ? undefined : this.#document.body.pkg.xml(reference.part);
    if (reference.part === undefined || root === undefined) {
      this.#fault('part_missing', `Template page ${id} (${reference.location}) cannot be read`, key);
      return undefined;
    }
    const template = new Template(this.#document, root, reference.part, this.#depth);
    this.#templates.set(key, template);
    return template;
  }

  #fault(code: string, message: string, part: string): void {
    this.#document.reportOnce({ code, message, part });
  }
}
