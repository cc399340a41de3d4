/** Advance widths and side bearings of 'hmtx', which may be short or missing (spec 7.9). */
import { i16, u16 } from './bytes.js';

export class HorizontalMetrics {
  readonly #table: Uint8Array;
  /** How many glyphs have an advance of their own. */
  readonly #longCount: number;

  /** `hhea` may be empty: then every glyph is taken to have a full entry. */
  constructor(table: Uint8Array, hhea: Uint8Array) {
    const declared = hhea.length >= 36 ? u16(hhea, 34) : 0xffff;
    this.#table = table;
    this.#longCount = Math.min(declared || 0xffff, table.length >> 2);
  }

  get isEmpty(): boolean {
    return this.#longCount === 0;
  }

  /** The last entry goes on for the glyphs after it. */
  advance(glyphId: number): number {
    return u16(this.#table, Math.min(glyphId, this.#longCount - 1) * 4);
  }

  /** Left side bearing; undefined where the table ends before. */
  bearing(glyphId: number): number | undefined {
    const at = glyphId < this.#longCount ? glyphId * 4 + 2 : this.#longCount * 4 + (glyphId - this.#longCount) * 2;
    return at + 2 <= this.#table.length ? i16(this.#table, at) : undefined;
  }
}
