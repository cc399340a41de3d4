/** Which outlines and pictures the pages of one file have defined so far, and under which ids. */
import type { Face } from '../../display/face.js';
import type { EncodedImage } from '../../display/list.js';

export class WrittenElements {
  /** By precision and face, then glyph. */
  readonly #glyphs = new Map<string, Map<number, string>>();
  /** By the picture's bytes, then how large its pixels are drawn. */
  readonly #images = new WeakMap<Uint8Array, Map<number, string>>();

  /** Ids of a face's outlines with so many decimals, to be looked up and added to. */
  glyphIds(face: Face, decimals: number): Map<number, string> {
    const key = `${decimals} ${face.key}`;
    const ids = this.#glyphs.get(key) ?? new Map<number, string>();
    this.#glyphs.set(key, ids);
    return ids;
  }

  imageId({ bytes }: EncodedImage, enlargement: number): string | undefined {
    return this.#images.get(bytes)?.get(enlargement);
  }

  setImageId({ bytes }: EncodedImage, enlargement: number, id: string): void {
    const ids = this.#images.get(bytes) ?? new Map<number, string>();
    this.#images.set(bytes, ids.set(enlargement, id));
  }
}
