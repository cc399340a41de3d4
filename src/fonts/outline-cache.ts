/** Drawn glyphs of one face, the least recently used dropped first. */
import type { Glyph } from './glyph-program.js';

/** Together about 3 MB of numbers: the glyphs of some twenty pages of Chinese text. */
const MAX_GLYPHS = 2000;
const MAX_COORDINATES = 300_000;

export class GlyphCache {
  readonly #glyphs = new Map<number, Glyph>();
  #coordinates = 0;

  get(glyphId: number, draw: (glyphId: number) => Glyph): Glyph {
    const kept = this.#glyphs.get(glyphId);
    if (kept !== undefined) {
      this.#glyphs.delete(glyphId);
      this.#glyphs.set(glyphId, kept);
      return kept;
    }
    const glyph = draw(glyphId);
    this.#glyphs.set(glyphId, glyph);
    this.#coordinates += glyph.path.coordinates.length;
    for (const [id, old] of this.#glyphs) {
      if (this.#glyphs.size <= MAX_GLYPHS && this.#coordinates <= MAX_COORDINATES) break;
      this.#glyphs.delete(id);
      this.#coordinates -= old.path.coordinates.length;
    }
    return glyph;
  }
}
