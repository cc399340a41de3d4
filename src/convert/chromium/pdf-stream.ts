/**
 * The PDF that Chromium makes, on its way to disk: its dates are blanked, so that the same document gives the same bytes
 * (contract X1), the address that the document was shown under is taken out, and the pages are counted. Nothing changes
 * its length, for the table at the end of the file counts bytes.
 */
import { ServiceError } from '../../errors.js';
import { HTML_URL } from './web-document.js';

/** The information dictionary is the first object; its title has at most 4,096 characters. */
const HEAD_BYTES = 64 * 1024;
/** Also the title of a document that has none. */
const UNWANTED = /\/(?:CreationDate|ModDate) \(D:\d{14}[^()]{0,10}\)|\/Title \(document\.(?:invalid|mhtml)\)/g;
/** The page tree is plain text, the content of pages is compressed. */
const PAGE_TREE = /\/Type \/Pages\s*\/Count (\d{1,9})/g;
/** Of a link: in a text the parenthesis would have a backslash before it. */
const OWN_LINK = `/URI (${HTML_URL}`;
const RELATIVE_LINK = `/URI${' '.repeat(HTML_URL.length + 1)}(`;
const LONGEST_MATCH_BYTES = 64;

export class PdfStream {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  #isHead = true;
  /** What was not written yet: a match may go on in the next piece. */
  #held = '';
  #pages = 0;

  /** @param write takes pieces of a file of the same length */
  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** In the page tree as far as it has come: in the end those of the document. */
  get pages(): number {
    return this.#pages;
  }

  /** One call at a time. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#held += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    if (this.#held.length >= HEAD_BYTES) await this.#flush(this.#held.length - LONGEST_MATCH_BYTES);
  }

  /** @throws ServiceError `engine_crashed` where there is no PDF */
  async end(): Promise<void> {
    await this.#flush(this.#held.length);
    if (this.#pages > 0) return;
    throw new ServiceError('engine_crashed', 'Chromium made a PDF without pages', { reason: 'internal' });
  }

  async #flush(length: number): Promise<void> {
    if (this.#isHead) this.#held = withoutChance(this.#held);
    this.#isHead = false;
    // The root of the tree has the largest number.
    for (const [, count] of this.#held.matchAll(PAGE_TREE)) this.#pages = Math.max(this.#pages, Number(count));
    const text = this.#held.replaceAll(OWN_LINK, RELATIVE_LINK);
    this.#held = text.slice(length);
    await this.#write(Buffer.from(text.slice(0, length), 'latin1'));
  }
}

function withoutChance(head: string): string {
  if (!head.startsWith('%PDF-')) {
    throw new ServiceError('engine_crashed', 'Chromium made something that is no PDF', { reason: 'internal' });
  }
  const end = head.indexOf('endobj');
  return head.slice(0, end).replace(UNWANTED, (entry) => ' '.repeat(entry.length)) + head.slice(end);
}
