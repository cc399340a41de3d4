// Pages of text for the tests of extraction: a face of fixed advances, and runs placed letter by letter.
import type { Face } from '../../src/display/face.js';
import { IDENTITY, Path } from '../../src/display/geometry.js';
import type { GlyphRun } from '../../src/display/list.js';
import { BLACK, solid } from './lists.js';

/** Han letters are one em wide, all others half an em. The glyph of a character is its code point. */
export const EVEN_FACE: Face = {
  key: 'even',
  familyName: 'Even',
  postScriptName: 'Even',
  unitsPerEm: 1000,
  ascent: 800,
  descent: -200,
  isBold: false,
  isItalic: false,
  isSerif: false,
  isFixedPitch: false,
  glyphCount: 65_535,
  hasCharacterMap: true,
  glyphForCodePoint: (codePoint) => codePoint,
  glyphForTransform: (value) => value,
  advance: (glyphId) => (glyphId >= 0x2e80 ? 1000 : 500),
  outline: () => new Path(),
};

export interface RunOptions extends Partial<GlyphRun> {
  /** From letter to letter; the advances where undefined. */
  readonly stepX?: number;
  readonly stepY?: number;
}

/** `text` from the baseline origin (x, y), in millimetres. */
export function run(text: string, x: number, y: number, sizeMm = 4, options: RunOptions = {}): GlyphRun {
  const { stepX, stepY, ...more } = options;
  const characters = [...text];
  const glyphIds = characters.map((character) => character.codePointAt(0)!);
  const xs: number[] = [];
  let at = x;
  for (const id of glyphIds) {
    xs.push(at);
    at += stepX ?? (stepY === undefined ? (EVEN_FACE.advance(id) / 1000) * sizeMm : 0);
  }
  return {
    kind: 'glyphs',
    face: EVEN_FACE,
    sizeMm,
    matrix: IDENTITY,
    shape: [1, 0, 0, 1],
    glyphIds,
    x: xs,
    y: glyphIds.map((_, i) => y + i * (stepY ?? 0)),
    characters,
    readDirection: 0,
    fill: solid(BLACK),
    emboldenMm: 0,
    clips: [],
    blendMode: 'normal',
    ...more,
  };
}

/** Lines of equal pitch from (x, y) down. */
export function lines(texts: readonly string[], x: number, y: number, sizeMm = 4, pitchMm = 6): GlyphRun[] {
  return texts.map((text, i) => run(text, x, y + i * pitchMm, sizeMm));
}
