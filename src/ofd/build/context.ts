/** What builders share: per document the caches, per page the counts and findings, per container the space. */
import { IDENTITY, type Matrix } from '../../display/geometry.js';
import type { Diagnostic, Group, Item, Report } from '../../display/list.js';
import type { FontBook } from '../../fonts/index.js';
import type { ActionContext } from '../action.js';
import type { DocumentBody, Sheet } from '../document.js';
import type { OfdLimits } from '../limits.js';
import type { ResourceTable } from '../resources.js';
import type { XmlElement } from '../xml.js';
import { Cache } from './cache.js';
import { ColorSpaces } from './color.js';
import { DrawParams, EMPTY_STYLE, type Style } from './draw-param.js';
import { DocumentFonts } from './font.js';
import { FontFindings } from './font-findings.js';
import { DocumentImages } from './image-source.js';

/** What a piece of a page amounts to. */
export interface Tally {
  /** Graphic units, those of nested groups counted each time. */
  objects: number;
  /** Characters, those of nested groups counted each time. */
  characters: number;
  /** The greatest depth of groups reached, counted from the page. */
  deepest: number;
  hasText: boolean;
  hasInk: boolean;
  /** Whether it would look different elsewhere: bound to a place on the page, or cut short by a limit or a ring. */
  isOneOff: boolean;
}

/** A group built once, and what it amounts to each time it is placed. */
export interface SharedGroup {
  readonly group: Group;
  readonly objects: number;
  readonly characters: number;
  /** Groups inside each other, from the one that places it. */
  readonly height: number;
  readonly hasText: boolean;
  readonly hasInk: boolean;
}

/** Findings of which each is told once; a document with more has told enough. */
const MAX_FINDINGS = 10_000;
/** Groups kept for the pages to come; more are seldom in use at once, and each holds a tree. */
const MAX_SHARED_GROUPS = 256;

/** Builds the graphic units among an element's children, in their order. */
export type ObjectBuilder = (parent: XmlElement, space: Space) => readonly Item[];

/** One document of the package while its pages are built. */
export class DocumentContext {
  readonly body: DocumentBody;
  /** For containers, which are themselves among the objects that it builds. */
  readonly buildObjects: ObjectBuilder;
  readonly limits: OfdLimits;
  readonly colorSpaces: ColorSpaces;
  readonly drawParams: DrawParams;
  readonly fonts: DocumentFonts;
  readonly images: DocumentImages;
  /** What actions lead to; undefined where nothing leads anywhere (inside a seal). */
  readonly actions: ActionContext | undefined;
  readonly sharedGroups = new Cache<SharedGroup>(MAX_SHARED_GROUPS);
  readonly report: Report;
  readonly #reported = new Set<string>();

  constructor(
    body: DocumentBody,
    fonts: FontBook,
    report: Report,
    buildObjects: ObjectBuilder,
    actions?: ActionContext,
  ) {
    this.body = body;
    this.buildObjects = buildObjects;
    this.limits = body.pkg.limits;
    this.report = report;
    this.colorSpaces = new ColorSpaces(body, (diagnostic) => this.reportOnce(diagnostic));
    this.drawParams = new DrawParams(this.limits.maxReferenceDepth, (code, id) => {
      const fault = code === 'reference_missing' ? 'is not defined' : 'is inherited in a ring, which is cut there';
      this.reportOnce({ code, message: `DrawParam ${id} ${fault}`, part: body.part });
    });
    this.fonts = new DocumentFonts(fonts, body, (diagnostic) => this.reportOnce(diagnostic));
    this.images = new DocumentImages(body);
    this.actions = actions;
  }

  /** Reports a finding about the document that pages would repeat. */
  reportOnce(diagnostic: Diagnostic): void {
    const key = `${diagnostic.code} ${diagnostic.message}`;
    if (this.#reported.has(key) || this.#reported.size >= MAX_FINDINGS) return;
    this.#reported.add(key);
    this.report(diagnostic);
  }
}

/** The page being built. */
export class PageState {
  readonly pageNumber: number;
  readonly part: string;
  readonly sheet: Sheet;
  readonly fonts = new FontFindings();
  /** Composite units being built right now: one inside itself is a ring. */
  readonly open = new Set<XmlElement>();
  /** Groups that mean something on this page only, by key. */
  readonly sharedGroups = new Map<string, SharedGroup>();
  readonly #document: DocumentContext;
  #objects = 0;
  #characters = 0;
  #tally = newTally();

