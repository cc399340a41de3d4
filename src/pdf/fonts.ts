/** The fonts of a page as faces of the display list: names, measures and cells of letters; outlines stay in the library. */
import type { Face } from '../display/face.js';
import { Path, rectanglePath } from '../display/geometry.js';
import type { NamedFont, Report } from '../display/list.js';
import type { Pdfium } from './pdfium.js';
import { isStandardFont, type SystemFonts } from './system-fonts.js';

/** Font descriptor flags. */
const FIXED_PITCH = 1 << 0;
const SERIF = 1 << 1;
const ITALIC = 1 << 6;
const FORCE_BOLD = 1 << 18;
const UNITS_PER_EM = 1000;
/** Characters of a ligature → the code point that stands for all of them: ff, ffi, st, the Armenian ones. */
const LIGATURES: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 0x18 }, (_, i) => [String.fromCodePoint(0xfb00 + i).normalize('NFKC'), 0xfb00 + i]),
);
const NO_OUTLINE = new Path();

/**
 * A font of the page. Glyph ids are numbers of letter and width, since the library tells no others, and an outline is
 * the letter's cell: right for where text stands, not to be drawn.
 */
export class PdfFace implements Face {
  readonly key: string;
  readonly familyName: string;
  readonly postScriptName: string;
  readonly unitsPerEm = UNITS_PER_EM;
  readonly ascent: number;
  readonly descent: number;
  readonly isBold: boolean;
  readonly isItalic: boolean;
  readonly isSerif: boolean;
  readonly isFixedPitch: boolean;
  readonly hasCharacterMap = false;
  readonly font: NamedFont | undefined;
  /**
   * Family that stands in for the font, '' for the library's own. Undefined where the font itself is drawn, or one of
   * those that every PDF may use without carrying them.
   */
  readonly substitute: string | undefined;
  readonly #pdfium: Pdfium;
  readonly #address: number;
  readonly #advances = [UNITS_PER_EM / 2];
  readonly #outlines = [NO_OUTLINE];
  readonly #ids = new Map<string, number>();

  constructor(pdfium: Pdfium, address: number, fonts: SystemFonts, key: string) {
    const { call } = pdfium;
    const name = pdfium.utf8((buffer, size) => call.FPDFFont_GetBaseFontName(address, buffer, size));
    const family = pdfium.utf8((buffer, size) => call.FPDFFont_GetFamilyName(address, buffer, size));
    const plain = name.replace(/^[A-Z]{6}\+/, '');
    const flags = call.FPDFFont_GetFlags(address);
    const isEmbedded = call.FPDFFont_GetIsEmbedded(address) === 1;
    const substitution = isEmbedded ? undefined : fonts.substitutionOf(plain);
    this.#pdfium = pdfium;
    this.#address = address;
    this.key = key;
    this.postScriptName = plain;
    this.familyName = substitution?.face?.familyName || family || plain;
    this.ascent = measure(pdfium, 880, (to) => call.FPDFFont_GetAscent(address, UNITS_PER_EM, to));
    this.descent = -Math.abs(measure(pdfium, -120, (to) => call.FPDFFont_GetDescent(address, UNITS_PER_EM, to)));
    this.isBold =
      call.FPDFFont_GetWeight(address) >= 600 || (flags & FORCE_BOLD) > 0 || /bold|black|heavy|粗/i.test(plain);
    this.isItalic = (flags & ITALIC) > 0 || /italic|oblique/i.test(plain);
    this.isSerif = (flags & SERIF) > 0;
    this.isFixedPitch = (flags & FIXED_PITCH) > 0;
    const source = isEmbedded ? 'embedded' : substitution?.isSubstitute === false ? 'system' : 'substitute';
    this.font = plain === '' ? undefined : { name: plain, source };
    const isReplaced = substitution?.isSubstitute === true && !isStandardFont(plain);
    this.substitute = isReplaced ? substitution.familyName : undefined;
  }

  get glyphCount(): number {
    return this.#advances.length;
  }

  /** The number of a letter of this width, in thousandths of the size. */
  glyphId(characters: string, advance: number): number {
    const rounded = Math.round(advance);
    const name = `${rounded} ${characters}`;
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = this.#advances.push(rounded) - 1;
    this.#outlines.push(characters.trim() === '' ? NO_OUTLINE : this.#cell(rounded));
    this.#ids.set(name, id);
    return id;
  }

  /**
   * Thousandths of the size, by the code point that stands for these characters; undefined where there is none. For a
   * font that does not have it the library gives some other glyph's width.
   */
  ligatureAdvance(characters: string): number | undefined {
    const codePoint = LIGATURES.get(characters);
    if (codePoint === undefined) return undefined;
    const { call } = this.#pdfium;
    return this.#pdfium.structure(1, (to) =>
      call.FPDFFont_GetGlyphWidth(this.#address, codePoint, UNITS_PER_EM, to),
    )?.[0];
  }

  glyphForCodePoint(): number {
    return 0;
  }

  glyphForTransform(): number {
    return 0;
  }

  advance(glyphId: number): number {
    return this.#advances[glyphId] ?? 0;
  }

  outline(glyphId: number): Path {
    return this.#outlines[glyphId] ?? NO_OUTLINE;
  }

  #cell(width: number): Path {
    return rectanglePath({ x: 0, y: this.descent, width, height: this.ascent - this.descent });
  }
}

/** A measure in thousandths; `usual` where the font has none that makes sense. */
function measure(pdfium: Pdfium, usual: number, write: (address: number) => number): number {
  const value = pdfium.structure(1, write)?.[0] ?? 0;
  const isSensible = value !== 0 && Math.abs(value) < 4 * UNITS_PER_EM;
  return isSensible ? value : usual;
}

/** The faces of one page, by the addresses of their fonts. */
export class PdfFonts {
  readonly #options: FontsOptions;
  readonly #faces = new Map<number, PdfFace>();

  constructor(options: FontsOptions) {
    this.#options = options;
  }

  /** Reports a font that another one stands in for, when it comes for the first time. */
  face(address: number): PdfFace {
    const known = this.#faces.get(address);
    if (known !== undefined) return known;
    const { pdfium, fonts, pageNumber, report } = this.#options;
    const face = new PdfFace(pdfium, address, fonts, `pdf-${pageNumber}-${this.#faces.size}`);
    this.#faces.set(address, face);
    if (face.substitute !== undefined) {
      const drawnWith = face.substitute === '' ? 'a face of the PDF library' : face.substitute;
      report({
        code: 'font_substituted',
        message: `Font "${face.postScriptName}" is not embedded and not installed; drawn with ${drawnWith}`,
      });
    }
    return face;
  }
}

export interface FontsOptions {
  readonly pdfium: Pdfium;
  readonly fonts: SystemFonts;
  readonly pageNumber: number;
  readonly report: Report;
}
