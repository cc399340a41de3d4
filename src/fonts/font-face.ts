/** The one implementation of Face: a glyph program with its character map, metrics and names. */
import type { Face } from '../display/face.js';
import type { Path } from '../display/geometry.js';
import type { GlyphProgram } from './glyph-program.js';
import { CffProgram } from './glyph-program.js';
import type { HorizontalMetrics } from './metrics.js';
import { GlyphCache } from './outline-cache.js';
import type { FaceStyle } from './style.js';

export interface FaceParts {
  readonly key: string;
  readonly familyName: string;
  readonly postScriptName: string;
  readonly unitsPerEm: number;
  readonly ascent: number;
  readonly descent: number;
  readonly style: FaceStyle;
  readonly program: GlyphProgram;
  /** Glyph id of a character, 0 where there is none; undefined where the font maps no characters at all. */
  readonly glyphForCodePoint: ((codePoint: number) => number) | undefined;
  readonly metrics: HorizontalMetrics | undefined;
}

export class FontFace implements Face {
  readonly key: string;
  readonly familyName: string;
  readonly postScriptName: string;
  readonly unitsPerEm: number;
  readonly ascent: number;
  readonly descent: number;
  readonly isBold: boolean;
  readonly isItalic: boolean;
  readonly isSerif: boolean;
  readonly isFixedPitch: boolean;
  readonly program: GlyphProgram;
  readonly #glyphForCodePoint: FaceParts['glyphForCodePoint'];
  readonly #metrics: HorizontalMetrics | undefined;
  readonly #glyphs = new GlyphCache();
  #asciiGlyphs: ReadonlySet<number> | undefined;

  constructor(parts: FaceParts) {
    this.key = parts.key;
    this.familyName = parts.familyName;
    this.postScriptName = parts.postScriptName;
    this.unitsPerEm = parts.unitsPerEm;
    this.ascent = parts.ascent;
    this.descent = parts.descent;
    this.isBold = parts.style.weight >= 600;
    this.isItalic = parts.style.isItalic;
    this.isSerif = parts.style.isSerif;
    this.isFixedPitch = parts.style.isFixedPitch;
    this.program = parts.program;
    this.#glyphForCodePoint = parts.glyphForCodePoint;
    this.#metrics = parts.metrics?.isEmpty ? undefined : parts.metrics;
  }

  get glyphCount(): number {
    return this.program.glyphCount;
  }

  get hasCharacterMap(): boolean {
    return this.#glyphForCodePoint !== undefined;
  }

  glyphForCodePoint(codePoint: number): number {
    return this.#inRange(this.#glyphForCodePoint?.(codePoint) ?? 0);
  }

  glyphForTransform(value: number): number {
    if (this.program instanceof CffProgram) {
      const glyphId = this.program.tables.glyphOfCid(value);
      if (glyphId !== undefined) return glyphId;
    }
    return this.#inRange(value);
  }

  advance(glyphId: number): number {
    if (this.#inRange(glyphId) !== glyphId) return 0;
    if (this.#metrics !== undefined) return this.#metrics.advance(glyphId);
    const own = this.#glyphs.get(glyphId, (id) => this.program.draw(id)).advance;
    if (own !== undefined) return own;
    // Without any widths: ASCII is half as wide as the rest in every Chinese face.
    return this.#isAscii(glyphId) ? this.unitsPerEm / 2 : this.unitsPerEm;
  }

  outline(glyphId: number): Path {
    return this.#glyphs.get(this.#inRange(glyphId), (id) => this.program.draw(id)).path;
  }

  #inRange(glyphId: number): number {
    return Number.isInteger(glyphId) && glyphId > 0 && glyphId < this.glyphCount ? glyphId : 0;
  }

  #isAscii(glyphId: number): boolean {
    if (this.#asciiGlyphs === undefined) {
      const glyphs = new Set<number>();
      for (let code = 0x20; code < 0x7f; code++) glyphs.add(this.glyphForCodePoint(code));
      glyphs.delete(0);
      this.#asciiGlyphs = glyphs;
    }
    return this.#asciiGlyphs.has(glyphId);
  }
}
