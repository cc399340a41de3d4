/** Counts what a page draws more than once, so that it can be defined once and referred to. */
import type { Face } from '../../display/face.js';
import type { EncodedImage, GlyphRun, Item } from '../../display/list.js';
import type { Paint } from '../../display/paint.js';

export class Usage {
  readonly #lists = new Map<readonly Item[], number>();
  readonly #images = new Map<EncodedImage, number>();
  readonly #glyphs = new Map<string, Map<number, number>>();

  constructor(items: readonly Item[]) {
    this.#count(items);
  }

  isRepeatedList(items: readonly Item[]): boolean {
    return (this.#lists.get(items) ?? 0) > 1;
  }

  isRepeatedImage(image: EncodedImage): boolean {
    return (this.#images.get(image) ?? 0) > 1;
  }

  /** How often each glyph of a face is drawn. */
  glyphCounts(face: Face): ReadonlyMap<number, number> {
    return this.#glyphs.get(face.key) ?? new Map<number, number>();
  }

  #count(items: readonly Item[]): void {
    for (const item of items) {
      if (item.kind === 'group') {
        if (!item.isShared || increase(this.#lists, item.items) === 1) this.#count(item.items);
      } else if (item.kind === 'image') increase(this.#images, item.image);
      else {
        this.#countPaint(item.kind === 'path' ? item.fill?.paint : item.fill);
        this.#countPaint(item.stroke?.paint);
        if (item.kind === 'glyphs') this.#countGlyphs(item);
      }
    }
  }

  #countGlyphs({ face, glyphIds }: GlyphRun): void {
    let counts = this.#glyphs.get(face.key);
    if (counts === undefined) {
      counts = new Map();
      this.#glyphs.set(face.key, counts);
    }
    for (const id of glyphIds) increase(counts, id);
  }

  #countPaint(paint: Paint | undefined): void {
    if (paint?.kind === 'tiling') this.#count(paint.items);
  }
}

function increase<K>(counts: Map<K, number>, key: K): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}
