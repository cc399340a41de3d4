/** Fonts of a document: the embedded program where it serves, the system's faces where not, glyph by glyph. */
import type { Face } from '../../display/face.js';
import type { Diagnostic, NamedFont } from '../../display/list.js';
import type { FontBook, ResolvedFont } from '../../fonts/index.js';
import type { DocumentBody } from '../document.js';
import { factLine } from '../fact-text.js';
import { resolveResource } from '../location.js';
import type { Resource, ResourceTable } from '../resources.js';
import { isBlank, isLetter, isWide } from './character.js';
import { NO_FACE } from './no-face.js';

const BOLD_REQUEST_WEIGHT = 600;
const SYNTHETIC_BOLD_WEIGHT = 700;
const REGULAR_WEIGHT = 400;
/** Display faces that are heavy without saying so in their tables. */
const HEAVY_NAME = /bold|heavy|black|粗|大标宋|小标宋|xiaobiaosong|xbs/i;
/** Glyphs looked at before a program counts as one without any outline. */
const GLYPHS_SAMPLED = 64;

/** A face as one text uses it. Runs break where it changes. */
export interface StyledFace {
  readonly face: Face;
  /** What it stands for; undefined where the document names no font. */
  readonly font: NamedFont | undefined;
  /** Not the program that the document means: advances may differ from those the text was set with. */
  readonly isSubstitute: boolean;
  /** Taken for single characters that the font's own face lacks. */
  readonly isFallback: boolean;
  readonly emboldens: boolean;
  readonly slants: boolean;
}

export interface FoundGlyph {
  readonly styled: StyledFace;
  readonly glyphId: number;
  /** Advance width, 1 for the em. */
  readonly advanceEm: number;
}

/** What a TextObject asks of its font. */
export interface FontStyle {
  readonly weight: number;
  readonly isItalic: boolean;
}

/** Fonts by resource, each read once. */
export class DocumentFonts {
  readonly #book: FontBook;
  readonly #body: DocumentBody;
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #fonts = new WeakMap<Resource, DocumentFont>();
  readonly #substituted = new Set<string>();
  #undefinedFont: DocumentFont | undefined;

  /** `report` is for findings about the document, each told once. */
  constructor(book: FontBook, body: DocumentBody, report: (diagnostic: Diagnostic) => void) {
    this.#book = book;
    this.#body = body;
    this.#report = report;
  }

  /** The font of that ID; a substitute of no particular look, with a diagnostic, where there is none. */
  find(id: string | undefined, resources: ResourceTable): DocumentFont {
    const resource = id === undefined ? undefined : resources.find('font', id);
    if (resource === undefined) {
      const message = id === undefined ? 'A text object names no font' : `Font ${id} is not defined`;
      this.#report({ code: 'reference_missing', message, part: this.#body.part });
      this.#undefinedFont ??= new DocumentFont(this.#book, undefined, undefined, this.#substituted);
      return this.#undefinedFont;
    }
    let font = this.#fonts.get(resource);
    if (font === undefined) {
      font = new DocumentFont(this.#book, resource, this.#embedded(resource), this.#substituted);
      this.#fonts.set(resource, font);
    }
    return font;
  }

  #embedded(resource: Resource): Face | undefined {
    const location = resource.element.childText('FontFile');
    if (!location) return undefined;
    const { pkg, folder } = this.#body;
    const name = resource.element.attribute('FontName')?.trim() ?? '';
    const part = resolveResource(pkg, location, resource.part, resource.baseLoc, folder);
    if (part === undefined) {
      const message = `Font file "${location}" of font "${name}" is not in the package`;
      this.#report({ code: 'part_missing', message, part: location });
      return undefined;
    }
    const bytes = pkg.bytes(part);
    if (bytes === undefined) return undefined;
    const face = this.#book.embedded(part, bytes, name);
    if (face === undefined) {
      const message = `The font program ${part} of font "${name}" cannot be read`;
      this.#report({ code: 'font_unreadable', message, part });
    }
    return face;
  }
}

/** One Font resource. */
export class DocumentFont {
  readonly name: string;
  readonly embedded: Face | undefined;
  readonly isItalic: boolean;
  readonly isBold: boolean;
  readonly isHeavyByName: boolean;
  readonly #book: FontBook;
  readonly #element: Resource['element'] | undefined;
  readonly #variants = new Map<string, FontVariant>();
  readonly #key: string;
  readonly #substituted: Set<string>;

