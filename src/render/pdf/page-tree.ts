/** The tree of pages. A node is written as soon as it is full, so that a long document keeps few of them in memory. */
import type { PdfFile } from './file.js';
import type { Reference } from './pdf-lib.js';

const KIDS_PER_NODE = 100;

interface OpenNode {
  readonly reference: Reference;
  readonly kids: Reference[];
  pages: number;
}

export class PageTree {
  readonly #file: PdfFile;
  /** The one open node of each level, the parents of pages first. */
  readonly #levels: OpenNode[] = [];

  constructor(file: PdfFile) {
    this.#file = file;
  }

  /** Adds the page that `write` writes under `reference` as a kid of `parent`. */
  add(write: (parent: Reference, reference: Reference) => void): void {
    const parent = this.#nodeWithRoom(0);
    const reference = this.#file.allocate();
    write(parent.reference, reference);
    parent.kids.push(reference);
    parent.pages += 1;
  }

  /** Writes what is open; the result is the root. */
  finish(): Reference {
    const root = this.#nodeWithRoom(0);
    for (let level = 0; level + 1 < this.#levels.length; level++) this.#close(level);
    const top = this.#levels[this.#levels.length - 1] ?? root;
    this.#write(top, undefined);
    return top.reference;
  }

  #nodeWithRoom(level: number): OpenNode {
    const open = this.#levels[level];
    if (open && open.kids.length < KIDS_PER_NODE) return open;
    if (open) this.#close(level);
    const fresh = { reference: this.#file.allocate(), kids: [], pages: 0 };
    this.#levels[level] = fresh;
    return fresh;
  }

  #close(level: number): void {
    const node = this.#levels[level]!;
    const parent = this.#nodeWithRoom(level + 1);
    parent.kids.push(node.reference);
    parent.pages += node.pages;
    this.#write(node, parent.reference);
  }

  #write(node: OpenNode, parent: Reference | undefined): void {
    const entries = { Type: 'Pages', Kids: node.kids, Count: node.pages, ...(parent ? { Parent: parent } : {}) };
    this.#file.add(this.#file.object(entries), node.reference);
  }
}
