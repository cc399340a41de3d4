/** A font face as the builder and the backends see it; `fonts/` implements it. */
import type { Path } from './geometry.js';

export interface Face {
  /** The same for the same program in every thread and process; a safe cache key. */
  readonly key: string;
  readonly familyName: string;
  /** May be empty where the program has no name. */
  readonly postScriptName: string;
  readonly unitsPerEm: number;
  /** Font units above the baseline, positive. */
  readonly ascent: number;
  /** Font units below the baseline, negative. */
  readonly descent: number;
  readonly isBold: boolean;
  readonly isItalic: boolean;
  readonly isSerif: boolean;
  readonly isFixedPitch: boolean;
  readonly glyphCount: number;
  /** Whether a character map exists at all (many embedded subsets have none). */
  readonly hasCharacterMap: boolean;
  /** Glyph id of a character, 0 where the face has none. */
  glyphForCodePoint(codePoint: number): number;
  /** Glyph id for a number of `CGTransform/Glyphs`: the glyph index, or a CID of a CID-keyed CFF. 0 where out of range. */
  glyphForTransform(value: number): number;
  /** Advance width in font units. */
  advance(glyphId: number): number;
  /** Outline in font units, y up; an empty path for a blank or broken glyph. Cached by the face. */
  outline(glyphId: number): Path;
}
