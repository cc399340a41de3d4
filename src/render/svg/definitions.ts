/** What the `defs` of one page hold, each thing once. */
import { attribute } from './markup.js';

export class Definitions {
  readonly #prefix: string;
  readonly #idOfMarkup = new Map<string, string>();
  readonly #parts: string[] = [];
  #next = 1;

  /** Ids start with the page's number: all pages of a document can stand in one HTML page. */
  constructor(pageNumber: number) {
    this.#prefix = `p${pageNumber}-`;
  }

  /** Id of an element `<name{attributes}>{content}</name>`, defined once however often it is asked for. */
  add(name: string, attributes: string, content: string): string {
    const markup = `${name}${attributes}>${content}`;
    const known = this.#idOfMarkup.get(markup);
    if (known !== undefined) return known;
    const id = this.newId();
    this.#idOfMarkup.set(markup, id);
    this.addWithId(id, name, attributes, content);
    return id;
  }

  newId(): string {
    return this.#prefix + (this.#next++).toString(36);
  }

  addWithId(id: string, name: string, attributes: string, content: string): void {
    const end = content === '' ? '/>' : `>${content}</${name}>`;
    this.#parts.push(`<${name}${attribute('id', id)}${attributes}${end}`);
  }

  toString(): string {
    return this.#parts.length > 0 ? `<defs>${this.#parts.join('')}</defs>` : '';
  }
}
