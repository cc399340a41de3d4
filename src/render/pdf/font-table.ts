/** Fonts of the document: which code stands for which glyph and characters, and the font objects at the end. */
import type { Face } from '../../display/face.js';
import type { Code, CodedFont } from './coded-font.js';
import type { PdfFile } from './file.js';
import { writeFont } from './font-objects.js';

/** Two bytes a code. */
const CODES_PER_FONT = 65_536;

/** The codes of one face. */
export class FaceCodes {
  readonly #file: PdfFile;
  readonly #face: Face;
  readonly #codes = new Map<number, Code>();
  readonly fonts: CodedFont[] = [];

  constructor(file: PdfFile, face: Face) {
    this.#file = file;
    this.#face = face;
  }

  /** The code for a glyph that stands for `characters`; handed out at first use. */
  codeFor(glyphId: number, characters: string): Code {
    const latest = this.#codes.get(glyphId);
    for (let code = latest; code; code = code.next) {
      if (code.glyph.characters === characters) return code;
    }
    const font = this.#fontWithRoom();
    const glyph = { glyphId, characters, width: this.#width(glyphId) };
    const code: Code = { font, value: font.glyphs.length, glyph, next: latest };
    font.glyphs.push(glyph);
    this.#codes.set(glyphId, code);
    return code;
  }

  #fontWithRoom(): CodedFont {
    const latest = this.fonts[this.fonts.length - 1];
    if (latest && latest.glyphs.length < CODES_PER_FONT) return latest;
    const notdef = { glyphId: 0, characters: '', width: this.#width(0) };
    const font = { reference: this.#file.allocate(), face: this.#face, glyphs: [notdef] };
    this.fonts.push(font);
    return font;
  }

  #width(glyphId: number): number {
    return Math.round((this.#face.advance(glyphId) * 1000) / this.#face.unitsPerEm);
  }
}

export class FontTable {
  readonly #file: PdfFile;
  readonly #faces = new Map<string, FaceCodes>();

  constructor(file: PdfFile) {
    this.#file = file;
  }

  codesOf(face: Face): FaceCodes {
    const known = this.#faces.get(face.key);
    if (known) return known;
    const codes = new FaceCodes(this.#file, face);
    this.#faces.set(face.key, codes);
    return codes;
  }

  /** Writes the font objects; all text has been coded by now. */
  finish(): void {
    for (const codes of this.#faces.values()) {
      for (const font of codes.fonts) writeFont(this.#file, font);
    }
  }
}
