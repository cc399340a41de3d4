/** The used glyphs of a face as a font that can be embedded. */
import type { Face } from '../display/face.js';
import { FontFace } from './font-face.js';
import { CffProgram, TrueTypeProgram } from './glyph-program.js';
import { subsetToCff } from './subset-cff.js';
import { subsetToTrueType } from './subset-truetype.js';

export interface SubsetFont {
  /** 'truetype': an sfnt file (FontFile2); 'cff': a bare CID-keyed CFF (FontFile3, CIDFontType0C). */
  readonly kind: 'truetype' | 'cff';
  readonly bytes: Uint8Array;
}

/**
 * A font whose glyph i (and CID i) is `glyphIds[i]` of the face; [0] should be 0, duplicates are allowed, at most
 * 65 535 of them. Widths are those of `face.advance`. The same arguments give the same bytes.
 */
export function subsetFace(face: Face, glyphIds: readonly number[]): SubsetFont {
  const program = face instanceof FontFace ? face.program : undefined;
  if (program instanceof TrueTypeProgram) {
    return { kind: 'truetype', bytes: subsetToTrueType(face, program, glyphIds) };
  }
  const cff = program instanceof CffProgram ? program : undefined;
  return { kind: 'cff', bytes: subsetToCff(face, cff, glyphIds) };
}
