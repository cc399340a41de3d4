/** What a document repeats at the edges of its pages: running heads and feet, and the numbers of the pages (spec 16.2). */
import type { Row } from './rows.js';
import type { Section } from './sections.js';
import { rowText } from './spacing.js';

/** Share of the page's height, at its top and at its bottom. */
const EDGE = 0.12;
/** The same line stands at the same height, more or less. */
const SAME_HEIGHT_MM = 1;
/** A line on this many pages is one that is repeated; of page numbers two that go up are enough. */
const MIN_PAGES = 3;
const MIN_NUMBERED_PAGES = 2;
/** Larger letters than the body's, by this factor, are a title that happens to stand there. */
const TITLE_RATIO = 1.15;
/** Lines remembered; those that have not come again for longest are forgotten. */
const MAX_LINES = 512;

const NUMBER = /\d{1,6}/g;
/** Nothing but the number of a page, and of all pages, with the words and signs that go with it. */
const PAGE_NUMBER = /^(?:page|pp?\.|of|[-–—·.|/\\()（）[\]第页共頁總总，,\d])+$/i;
const MAX_PAGE_NUMBER = 40;

/** A name and a value: forms have them on every page, and each page is read by itself. */
const FIELD = /[:：]./u;

/** Level rows of a page near its edges, from the edge inwards. */
export interface PageEdges {
  readonly pageNumber: number;
  readonly top: readonly EdgeRow[];
  readonly bottom: readonly EdgeRow[];
}

interface EdgeRow {
  readonly row: Row;
  /** The text without blanks, its numbers as # where it is a page number. */
  readonly key: string;
  readonly numbers: readonly number[];
  readonly isNumber: boolean;
}

interface Seen {
  baseline: number;
  pages: number;
  pageNumber: number;
  numbers: readonly number[];
}

export function pageEdges(sections: readonly Section[], pageNumber: number, heightMm: number): PageEdges {
  const rows = sections.flatMap((section) => (section.kind === 'flow' ? section.flow.rows : []));
  const level = rows.filter((row) => !row.isVertical && row.fragments.every(({ angle }) => angle === 0));
  const near = (isNear: (row: Row) => boolean, order: number) =>
    level
      .filter(isNear)
      .sort((a, b) => order * (a.baseline - b.baseline))
      .map(toEdgeRow);
  return {
    pageNumber,
    top: near((row) => row.baseline <= EDGE * heightMm, 1),
    bottom: near((row) => row.baseline >= (1 - EDGE) * heightMm, -1),
  };
}

function toEdgeRow(row: Row): EdgeRow {
  const text = rowText(row).replace(/\s+/g, '');
  const numbers = [...text.matchAll(NUMBER)].map(([digits]) => Number(digits));
  const isNumber = numbers.length > 0 && text.length <= MAX_PAGE_NUMBER && PAGE_NUMBER.test(text);
  return { row, key: isNumber ? text.replace(NUMBER, '#') : text, numbers, isNumber };
}

/** Remembers the lines at the edges of the pages that have come, and tells which of a page only repeat them. */
export class RepeatedEdges {
  readonly #top = new Map<string, Seen>();
  readonly #bottom = new Map<string, Seen>();

  /**
   * The rows of a page that say what stood on a page before (of page numbers: nothing but the number). Pages come in order;
   * `next` is the one after, which may show that a line is going to be repeated.
   */
  take(page: PageEdges, next: PageEdges | undefined, bodyMm: number): Set<Row> {
    const repeated = new Set<Row>();
    for (const [rows, nextRows, seen] of [
      [page.top, next?.top, this.#top],
      [page.bottom, next?.bottom, this.#bottom],
    ] as const) {
      let isOutermost = true;
      for (const edge of rows) {
        const before = seen.get(edge.key);
        const pages = pagesOf(edge, page.pageNumber, before);
        const comes = nextRows?.some(
          (other) => other.key === edge.key && follows(edge, other, next!.pageNumber - page.pageNumber),
        );
        const enough = edge.isNumber ? MIN_NUMBERED_PAGES : MIN_PAGES;
        const isRepeated = pages + (comes ? 1 : 0) >= enough && (edge.isNumber || pages > 1);
        if (isOutermost && isRepeated && !FIELD.test(edge.key) && edge.row.sizeMm < TITLE_RATIO * bodyMm)
          repeated.add(edge.row);
        else if (pages + (comes ? 1 : 0) < 2) isOutermost = false;
        remember(seen, edge, pages, page.pageNumber);
      }
    }
    return repeated;
  }
}

/** On how many pages the line has stood, this one counted. */
function pagesOf(edge: EdgeRow, pageNumber: number, before: Seen | undefined): number {
  if (before === undefined || Math.abs(before.baseline - edge.row.baseline) > SAME_HEIGHT_MM) return 1;
  if (!edge.isNumber) return before.pages + 1;
  return goesUp(before.numbers, edge.numbers, pageNumber - before.pageNumber) ? before.pages + 1 : 1;
}

function follows(edge: EdgeRow, next: EdgeRow, pages: number): boolean {
  if (Math.abs(next.row.baseline - edge.row.baseline) > SAME_HEIGHT_MM) return false;
  return !edge.isNumber || goesUp(edge.numbers, next.numbers, pages);
}

/** One of the numbers counts the pages; the other ones stay. */
function goesUp(before: readonly number[], after: readonly number[], pages: number): boolean {
  const steps = after.map((number, i) => number - before[i]!).filter((step) => step !== 0);
  return steps.length === 1 && steps[0] === pages;
}

function remember(seen: Map<string, Seen>, edge: EdgeRow, pages: number, pageNumber: number): void {
  seen.delete(edge.key);
  seen.set(edge.key, { baseline: edge.row.baseline, pages, pageNumber, numbers: edge.numbers });
  if (seen.size > MAX_LINES) seen.delete(seen.keys().next().value!);
}