  /** `substituted` holds the fonts whose substitution was told already. */
  constructor(book: FontBook, resource: Resource | undefined, embedded: Face | undefined, substituted: Set<string>) {
    this.#book = book;
    this.#substituted = substituted;
    this.#key = `${resource?.part} ${resource?.element.id('ID')}`;
    this.#element = resource?.element;
    this.embedded = embedded;
    this.name = factLine(this.#element?.attribute('FontName') ?? '');
    this.isItalic = this.#element?.boolean('Italic') ?? false;
    this.isBold = this.#element?.boolean('Bold') ?? false;
    this.isHeavyByName = HEAVY_NAME.test(this.name);
  }

  /** Whether the font's substitution was told already; a font of a page is met anew on each page. */
  get isReported(): boolean {
    return this.#substituted.has(this.#key);
  }

  setReported(): void {
    this.#substituted.add(this.#key);
  }

  /** The font in the weight and slope of a text object. */
  variant(style: FontStyle): FontVariant {
    const key = `${style.weight} ${style.isItalic}`;
    let variant = this.#variants.get(key);
    if (variant === undefined) {
      variant = new FontVariant(this, style);
      this.#variants.set(key, variant);
    }
    return variant;
  }

  /** The system's faces for a variant. */
  resolve(style: FontStyle): ResolvedFont {
    const element = this.#element;
    const familyName = element?.attribute('FamilyName')?.trim();
    const charset = (element?.attribute('Charset') ?? element?.attribute('CharSet'))?.trim();
    const isBold = this.isBold || style.weight >= BOLD_REQUEST_WEIGHT;
    return this.#book.resolve({
      fontName: this.name,
      ...(familyName ? { familyName } : {}),
      ...(charset ? { charset } : {}),
      bold: isBold,
      italic: this.isItalic || style.isItalic,
      serif: element?.boolean('Serif') ?? false,
      fixedWidth: element?.boolean('FixedWidth') ?? false,
      weight: this.isBold && style.weight === REGULAR_WEIGHT ? SYNTHETIC_BOLD_WEIGHT : style.weight,
    });
  }
}

/** A font in one weight and slope; finds glyphs and remembers them. */
export class FontVariant {
  readonly font: DocumentFont;
  readonly #style: FontStyle;
  readonly #characters = new Map<number, FoundGlyph | undefined>();
  readonly #transformed = new Map<number, FoundGlyph | undefined>();
  readonly #faces = new Map<Face, StyledFace>();
  #resolved: ResolvedFont | undefined;
  #hasOutlines: boolean | undefined;

  constructor(font: DocumentFont, style: FontStyle) {
    this.font = font;
    this.#style = style;
  }

  /** Whether glyph numbers of the document mean anything. */
  get usesEmbedded(): boolean {
    return this.font.embedded !== undefined;
  }

  /** The system's faces; looked for only when a character needs them. */
  get resolved(): ResolvedFont {
    this.#resolved ??= this.font.resolve(this.#style);
    return this.#resolved;
  }

  /** A face to hang characters on that have no glyph. */
  get anyFace(): StyledFace {
    const face = this.font.embedded ?? this.resolved.primary;
    return face === undefined ? NO_STYLED_FACE : this.#styled(face);
  }

