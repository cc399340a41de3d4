/** The face of text that no font at all can show: it paints nothing, and the characters are still found. */
import type { Face } from '../../display/face.js';
import { Path } from '../../display/geometry.js';

const NOTHING = new Path();

export const NO_FACE: Face = {
  key: 'none',
  familyName: 'none',
  postScriptName: '',
  unitsPerEm: 1000,
  ascent: 880,
  descent: -120,
  isBold: false,
  isItalic: false,
  isSerif: false,
  isFixedPitch: false,
  glyphCount: 1,
  hasCharacterMap: false,
  glyphForCodePoint: () => 0,
  glyphForTransform: () => 0,
  advance: () => 500,
  outline: () => NOTHING,
};
