/** Structure and text with positions as one JSON file (docs/json.md), written page by page. */
import { type DocumentFacts, mergeFacts } from '../../display/facts.js';
import type { DisplayList } from '../../display/list.js';
import type { Backend, BackendRun, Output, OutputFile, RenderOptions } from '../backend.js';
import { jsonDocument } from './document.js';
import { jsonPage } from './page.js';
import { TagTexts } from './tags.js';

/** Rises when a field changes its meaning or goes; new fields may come at any time. */
export const JSON_VERSION = 1;

export const jsonBackend: Backend = {
  format: 'json',
  paging: 'document',
  start: (output, options) => new JsonRun(output, options),
};

class JsonRun implements BackendRun {
  readonly #file: OutputFile;
  readonly #documents: readonly DocumentFacts[];
  /** Documents begun so far; the last of them is open. */
  #begun = 0;
  /** Of the document that is open. */
  #pages = 0;
  #tags = new TagTexts([]);

  constructor(output: Output, options: RenderOptions) {
    this.#file = output.openDocument();
    this.#documents = options.documents.length > 0 ? options.documents : [mergeFacts([])];
    this.#write(`{"format":"ofd-server/document","version":${JSON_VERSION},"documents":[`);
    this.#begin();
  }

  async page(list: DisplayList): Promise<void> {
    while (this.#isBeyond(list.pageNumber)) this.#begin();
    this.#tags.add(list);
    this.#write(`${this.#pages === 0 ? '' : ','}\n${JSON.stringify(jsonPage(list))}`);
    this.#pages++;
  }

  async end(): Promise<void> {
    while (this.#begun < this.#documents.length) this.#begin();
    this.#write(`${this.#endOfDocument()}\n]}\n`);
  }

  /** Whether the page belongs to a later document than the one that is open. */
  #isBeyond(pageNumber: number): boolean {
    const next = this.#documents[this.#begun];
    return next !== undefined && pageNumber >= next.firstPage;
  }

  /** Ends the document that is open and begins the next; one none of whose pages are wanted has an empty list of them. */
  #begin(): void {
    const facts = this.#documents[this.#begun]!;
    const end = this.#begun === 0 ? '' : `${this.#endOfDocument()},`;
    this.#tags = new TagTexts(facts.customTags());
    this.#write(`${end}\n${JSON.stringify(jsonDocument(facts)).slice(0, -1)},"pages":[`);
    this.#begun++;
    this.#pages = 0;
  }

  #endOfDocument(): string {
    return `],"custom_tags":${JSON.stringify(this.#tags.json())}}`;
  }

  #write(text: string): void {
    this.#file.write(Buffer.from(text));
  }
}
