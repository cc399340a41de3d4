/** What shadings that are computed pixel by pixel may cost on one page. */

/** A second or so; beyond, a shading is computed for larger squares. */
const MAX_AT_ONCE = 16_000_000;
/** Each takes at most this part of what is left, so that the last of many is still drawn. */
const SHARE = 12;
const MIN_PIXELS = 10_000;

export class ShadingBudget {
  #left: number;

  /** `pixels`: computed at full cost before shadings get coarser. */
  constructor(pixels: number) {
    this.#left = pixels;
  }

  /** The side, in pixels, of the squares that a shading of so many pixels is to be computed for; counts as spent. */
  step(pixels: number): number {
    const granted = Math.max(Math.min(MAX_AT_ONCE, this.#left / SHARE), MIN_PIXELS);
    const step = Math.max(1, Math.ceil(Math.sqrt(pixels / granted)));
    this.#left = Math.max(0, this.#left - pixels / (step * step));
    return step;
  }
}
