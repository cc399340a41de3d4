/** What a document says beside its pages: who made it, where its outline leads, what is attached, how to show it. */
import type { Box } from './geometry.js';
import type { LinkTarget, PageTarget } from './link.js';

export interface DocumentFacts {
  /** From 1, through all documents of the package. */
  readonly firstPage: number;
  readonly pageCount: number;
  readonly info: DocumentInfo;
  /** The bookmarks where the document has no outline. */
  readonly outline: readonly OutlineEntry[];
  /** No two of one name. */
  readonly destinations: readonly NamedDestination[];
  /** No two of one name. */
  readonly attachments: readonly Attachment[];
  /** Read when asked for. */
  customTags(): readonly CustomTag[];
  /** Read when asked for. */
  signatures(): readonly SignatureFacts[];
  readonly preferences: ViewerPreferences;
  /** Undefined where the document says nothing, which allows everything. */
  readonly permissions?: Permissions;
  /** What is shown when the document is opened. */
  readonly opening?: PageTarget;
}

/** Dates as written in the document. */
export interface DocumentInfo {
  readonly id?: string;
  readonly title?: string;
  readonly author?: string;
  readonly subject?: string;
  readonly abstract?: string;
  readonly keywords?: readonly string[];
  readonly creator?: string;
  readonly creatorVersion?: string;
  readonly creationDate?: string;
  readonly modificationDate?: string;
  /** What kind of publication it is, in the document's own word. */
  readonly usage?: string;
  /** Whatever else the producer wants known, in the order of the document; invoices keep their key figures here. */
  readonly customData?: readonly NamedValue[];
}

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

export interface OutlineEntry {
  readonly title: string;
  readonly target?: LinkTarget;
  readonly isExpanded: boolean;
  readonly children: readonly OutlineEntry[];
}

export interface NamedDestination {
  readonly name: string;
  readonly target: PageTarget;
}

export interface Attachment {
  /** A file name with extension and without folders. */
  readonly name: string;
  /** The kind of file in the document's own word, mostly its extension. */
  readonly format?: string;
  readonly creationDate?: string;
  readonly modificationDate?: string;
  /** False for what the document does not want listed (the data behind an invoice). */
  readonly isVisible: boolean;
  /** What it is for, in the document's own word. */
  readonly usage?: string;
  /**
   * Read when asked for; undefined, with a diagnostic, where nothing of it can be read. The same function where several
   * attachments are one file.
   */
  readonly bytes: () => Uint8Array | undefined;
}

/** A tree of fields that points at what stands on the pages: the figures of an invoice, the structure of a text. */
export interface CustomTag extends TagField {
  /** What kind of tag it is, in the document's own word. */
  readonly type?: string;
}

export interface TagField {
  readonly name: string;
  readonly attributes: readonly NamedValue[];
  /** What the tag itself says; '' mostly. */
  readonly text: string;
  /** Objects whose text is the value, in order. */
  readonly objects: readonly ObjectReference[];
  readonly children: readonly TagField[];
}

export interface ObjectReference {
  /** From 1, through all documents of the package. */
  readonly pageNumber: number;
  /** `GlyphRun.objectId` of a run of that page. */
  readonly objectId: string;
}

/** What a signature says about itself, in its own words. Nothing of it is verified. */
export interface SignatureFacts {
  readonly id?: string;
  /** A seal, rather than a signature without picture. */
  readonly hasSeal: boolean;
  readonly sealName?: string;
  readonly provider?: SignatureProvider;
  /** Name or object identifier. */
  readonly method?: string;
  readonly dateTime?: string;
  /** Name or object identifier. */
  readonly digestMethod?: string;
  /** Paths of the parts that it covers. */
  readonly signedParts: readonly string[];
  readonly stamps: readonly SignatureStamp[];
}

export interface SignatureProvider {
  readonly name?: string;
  readonly version?: string;
  readonly company?: string;
}

export interface SignatureStamp {
  /** From 1, through all documents of the package. */
  readonly pageNumber: number;
  /** On the page. */
  readonly box: Box;
}

export interface ViewerPreferences {
  /** What stands beside the page. */
  readonly pageMode?: 'fullScreen' | 'outline' | 'thumbnails' | 'layers' | 'attachments' | 'tags' | 'bookmarks';
  readonly pageLayout?: PageLayout;
  /** Whether the window is named after the document's title. */
  readonly showsTitle?: boolean;
  readonly hidesToolbar?: boolean;
  readonly hidesMenubar?: boolean;
  readonly hidesWindow?: boolean;
}

export type PageLayout = 'onePage' | 'oneColumn' | 'twoPageLeft' | 'twoColumnLeft' | 'twoPageRight' | 'twoColumnRight';

/** What the document's maker allows. Advice: nothing enforces it. Absent flags allow. */
export interface Permissions {
  readonly edit?: boolean;
  readonly annotate?: boolean;
  readonly export?: boolean;
  readonly sign?: boolean;
  readonly watermark?: boolean;
  readonly printScreen?: boolean;
  readonly print?: boolean;
  /** How often it may be printed; undefined for no limit. */
  readonly copies?: number;
  /** Dates as written. */
  readonly validFrom?: string;
  readonly validUntil?: string;
}

const NO_FACTS: DocumentFacts = {
  firstPage: 1,
  pageCount: 0,
  info: {},
  outline: [],
  destinations: [],
  attachments: [],
  customTags: () => [],
  signatures: () => [],
  preferences: {},
};

/**
 * The facts of all documents of a package as those of one. Of several documents each document becomes an entry of the outline, the first one
 * says who made it and how to show it, and later names that are taken already get a number.
 */
export function mergeFacts(documents: readonly DocumentFacts[]): DocumentFacts {
  const first = documents[0] ?? NO_FACTS;
  if (documents.length <= 1) return first;
  const customData = documents.flatMap(({ info }) => info.customData ?? []);
  const names = new FreeNames();
  return {
    ...first,
    pageCount: documents.reduce((sum, { pageCount }) => sum + pageCount, 0),
    info: { ...first.info, ...(customData.length > 0 ? { customData } : {}) },
    outline: documents.map(outlineOfDocument),
    destinations: documents.flatMap(({ destinations }) =>
      destinations.map(({ name, target }) => ({ name: names.take(name), target })),
    ),
    attachments: documents.flatMap(({ attachments }) => attachments),
    customTags: () => documents.flatMap((document) => document.customTags()),
    signatures: () => documents.flatMap((document) => document.signatures()),
  };
}

function outlineOfDocument(facts: DocumentFacts, index: number): OutlineEntry {
  const title = facts.info.title ?? `Document ${index + 1}`;
  const target: LinkTarget = { kind: 'page', pageNumber: facts.firstPage, view: { kind: 'fit' } };
  return { title, isExpanded: true, children: facts.outline, ...(facts.pageCount > 0 ? { target } : {}) };
}

/** Hands out names, each once: `name`, then `name (2)` … */
export class FreeNames {
  /** How often each name was wanted or given. */
  readonly #counts = new Map<string, number>();

  /** A name like `name`; the number stands before `extension`, with which the name ends. */
  take(name: string, extension = ''): string {
    const stem = name.slice(0, name.length - extension.length);
    let number = (this.#counts.get(name) ?? 0) + 1;
    let free = name;
    if (number > 1) {
      const numbered = (): string => `${stem} (${number})${extension}`;
      for (free = numbered(); this.#counts.has(free); free = numbered()) number++;
      this.#counts.set(free, 1);
    }
    this.#counts.set(name, number);
    return free;
  }
}
