/** Where links lead inside the file: pages, places on pages, attached files. */
import type { LinkTarget, PageView } from '../../display/link.js';
import { fixed } from '../svg/markup.js';

/** A place that some link leads to. */
export interface Place {
  readonly id: string;
  readonly pageNumber: number;
  /** From the upper edge of the page. */
  readonly topMm: number;
}

export function pageId(pageNumber: number): string {
  return `page-${pageNumber}`;
}

/** Gives addresses, and remembers what must be there in the end. */
export class Targets {
  readonly #pages: ReadonlySet<number>;
  readonly #attachments: ReadonlyMap<string, number>;
  readonly #places = new Map<string, Place>();
  readonly #linked = new Set<string>();

  /** `attachmentNames` in the order in which they will be listed. */
  constructor(pageNumbers: readonly number[], attachmentNames: readonly string[]) {
    this.#pages = new Set(pageNumbers);
    this.#attachments = new Map(attachmentNames.map((name, index) => [name, index + 1]));
  }

  /** What `href` says, not escaped; undefined where the file has no such place. */
  href(target: LinkTarget): string | undefined {
    switch (target.kind) {
      case 'uri':
        return target.uri;
      case 'page':
        return this.#pages.has(target.pageNumber) ? `#${this.#place(target.pageNumber, target.view)}` : undefined;
      case 'attachment':
        if (!this.#attachments.has(target.name)) return undefined;
        this.#linked.add(target.name);
        return `#${this.attachmentId(target.name)}`;
    }
  }

  attachmentId(name: string): string {
    return `attachment-${this.#attachments.get(name)}`;
  }

  isLinked(attachmentName: string): boolean {
    return this.#linked.has(attachmentName);
  }

  /** Places that are not the top of a page, each once. */
  get places(): Iterable<Place> {
    return this.#places.values();
  }

  #place(pageNumber: number, view: PageView): string {
    const topMm = 'top' in view ? (view.top ?? 0) : 0;
    if (!(topMm > 0)) return pageId(pageNumber);
    const id = `${pageId(pageNumber)}-${fixed(topMm, 1)}`;
    if (!this.#places.has(id)) this.#places.set(id, { id, pageNumber, topMm });
    return id;
  }
}
