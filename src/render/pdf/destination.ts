/** Pages that are in the file, and destinations on them. */
import type { PageTarget } from '../../display/link.js';
import { mmToPoints } from '../../display/units.js';
import type { Value } from './file.js';
import { roundFactor } from './number.js';
import type { Reference } from './pdf-lib.js';

interface WrittenPage {
  readonly reference: Reference;
  readonly heightMm: number;
}

/** The pages written so far, by their numbers in the source. */
export class WrittenPages {
  readonly #pages = new Map<number, WrittenPage>();

  add(pageNumber: number, reference: Reference, heightMm: number): void {
    this.#pages.set(pageNumber, { reference, heightMm });
  }

  /** In the order of the file. */
  get pageNumbers(): readonly number[] {
    return [...this.#pages.keys()];
  }

  /** An explicit destination; undefined where the page is not in the file (yet). */
  destination({ pageNumber, view }: PageTarget): Value[] | undefined {
    const page = this.#pages.get(pageNumber);
    if (page === undefined) return undefined;
    const across = (mm: number | undefined): number | null => (mm === undefined ? null : points(mm));
    const down = (mm: number | undefined): number | null => (mm === undefined ? null : points(page.heightMm - mm));
    const { reference } = page;
    switch (view.kind) {
      case 'xyz':
        return [reference, 'XYZ', across(view.left), down(view.top), view.zoom ?? null];
      case 'fit':
        return [reference, 'Fit'];
      case 'fitH':
        return [reference, 'FitH', down(view.top)];
      case 'fitV':
        return [reference, 'FitV', across(view.left)];
      case 'fitR':
        return [reference, 'FitR', across(view.left), down(view.bottom), across(view.right), down(view.top)];
    }
  }
}

/** Hundredths of a point: finer than any hand. */
export function points(mm: number): number {
  return roundFactor(Math.round(mmToPoints(mm) * 100) / 100);
}
