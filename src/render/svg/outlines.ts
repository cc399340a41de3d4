/** Path data of glyph outlines, kept from page to page. */
import type { Face } from '../../display/face.js';
import { pathData } from './markup.js';

/** Characters kept in all. */
const MAX_CHARACTERS = 16_000_000;

export class Outlines {
  readonly #byKey = new Map<string, Map<number, string>>();
  #characters = 0;

  /** Data of a face's glyphs in font units with so many decimals; '' for a blank glyph. */
  of(face: Face, decimals: number): (glyphId: number) => string {
    const key = `${decimals} ${face.key}`;
    const glyphs = this.#byKey.get(key) ?? new Map<number, string>();
    this.#byKey.set(key, glyphs);
    return (glyphId) => {
      let data = glyphs.get(glyphId);
      if (data === undefined) {
        data = pathData(face.outline(glyphId), decimals);
        glyphs.set(glyphId, data);
        this.#characters += data.length;
      }
      return data;
    };
  }

  /** Forgets everything where it has become too much. */
  trim(): void {
    if (this.#characters <= MAX_CHARACTERS) return;
    this.#byKey.clear();
    this.#characters = 0;
  }
}
