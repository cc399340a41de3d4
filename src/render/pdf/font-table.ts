/** Fonts of the document: which code stands for which glyph and characters, and the font objects at the end. */
import type { Face } from '../../display/face.js';
import type { Code, CodedFont } from './coded-font.js';
import type { PdfFile } from './file.js';
import { writeFont } from './font-objects.js';

/** Two bytes a code; font programs count their glyphs in two bytes as well. */
const CODES_PER_FONT = 65_535;

/** The codes of one face. */
export class FaceCodes {
  readonly #file: PdfFile;
  readonly #face: Face;
  /** The first code of each glyph: nearly always the only one. */
  readonly #first = new Map<number, Code>();
  /** The other codes, by glyph and characters. */
  readonly #others = new Map<string, Code>();
  readonly fonts: CodedFont[] = [];

  constructor(file: PdfFile, face: Face) {
    this.#file = file;
    this.#face = face;
  }

  /** The code for a glyph that stands for `characters`; handed out at first use. */
  codeFor(glyphId: number, characters: string): Code {
    const first = this.#first.get(glyphId);
    if (first === undefined) {
      const code = this.#newCode(glyphId, characters);
      this.#first.set(glyphId, code);
      return code;
    }
    if (first.glyph.characters === characters) return first;
    const key = `${glyphId} ${characters}`;
    const other = this.#others.get(key) ?? this.#newCode(glyphId, characters);
    this.#others.set(key, other);
    return other;
  }

  #newCode(glyphId: number, characters: string): Code {
    const font = this.#fontWithRoom();
    const glyph = { glyphId, characters, width: this.#width(glyphId) };
    font.glyphs.push(glyph);
    return { font, value: font.glyphs.length - 1, glyph };
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

  /** What each code stands for in the text. */
  *characters(): Iterable<string> {
    for (const codes of this.#faces.values()) {
      for (const font of codes.fonts) for (const { characters } of font.glyphs) yield characters;
    }
  }

  /** Writes the font objects; all text has been coded by now. */
  finish(): void {
    for (const codes of this.#faces.values()) {
      for (const font of codes.fonts) writeFont(this.#file, font);
    }
  }
}