  /** The glyph of a character by the character maps; undefined where no face has one. */
  character(codePoint: number): FoundGlyph | undefined {
    const known = this.#characters.get(codePoint);
    if (known !== undefined || this.#characters.has(codePoint)) return known;
    const glyph = isBlank(codePoint) ? this.#findBlank(codePoint) : this.#findCharacter(codePoint);
    this.#characters.set(codePoint, glyph);
    return glyph;
  }

  /**
   * The glyph of the embedded program that a CGTransform numbers; undefined where it has none, or where its outline is
   * empty though `codePoint` is a letter (pass undefined where the glyph stands for no single character).
   */
  transformed(value: number, codePoint: number | undefined): FoundGlyph | undefined {
    const { embedded } = this.font;
    if (embedded === undefined) return undefined;
    let glyph = this.#transformed.get(value);
    if (glyph === undefined && !this.#transformed.has(value)) {
      const glyphId = value > 0 ? embedded.glyphForTransform(value) : 0;
      glyph = glyphId > 0 ? this.#glyph(embedded, glyphId) : undefined;
      this.#transformed.set(value, glyph);
    }
    if (glyph === undefined || codePoint === undefined) return glyph;
    return this.#isGap(embedded, glyph.glyphId, codePoint) ? undefined : glyph;
  }

  #findCharacter(codePoint: number): FoundGlyph | undefined {
    const { embedded } = this.font;
    if (embedded?.hasCharacterMap) {
      const glyphId = embedded.glyphForCodePoint(codePoint);
      if (glyphId > 0 && !this.#isGap(embedded, glyphId, codePoint)) return this.#glyph(embedded, glyphId);
    }
    const found = this.resolved.glyphFor(codePoint);
    return found === undefined ? undefined : this.#glyph(found.face, found.glyphId);
  }

  /** A glyph without ink in the face that the text around uses, so that blanks do not break runs. */
  #findBlank(codePoint: number): FoundGlyph | undefined {
    const face = this.font.embedded ?? this.resolved.primary;
    if (face === undefined) return undefined;
    for (const candidate of [codePoint, 0x20, 0xa0, 0x3000]) {
      const glyphId = face.hasCharacterMap ? face.glyphForCodePoint(candidate) : 0;
      if (glyphId === 0 || !face.outline(glyphId).isEmpty) continue;
      if (candidate === codePoint) return this.#glyph(face, glyphId);
      return { styled: this.#styled(face), glyphId, advanceEm: isWide(codePoint) ? 1 : 0.5 };
    }
    return undefined;
  }

  /** Whether an embedded program has an empty outline where a letter should be; one without any outlines means it so. */
  #isGap(face: Face, glyphId: number, codePoint: number): boolean {
    if (!isLetter(codePoint) || !face.outline(glyphId).isEmpty) return false;
    this.#hasOutlines ??= hasAnyOutline(face);
    return this.#hasOutlines;
  }

  #glyph(face: Face, glyphId: number): FoundGlyph {
    return { styled: this.#styled(face), glyphId, advanceEm: face.advance(glyphId) / face.unitsPerEm };
  }

  #styled(face: Face): StyledFace {
    let styled = this.#faces.get(face);
    if (styled === undefined) {
      styled = face === this.font.embedded ? this.#styleEmbedded(face) : this.#styleSystem(face);
      this.#faces.set(face, styled);
    }
    return styled;
  }

  #named(source: NamedFont['source']): NamedFont | undefined {
    const { name } = this.font;
    return name === '' ? undefined : { name, source };
  }

  #styleEmbedded(face: Face): StyledFace {
    return {
      face,
      font: this.#named('embedded'),
      isSubstitute: false,
      isFallback: false,
      emboldens: this.#style.weight >= SYNTHETIC_BOLD_WEIGHT && !face.isBold && !this.font.isHeavyByName,
      slants: this.#style.isItalic && !face.isItalic,
    };
  }

  #styleSystem(face: Face): StyledFace {
    const isPrimary = face === this.resolved.primary;
    const isSubstitute = !isPrimary || this.resolved.isSubstitute;
    const wantsBold = this.font.isBold || this.#style.weight >= SYNTHETIC_BOLD_WEIGHT;
    const wantsItalic = this.font.isItalic || this.#style.isItalic;
    return {
      face,
      font: this.#named(isSubstitute ? 'substitute' : 'system'),
      isSubstitute,
      isFallback: !isPrimary || this.usesEmbedded,
      emboldens: isPrimary ? this.resolved.needsBold && wantsBold : wantsBold && !face.isBold,
      slants: isPrimary ? this.resolved.needsItalic : wantsItalic && !face.isItalic,
    };
  }
}

const NO_STYLED_FACE: StyledFace = {
  face: NO_FACE,
  font: undefined,
  isSubstitute: true,
  isFallback: false,
  emboldens: false,
  slants: false,
};

function hasAnyOutline(face: Face): boolean {
  const count = Math.min(face.glyphCount, GLYPHS_SAMPLED);
  for (let glyphId = 1; glyphId < count; glyphId++) {
    if (!face.outline(glyphId).isEmpty) return true;
  }
  return false;
}
