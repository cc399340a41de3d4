/** What one page may cost to draw: pixels that are painted, each as often as it is painted over. */
import type { Report } from '../../display/list.js';

/** Some seconds of pictures, shadings and lines. */
const MIN_PIXELS = 1_500_000_000;
/** At high resolutions a page may be painted over so often. */
const PAGES = 64;
/** One colour over a box costs this part of what a picture costs, and has a budget of its own. */
const PLAIN_SHARE = 64;

export class DrawingBudget {
  #left: number;
  #plainLeft: number;
  #isTold = false;
  readonly #report: Report;
  readonly #pageNumber: number;

  constructor(pagePixels: number, report: Report, pageNumber: number) {
    this.#left = Math.max(MIN_PIXELS, PAGES * pagePixels);
    this.#plainLeft = PLAIN_SHARE * this.#left;
    this.#report = report;
    this.#pageNumber = pageNumber;
  }

  /** Whether so many pixels of a picture, shading, group or line may still be painted; a warning tells that they may not. */
  take(pixels: number): boolean {
    if (this.#left <= 0) return this.#refuse();
    this.#left -= pixels;
    return true;
  }

  /** The same for work that cannot be stopped once it has begun: it is refused where it is more than what is left. */
  takeWhole(pixels: number): boolean {
    return pixels > Math.max(0, this.#left) ? this.#refuse() : this.take(pixels);
  }

  /** The same for one colour. */
  takePlain(pixels: number): boolean {
    if (this.#plainLeft <= 0) return this.#refuse();
    this.#plainLeft -= pixels;
    return true;
  }

  #refuse(): false {
    if (!this.#isTold) {
      const message = 'The page paints itself over so often that the rest of what would take long to draw is left out';
      this.#report({ code: 'drawing_cut', message, page: this.#pageNumber });
    }
    this.#isTold = true;
    return false;
  }
}