  constructor(document: DocumentContext, pageNumber: number, part: string, sheet: Sheet) {
    this.#document = document;
    this.pageNumber = pageNumber;
    this.part = part;
    this.sheet = sheet;
  }

  /** What has been built since the innermost `measure` began. */
  get tally(): Tally {
    return this.#tally;
  }

  /** Builds something and tells what it amounts to; all of that counts for what stands around it too. */
  measure<T>(build: () => T): { readonly result: T; readonly tally: Tally } {
    const outer = this.#tally;
    const inner = newTally();
    this.#tally = inner;
    const result = build();
    this.#tally = outer;
    outer.objects += inner.objects;
    outer.characters += inner.characters;
    this.reach(inner.deepest);
    this.note(inner.hasText, inner.hasInk);
    outer.isOneOff ||= inner.isOneOff;
    return { result, tally: inner };
  }

  /** Counts `weight` more graphic units with their characters; false, with a diagnostic, where the page has too many. */
  count(weight: number, characters = 0): boolean {
    const limit = this.#document.limits.maxObjectsPerPage;
    if (this.#objects + weight > limit) {
      this.#document.reportOnce({
        code: 'objects_cut',
        message: `Page ${this.pageNumber} has more than ${limit} graphic units; the rest is left out`,
        page: this.pageNumber,
        part: this.part,
      });
      this.#tally.isOneOff = true;
      return false;
    }
    if (this.takeCharacters(characters) < characters) return false;
    this.#objects += weight;
    this.#tally.objects += weight;
    return true;
  }

  /** Counts characters; gives how many of them the page may still have, with a diagnostic where that is not all. */
  takeCharacters(count: number): number {
    const limit = this.#document.limits.maxCharactersPerPage;
    const taken = Math.min(count, limit - this.#characters);
    this.#characters += taken;
    this.#tally.characters += taken;
    if (taken < count) {
      this.#tally.isOneOff = true;
      this.#document.reportOnce({
        code: 'text_cut',
        message: `Page ${this.pageNumber} has more than ${limit} characters; the rest is left out`,
        page: this.pageNumber,
        part: this.part,
      });
    }
    return taken;
  }

  /** Notes that groups are nested this deep. */
  reach(depth: number): void {
    this.#tally.deepest = Math.max(this.#tally.deepest, depth);
  }

  note(hasText: boolean, hasInk: boolean): void {
    this.#tally.hasText ||= hasText;
    this.#tally.hasInk ||= hasInk;
  }

  /** Reports a finding about an object of this page. */
  report(code: string, message: string, element?: XmlElement): void {
    const objectId = element?.id('ID');
    this.#document.report({
      code,
      message,
      page: this.pageNumber,
      part: this.part,
      ...(objectId === undefined ? {} : { objectId }),
    });
  }
}

function newTally(): Tally {
  return { objects: 0, characters: 0, deepest: 0, hasText: false, hasInk: false, isOneOff: false };
}

/** Where objects are being placed: the content of a page, template, composite, pattern cell or appearance. */
export interface Space {
  readonly document: DocumentContext;
  readonly page: PageState;
  readonly resources: ResourceTable;
  /** Properties that objects inherit from their container. */
  readonly style: Style;
  /** This space → the page. */
  readonly toPage: Matrix;
  /** Groups around the objects placed here. */
  readonly depth: number;
  /** Inside a container of no opacity: nothing is painted, text is kept to be found. */
  readonly isInvisible: boolean;
  /** In a Link annotation lines appear only in a colour that someone chose. */
  readonly needsStrokeColor: boolean;
  /** In a Highlight annotation opaque marks let what lies below shine through. */
  readonly multipliesFills: boolean;
}

/** The space of a page's own content, with `depth` groups around it. */
export function pageSpace(document: DocumentContext, page: PageState, resources: ResourceTable, depth: number): Space {
  return {
    document,
    page,
    resources,
    style: EMPTY_STYLE,
    toPage: IDENTITY,
    depth,
    isInvisible: false,
    needsStrokeColor: false,
    multipliesFills: false,
  };
}
