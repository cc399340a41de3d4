/** What a document says beside its pages, read when it is asked for; and what the names in its actions mean. */
import type { DocumentFacts, NamedDestination, OutlineEntry, Permissions } from '../display/facts.js';
import type { PageTarget } from '../display/link.js';
import type { Diagnostic, Report } from '../display/list.js';
import { type ActionContext, actionsOf, pageTarget, targetOf } from './action.js';
import { type AttachedFile, PackageAttachments, readAttachments } from './attachment.js';
import { readCustomTags } from './custom-tag.js';
import type { DocumentBody } from './document.js';
import { factLine } from './fact-text.js';
import { openingView, readPreferences } from './preferences.js';
import { readSignatureFacts } from './signature-facts.js';
import type { XmlElement } from './xml.js';

interface Attached {
  readonly files: readonly AttachedFile[];
  readonly nameOfId: ReadonlyMap<string | undefined, string>;
  readonly shared: PackageAttachments;
}

/** The facts of one document of a package. */
export class FactsReader implements ActionContext {
  readonly #body: DocumentBody;
  readonly #firstPage: number;
  readonly #previous: FactsReader | undefined;
  readonly #report: Report;
  readonly #reported = new Set<string>();
  readonly #dangling = new Set<string>();
  #links = 0;
  #pageNumbers: ReadonlyMap<string, number> | undefined;
  #bookmarks: ReadonlyMap<string, PageTarget> | undefined;
  #attached: Attached | undefined;
  #facts: DocumentFacts | undefined;

  /**
   * @param firstPage number of the document's first page through all documents
   * @param previous reader of the document before it: names of attachments are unique in the package
   */
  constructor(body: DocumentBody, firstPage: number, previous: FactsReader | undefined, report: Report) {
    this.#body = body;
    this.#firstPage = firstPage;
    this.#previous = previous;
    this.#report = report;
  }

  get facts(): DocumentFacts {
    this.#facts ??= this.#read();
    return this.#facts;
  }

  /** Once a document: pages repeat what their templates say. */
  readonly report = (diagnostic: Diagnostic): void => {
    const key = `${diagnostic.code} ${diagnostic.message}`;
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    this.#report(diagnostic);
  };

  pageNumberOf(pageId: string): number | undefined {
    this.#pageNumbers ??= numbersById(this.#body, this.#firstPage);
    return this.#pageNumbers.get(pageId);
  }

  bookmark(name: string): PageTarget | undefined {
    this.#bookmarks ??= this.#readBookmarks();
    return this.#bookmarks.get(name);
  }

  attachmentName(id: string): string | undefined {
    return this.#attachments().nameOfId.get(id);
  }

