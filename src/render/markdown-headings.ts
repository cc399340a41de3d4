/** Headings as the outline of a document tells them: rows that say what an entry of it says, on the page that it leads to. */
import type { DocumentFacts, OutlineEntry } from '../display/facts.js';
import type { Row } from './layout/rows.js';
import type { Section } from './layout/sections.js';
import { rowText } from './layout/spacing.js';

/** Markdown knows six levels. */
const MAX_LEVEL = 6;
/** Lines that one title may take. */
const MAX_ROWS = 3;
/** A number before a title, which outlines and pages do not always both have. */
const NUMBERING =
  /^(?:第[一二三四五六七八九十百零〇\d]{1,8}[章节条编篇部]|[一二三四五六七八九十]{1,4}、|[（(][一二三四五六七八九十\d]{1,4}[)）]|\d{1,3}(?:\.\d{1,3}){0,5}[.、)）]?)/u;

/** Rows of one heading share the object. */
export interface Heading {
  /** 1 for the highest. */
  readonly level: number;
}

interface Title {
  readonly text: string;
  readonly level: number;
}

export class OutlineHeadings {
  readonly #titles = new Map<number, Title[]>();

  constructor(documents: readonly DocumentFacts[]) {
    for (const { outline } of documents) this.#add(outline, 1);
  }

  #add(entries: readonly OutlineEntry[], level: number): void {
    for (const { title, target, children } of entries) {
      const text = plain(title);
      if (target?.kind === 'page' && text !== '') {
        const onPage = this.#titles.get(target.pageNumber);
        const entry = { text, level: Math.min(level, MAX_LEVEL) };
        if (onPage === undefined) this.#titles.set(target.pageNumber, [entry]);
        else onPage.push(entry);
      }
      this.#add(children, level + 1);
    }
  }

  /** The headings of a page by their rows; each entry of the outline makes one at most. */
  find(pageNumber: number, sections: readonly Section[]): Map<Row, Heading> {
    const headings = new Map<Row, Heading>();
    const titles = [...(this.#titles.get(pageNumber) ?? [])];
    for (const section of titles.length === 0 ? [] : sections) {
      if (section.kind !== 'flow') continue;
      const { rows } = section.flow;
      const texts = rows.map((row) => plain(rowText(row)));
      for (let from = 0; from < rows.length && titles.length > 0; from++) {
        const found = findTitle(texts, from, titles);
        if (found === undefined) continue;
        const [title] = titles.splice(found.index, 1);
        const heading = { level: title!.level };
        for (const row of rows.slice(from, from + found.rows)) headings.set(row, heading);
        from += found.rows - 1;
      }
    }
    return headings;
  }
}

/** Which title begins with row `from`, and how many rows it takes. */
function findTitle(texts: readonly string[], from: number, titles: readonly Title[]) {
  let joined = '';
  for (let rows = 1; rows <= MAX_ROWS && from + rows <= texts.length; rows++) {
    joined += texts[from + rows - 1]!;
    const index = titles.findIndex(({ text }) => text === joined);
    if (index >= 0) return { index, rows };
  }
  const bare = withoutNumber(texts[from]!);
  const index = titles.findIndex(({ text }) => withoutNumber(text) === bare && bare.length > 1);
  return index < 0 ? undefined : { index, rows: 1 };
}

/** Without blanks, wide forms as narrow ones. */
function plain(text: string): string {
  return text.normalize('NFKC').replace(/\s+/gu, '');
}

function withoutNumber(text: string): string {
  return text.replace(NUMBERING, '');
}
