/** Page lists as clients write them: "1-3,7" (contract B4). */

/** Thrown for a list that is none; the message says what is wrong with which part. */
export class PageListError extends Error {
  override readonly name = 'PageListError';
}

const LARGEST_PAGE = 1_000_000;

interface PageRange {
  readonly first: number;
  /** Infinity for an open range, "5-". */
  readonly last: number;
}

/** The ranges of a list such as "1-3,7" or "5-"; throws PageListError. */
export function parsePageList(list: string): readonly PageRange[] {
  const parts = list.split(',').map((part) => part.trim());
  if (list.length > 1000) throw new PageListError(`the list is ${list.length} characters long, at most 1000 are taken`);
  return parts.map((part) => {
    const match = /^(\d{1,7})(?:\s*-\s*(\d{1,7})?)?$/.exec(part);
    if (!match) throw new PageListError(`"${part}" is no page or range; write for example "1-3,7"`);
    const first = Number(match[1]);
    const last = match[2] !== undefined ? Number(match[2]) : part.includes('-') ? Number.POSITIVE_INFINITY : first;
    if (first < 1 || first > LARGEST_PAGE) throw new PageListError(`"${part}": pages count from 1`);
    if (last < first) throw new PageListError(`"${part}" ends before it starts`);
    return { first, last };
  });
}

/** Page numbers (from 1) of the list that the document has, rising, each once. All pages where `list` is undefined. */
export function selectPages(list: string | undefined, pageCount: number): readonly number[] {
  const ranges = list === undefined ? [{ first: 1, last: pageCount }] : parsePageList(list);
  const wanted = new Set<number>();
  for (const { first, last } of ranges) {
    for (let page = first; page <= Math.min(last, pageCount); page++) wanted.add(page);
  }
  return [...wanted].sort((a, b) => a - b);
}
