/**
 * Links as annotations. A link to a page that is yet to come waits for it, because its place there counts from the foot
 * of that page; the list of a page's annotations goes out when none of them waits any more.
 */
import type { Box } from '../../display/geometry.js';
import type { LinkArea, LinkTarget, PageTarget } from '../../display/link.js';
import type { DisplayList } from '../../display/list.js';
import type { AttachmentTable } from './attachment-table.js';
import { points, type WrittenPages } from './destination.js';
import type { Entries, PdfFile, Value } from './file.js';
import { PDFString, type Reference } from './pdf-lib.js';
import { textString } from './text-string.js';

/** Flag of an annotation that is printed with its page; PDF/A wants it of all. */
const PRINTED = 4;
const NO_BORDER = [0, 0, 0];

interface LinkedPage {
  readonly list: Reference;
  /** In the order of the areas; undefined while one waits, and for one that leads nowhere. */
  readonly annotations: (Reference | undefined)[];
  waiting: number;
}

interface WaitingLink {
  readonly page: LinkedPage;
  readonly index: number;
  readonly rectangle: Value[];
  readonly target: PageTarget;
}

export class LinkTable {
  readonly #file: PdfFile;
  readonly #pages: WrittenPages;
  readonly #attachments: AttachmentTable;
  /** By the number of the page that they wait for. */
  readonly #waiting = new Map<number, WaitingLink[]>();
  /** What an annotation without a look of its own looks like. */
  #nothing: Reference | undefined;

  constructor(file: PdfFile, pages: WrittenPages, attachments: AttachmentTable) {
    this.#file = file;
    this.#pages = pages;
    this.#attachments = attachments;
  }

  /** The list of a page's annotations, for its dictionary; undefined where it has no links. */
  listOf({ links, heightMm }: DisplayList): Reference | undefined {
    if (links === undefined || links.length === 0) return undefined;
    const page: LinkedPage = { list: this.#file.allocate(), annotations: links.map(() => undefined), waiting: 0 };
    for (const [index, link] of links.entries()) this.#place(page, index, link, heightMm);
    if (page.waiting === 0) this.#write(page);
    return page.list;
  }

  /** Resolves the links that waited for a page, which is written now. */
  arrived(pageNumber: number): void {
    for (const { page, index, rectangle, target } of this.#waiting.get(pageNumber) ?? []) {
      page.annotations[index] = this.#annotation(rectangle, { Dest: this.#pages.destination(target)! });
      page.waiting -= 1;
      if (page.waiting === 0) this.#write(page);
    }
    this.#waiting.delete(pageNumber);
  }

  /** No page comes any more: what still waits leads nowhere. */
  finish(): void {
    const open = new Set([...this.#waiting.values()].flat().map(({ page }) => page));
    for (const page of open) this.#write(page);
    this.#waiting.clear();
  }

  #place(page: LinkedPage, index: number, { box, target }: LinkArea, heightMm: number): void {
    const rectangle = rectangleOf(box, heightMm);
    if (target.kind === 'attachment') {
      page.annotations[index] = this.#attachment(rectangle, target.name);
      return;
    }
    const action = linkEntries(this.#pages, target);
    if (action !== undefined) {
      page.annotations[index] = this.#annotation(rectangle, action);
    } else if (target.kind === 'page') {
      const waiting = this.#waiting.get(target.pageNumber);
      const link = { page, index, rectangle, target };
      if (waiting === undefined) this.#waiting.set(target.pageNumber, [link]);
      else waiting.push(link);
      page.waiting += 1;
    }
  }

  #annotation(rectangle: Value[], action: Entries): Reference {
    const entries = { Type: 'Annot', Subtype: 'Link', Rect: rectangle, Border: NO_BORDER, F: PRINTED, ...action };
    return this.#file.add(this.#file.object(entries));
  }

  /** PDF has no link to an attached file of any kind; an annotation that carries the file opens it as well. */
  #attachment(rectangle: Value[], name: string): Reference | undefined {
    const specification = this.#attachments.specificationOf(name);
    if (specification === undefined) return undefined;
    this.#nothing ??= this.#file.addStream({ Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 1, 1] }, Buffer.alloc(0));
    const entries = {
      Type: 'Annot',
      Subtype: 'FileAttachment',
      Rect: rectangle,
      F: PRINTED,
      FS: specification,
      Contents: textString(name),
      AP: { N: this.#nothing },
    };
    return this.#file.add(this.#file.object(entries));
  }

  #write({ list, annotations }: LinkedPage): void {
    const known = annotations.filter((annotation) => annotation !== undefined);
    this.#file.add(this.#file.array(known), list);
  }
}

/** The entries that lead to `target`, for a link or an entry of the outline; undefined where there is nothing to lead to. */
export function linkEntries(pages: WrittenPages, target: LinkTarget): Entries | undefined {
  if (target.kind === 'uri') {
    const uri = PDFString.of(target.uri.replace(/[\\()]/g, '\\$&'));
    return { A: { S: 'URI', URI: uri } };
  }
  const destination = target.kind === 'page' ? pages.destination(target) : undefined;
  return destination === undefined ? undefined : { Dest: destination };
}

function rectangleOf({ x, y, width, height }: Box, pageHeightMm: number): Value[] {
  return [x, pageHeightMm - y - height, x + width, pageHeightMm - y].map(points);
}