  /** The first of each kind is told: of an excerpt every link of the contents is one. */
  dangling(kind: 'page' | 'bookmark' | 'attachment', name: string): void {
    if (this.#dangling.has(kind)) return;
    this.#dangling.add(kind);
    const message = `A link leads to the ${kind} "${name}", which the document does not have; so may others`;
    this.report({ code: 'reference_missing', message, part: this.#body.part });
  }

  takeLinks(count: number): number {
    const limit = this.#body.pkg.limits.maxLinks;
    const taken = Math.min(count, limit - this.#links);
    this.#links += taken;
    if (taken < count) {
      const message = `The document has more than ${limit} links; the rest lead nowhere`;
      this.report({ code: 'links_cut', message });
    }
    return taken;
  }

  #read(): DocumentFacts {
    const { beside, info, pages } = this.#body;
    this.#bookmarks ??= this.#readBookmarks();
    const destinations = [...this.#bookmarks].map(([name, target]): NamedDestination => ({ name, target }));
    const outline = outlineOf(beside.outlines, this);
    const opening = this.#opening();
    const permissions = readPermissions(beside.permissions);
    return {
      firstPage: this.#firstPage,
      pageCount: pages.length,
      info,
      outline: outline.length > 0 ? outline : destinations.map(outlineOfBookmark),
      destinations,
      attachments: this.#attachments().files.map(({ attachment }) => attachment),
      customTags: () => readCustomTags(this.#body, (id) => this.pageNumberOf(id), this.report),
      signatures: () => readSignatureFacts(this.#body, (id) => this.pageNumberOf(id), this.report),
      preferences: readPreferences(beside.preferences),
      ...(permissions === undefined ? {} : { permissions }),
      ...(opening === undefined ? {} : { opening }),
    };
  }

  #attachments(): Attached {
    if (this.#attached === undefined) {
      const shared = this.#previous === undefined ? new PackageAttachments() : this.#previous.#attachments().shared;
      const files = readAttachments(this.#body, shared, this.report);
      this.#attached = { files, nameOfId: new Map(files.map(({ id, attachment }) => [id, attachment.name])), shared };
    }
    return this.#attached;
  }

  /** The first of several bookmarks with one name counts. */
  #readBookmarks(): Map<string, PageTarget> {
    const bookmarks = new Map<string, PageTarget>();
    for (const element of this.#body.beside.bookmarks?.childrenNamed('Bookmark') ?? []) {
      const name = factLine(element.attribute('Name') ?? '');
      const dest = element.child('Dest');
      if (!name || dest === undefined || bookmarks.has(name)) continue;
      const target = pageTarget(dest, this);
      if (target !== undefined) bookmarks.set(name, target);
    }
    return bookmarks;
  }

  /** A Goto on opening, else the zoom of the preferences. To open an address unasked is left out. */
  #opening(): PageTarget | undefined {
    const { actions, preferences } = this.#body.beside;
    const openings = actionsOf(actions, 'DO');
    if (openings.length < (actions?.childrenNamed('Action').length ?? 0)) {
      this.report({
        code: 'action_dropped',
        message: 'Actions of the document that are not of its opening are left out',
      });
    }
    for (const action of openings) {
      const target = targetOf(action, this);
      if (target?.kind === 'page') return target;
      if (target === undefined) continue;
      const message = 'An action that leads out of the document as soon as it is opened is left out';
      this.report({ code: 'action_dropped', message });
    }
    const view = openingView(preferences);
    return view === undefined ? undefined : { kind: 'page', pageNumber: this.#firstPage, view };
  }
}

/** The first of several pages with one ID counts. */
function numbersById(body: DocumentBody, firstPage: number): Map<string, number> {
  const numbers = new Map<string, number>();
  body.pages.forEach(({ id }, index) => {
    if (id !== undefined && !numbers.has(id)) numbers.set(id, firstPage + index);
  });
  return numbers;
}

/** An entry leads where its first action does that leads anywhere, whatever the event. */
function outlineOf(parent: XmlElement | undefined, context: ActionContext): OutlineEntry[] {
  return (parent?.childrenNamed('OutlineElem') ?? []).map((element) => {
    let target: OutlineEntry['target'];
    for (const action of element.child('Actions')?.childrenNamed('Action') ?? []) target ??= targetOf(action, context);
    return {
      title: factLine(element.attribute('Title') ?? ''),
      isExpanded: element.boolean('Expanded') !== false,
      children: outlineOf(element, context),
      ...(target === undefined ? {} : { target }),
    };
  });
}

function outlineOfBookmark({ name, target }: NamedDestination): OutlineEntry {
  return { title: name, target, isExpanded: true, children: [] };
}

const FLAGS = [
  ['edit', 'Edit'],
  ['annotate', 'Annot'],
  ['export', 'Export'],
  ['sign', 'Signature'],
  ['watermark', 'Watermark'],
  ['printScreen', 'PrintScreen'],
] as const;

function readPermissions(element: XmlElement | undefined): Permissions | undefined {
  if (element === undefined) return undefined;
  const flags = FLAGS.flatMap(([key, name]) => {
    const flag = flagOf(element, name);
    return flag === undefined ? [] : [[key, flag]];
  });
  const print = element.child('Print');
  const isPrintable = print?.boolean('Printable');
  const copies = print?.integer('Copies');
  const period = element.child('ValidPeriod');
  const validFrom = factLine(period?.attribute('StartDate') ?? '');
  const validUntil = factLine(period?.attribute('EndDate') ?? '');
  return {
    ...Object.fromEntries(flags),
    ...(isPrintable === undefined ? {} : { print: isPrintable }),
    ...(copies === undefined || copies < 0 ? {} : { copies }),
    ...(validFrom ? { validFrom } : {}),
    ...(validUntil ? { validUntil } : {}),
  };
}

/** The text of a child, or an attribute, as a flag. */
function flagOf(element: XmlElement, name: string): boolean | undefined {
  const text = (element.childText(name) ?? element.attribute(name))?.trim().toLowerCase();
  if (text === 'true' || text === '1' || text === 'yes') return true;
  return text === 'false' || text === '0' || text === 'no' ? false : undefined;
}
