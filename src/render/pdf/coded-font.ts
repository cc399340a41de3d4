/** A font resource as text uses it: codes of two bytes, each for a glyph and the characters it stands for. */
import type { Face } from '../../display/face.js';
import type { Reference } from './pdf-lib.js';

export interface CodedGlyph {
  readonly glyphId: number;
  /** Characters of the text layer; '' for a glyph that stands for none of its own. */
  readonly characters: string;
  /** Advance in thousandths of an em, as the font's widths tell it. */
  readonly width: number;
}

/** A code is the place of its glyph in `glyphs`, which is the order of first use; the first one is .notdef. */
export interface CodedFont {
  readonly reference: Reference;
  readonly face: Face;
  readonly glyphs: CodedGlyph[];
}

/** A code in its font. */
export interface Code {
  readonly font: CodedFont;
  readonly value: number;
  readonly glyph: CodedGlyph;
}
