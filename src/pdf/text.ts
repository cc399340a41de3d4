/** The text of a page as glyph runs: a run for each text object, letters at their places, in the library's reading order. */
import { type Matrix, multiply, transformPoint } from '../display/geometry.js';
import type { GlyphRun } from '../display/list.js';
import type { SolidPaint } from '../display/paint.js';
import { type ActualText, type ActualTexts, astralTexts } from './actual-text.js';
import { partedAtFilledGaps } from './filled-gaps.js';
import type { PdfFace, PdfFonts } from './fonts.js';
import type { PageFrame } from './geometry.js';
import type { Pdfium } from './pdfium.js';

export interface TextSource {
  readonly pdfium: Pdfium;
  /** Address of the page. */
  readonly page: number;
  readonly frame: PageFrame;
  readonly fonts: PdfFonts;
  /** Whether runs have their colours; without, they are there to be found, not seen. */
  readonly isPainted: boolean;
}

/** Letters of one page that are read; beyond, a page is a drawing made of letters. */
const MAX_LETTERS = 1_000_000;
/** What the library writes for a hyphen at the end of a line. */
const LINE_END_HYPHEN = 2;
/** Thousandths of the size. */
const MAX_ADVANCE = 20_000;
/** How far, in thousandths of the size, a ligature's ink may reach beyond its width, and its width beyond its ink. */
const LIGATURE_OVERHANG = 100;
const LIGATURE_ROOM = 300;
/** Slope up to which a line is level, or plumb. */
const LEVEL = 0.001;
const INVISIBLE_MODES: readonly number[] = [3, 7];

export function textRuns(source: TextSource): GlyphRun[] {
  const { call } = source.pdfium;
  const textPage = call.FPDFText_LoadPage(source.page);
  if (textPage === 0) return [];
  const scratch = source.pdfium.allocate(64);
  try {
    return new RunReader(source, textPage, scratch).runs();
  } finally {
    source.pdfium.call.free(scratch);
    call.FPDFText_ClosePage(textPage);
  }
}

class RunReader {
  readonly #source: TextSource;
  readonly #textPage: number;
  readonly #scratch: number;
  readonly #actual: ActualTexts;
  readonly #finished: GlyphRun[] = [];
  #open: OpenRun | undefined;

  constructor(source: TextSource, textPage: number, scratch: number) {
    this.#source = source;
    this.#textPage = textPage;
    this.#scratch = scratch;
    this.#actual = astralTexts(source.pdfium, source.page);
  }

  runs(): GlyphRun[] {
    const { call } = this.#source.pdfium;
    const count = Math.min(call.FPDFText_CountChars(this.#textPage), MAX_LETTERS);
    for (let i = 0; i < count; i++) {
      if (call.FPDFText_IsGenerated(this.#textPage, i) !== 1) this.#add(i);
    }
    this.#finish();
    for (const text of this.#actual.texts) this.#addActual(text);
    return partedAtFilledGaps(this.#finished);
  }

  /** The whole of it as one letter, where its first glyph stands. */
  #addActual({ characters, object, matrix, box }: ActualText): void {
    const { call } = this.#source.pdfium;
    const fontSize = this.#floats(1, (to) => call.FPDFTextObj_GetFontSize(object, to))?.[0] ?? 0;
    this.#open = this.#begin(object, matrix, fontSize);
    const edges = { left: box.x, right: box.x + box.width, bottom: box.y, top: box.y + box.height };
    this.#open?.add(characters, [matrix[4], matrix[5]], edges);
    this.#finish();
  }

  #add(index: number): void {
    const { call } = this.#source.pdfium;
    const object = call.FPDFText_GetTextObject(this.#textPage, index);
    if (object === 0 || this.#actual.objects.has(object)) return;
    if (this.#open?.object !== object) {
      this.#finish();
      const matrix = this.#floats(6, (to) => call.FPDFText_GetMatrix(this.#textPage, index, to)) as Matrix | undefined;
      this.#open = matrix && this.#begin(object, matrix, call.FPDFText_GetFontSize(this.#textPage, index));
    }
    this.#open?.add(this.#characters(index), this.#origin(index), this.#looseBox(index));
  }

  #finish(): void {
    const run = this.#open?.finish();
    if (run !== undefined) this.#finished.push(run);
    this.#open = undefined;
  }

  #begin(object: number, matrix: Matrix, fontSize: number): OpenRun | undefined {
    const { pdfium, fonts, frame } = this.#source;
    const font = pdfium.call.FPDFTextObj_GetFont(object);
    if (font === 0 || !(Math.abs(fontSize) > 0)) return undefined;
    return OpenRun.start({ object, face: fonts.face(font), frame, matrix, fontSize, fill: this.#fill(object) });
  }

  #fill(object: number): SolidPaint | undefined {
    const { isPainted, pdfium } = this.#source;
    const { call } = pdfium;
    if (!isPainted || INVISIBLE_MODES.includes(call.FPDFTextObj_GetTextRenderMode(object))) return undefined;
    const at = this.#scratch;
    if (call.FPDFPageObj_GetFillColor(object, at, at + 4, at + 8, at + 12) === 0) return undefined;
    const [red, green, blue, alpha] = [0, 4, 8, 12].map((offset) => pdfium.view.getUint32(at + offset, true) & 255);
    return { kind: 'solid', color: [red!, green!, blue!], alpha: alpha! / 255 };
  }

  #characters(index: number): string {
    const code = this.#source.pdfium.call.FPDFText_GetUnicode(this.#textPage, index) >>> 0;
    if (code === LINE_END_HYPHEN) return '-';
    // The library gives the halves of a surrogate pair one by one.
    const isNone = code === 0 || code > 0x10ffff || code === 0xfffd || code === 0xfffe;
    return isNone ? '' : String.fromCodePoint(code);
  }

  #origin(index: number): readonly [number, number] {
    const { pdfium } = this.#source;
    const at = this.#scratch;
    const isFound = pdfium.call.FPDFText_GetCharOrigin(this.#textPage, index, at, at + 8) !== 0;
    return isFound ? [pdfium.view.getFloat64(at, true), pdfium.view.getFloat64(at + 8, true)] : [Number.NaN, 0];
  }

  /** Undefined where the library knows none. */
  #looseBox(index: number): LetterBox | undefined {
    const box = this.#floats(4, (to) => this.#source.pdfium.call.FPDFText_GetLooseCharBox(this.#textPage, index, to));
    if (box === undefined) return undefined;
    const [x1, y1, x2, y2] = box as [number, number, number, number];
    return { left: Math.min(x1, x2), right: Math.max(x1, x2), bottom: Math.min(y1, y2), top: Math.max(y1, y2) };
  }

  #floats(count: number, write: (address: number) => number): number[] | undefined {
    if (write(this.#scratch) === 0) return undefined;
    const { view } = this.#source.pdfium;
    return Array.from({ length: count }, (_, i) => view.getFloat32(this.#scratch + 4 * i, true));
  }
}

/** Upright box round a letter's cell, in points of the page space; of a text that stands for its glyphs, a share of their ink. */
interface LetterBox {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

interface LastLetter {
  /** In points of the page space. */
  readonly origin: readonly [number, number];
  readonly box: LetterBox | undefined;
  /** Several letters are one glyph. */
  readonly isLigature: boolean;
}

function joined(a: LetterBox | undefined, b: LetterBox | undefined): LetterBox | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    left: Math.min(a.left, b.left),
    right: Math.max(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
    top: Math.max(a.top, b.top),
  };
}

interface RunStart {
  readonly object: number;
  readonly face: PdfFace;
  readonly frame: PageFrame;
  /** Text space → page space, points. */
  readonly matrix: Matrix;
  readonly fontSize: number;
  readonly fill: SolidPaint | undefined;
}

/** A run that grows letter by letter. */
class OpenRun {
  readonly object: number;
  readonly #start: RunStart;
  readonly #sizeMm: number;
  readonly #shape: GlyphRun['shape'];
  readonly #glyphIds: number[] = [];
  readonly #x: number[] = [];
  readonly #y: number[] = [];
  readonly #characters: string[] = [];
  /** The letter whose glyph is not among the others yet: more characters of it may come. */
  #last: LastLetter | undefined;

  private constructor(start: RunStart, sizeMm: number, shape: GlyphRun['shape']) {
    this.object = start.object;
    this.#start = start;
    this.#sizeMm = sizeMm;
    this.#shape = shape;
  }

  /** Undefined for text that a matrix flattens. */
  static start(start: RunStart): OpenRun | undefined {
    const [a, b, c, d, e, f] = start.matrix;
    // Text grows upwards, the display list downwards.
    const upright: Matrix = [a, b, -c, -d, e, f];
    const [w, x, y, z] = multiply(start.frame.toPage, upright);
    const scale = Math.hypot(y, z);
    const sizeMm = Math.abs(start.fontSize) * scale;
    if (!Number.isFinite(sizeMm) || !(sizeMm > 1e-6) || !Number.isFinite(w + x)) return undefined;
    const k = Math.sign(start.fontSize) / scale;
    return new OpenRun(start, sizeMm, [w * k, x * k, y * k, z * k]);
  }

  /** @param origin in points of the page space */
  add(characters: string, origin: readonly [number, number], box: LetterBox | undefined): void {
    const point = transformPoint(this.#start.frame.toPage, ...origin);
    if (!Number.isFinite(point.x) || !Number.isFinite(point.y)) return;
    const last = this.#characters.length - 1;
    // A ligature comes as one letter after the other at one place.
    if (last >= 0 && point.x === this.#x[last] && point.y === this.#y[last]) {
      this.#characters[last] += characters;
      this.#last = { origin, box: joined(this.#last?.box, box), isLigature: true };
      return;
    }
    this.#settle();
    this.#last = { origin, box, isLigature: false };
    this.#x.push(point.x);
    this.#y.push(point.y);
    this.#characters.push(characters);
  }

  /** The last letter is whole: its width is known. */
  #settle(): void {
    if (this.#last === undefined) return;
    const text = this.#characters.at(-1)!;
    const advance = this.#last.isLigature ? this.#ligatureAdvance(text, this.#last) : this.#advance(this.#last.box);
    this.#glyphIds.push(this.#start.face.glyphId(text, advance));
    this.#last = undefined;
  }

  /** Thousandths of the size: the side of the cell along the line, of which only the upright box is known. */
  #advance(box: LetterBox | undefined): number {
    if (box === undefined) return 0;
    const [width, height] = [box.right - box.left, box.top - box.bottom];
    const [a, b, c, d] = this.#start.matrix.map(Math.abs);
    const determinant = a! * d! - b! * c!;
    const isClear = Math.abs(determinant) > 0.2 * Math.max(a! * d!, b! * c!);
    const along = isClear ? (width * d! - height * c!) / determinant : 0;
    const advance = (along / Math.abs(this.#start.fontSize)) * this.#start.face.unitsPerEm;
    return advance > 0 && advance < MAX_ADVANCE ? advance : 0;
  }

  /**
   * The font's own width where it is one that the box allows. Else the box, which may hold no more than the ink, and
   * as much room behind it as there is before it.
   */
  #ligatureAdvance(text: string, { origin, box }: LastLetter): number {
    const width = this.#advance(box);
    if (box === undefined || width === 0) return width;
    const before = this.#roomBefore(box, origin);
    const reach = width + before;
    const own = this.#start.face.ligatureAdvance(text) ?? 0;
    if (own >= reach - LIGATURE_OVERHANG && own <= reach + LIGATURE_ROOM) return own;
    const advance = reach + Math.max(0, before);
    return advance > 0 && advance < MAX_ADVANCE ? advance : width;
  }

  /** Thousandths of the size from the origin to the box, along the line; 0 for a line aslant. */
  #roomBefore({ left, right, bottom, top }: LetterBox, [x, y]: readonly [number, number]): number {
    const { matrix, fontSize, face } = this.#start;
    const along = matrix[0] * Math.sign(fontSize);
    const up = matrix[1] * Math.sign(fontSize);
    const unit = face.unitsPerEm / (Math.abs(fontSize) * Math.hypot(along, up));
    if (Math.abs(up) <= LEVEL * Math.abs(along)) return unit * (along > 0 ? left - x : x - right);
    if (Math.abs(along) <= LEVEL * Math.abs(up)) return unit * (up > 0 ? bottom - y : y - top);
    return 0;
  }

  finish(): GlyphRun | undefined {
    this.#settle();
    if (this.#glyphIds.length === 0) return undefined;
    const { face, fill } = this.#start;
    return {
      kind: 'glyphs',
      face,
      ...(face.font && { font: face.font }),
      sizeMm: this.#sizeMm,
      matrix: [1, 0, 0, 1, 0, 0],
      shape: this.#shape,
      glyphIds: this.#glyphIds,
      x: this.#x,
      y: this.#y,
      characters: joinedSurrogates(this.#characters.map(inReadingOrder)),
      readDirection: 0,
      emboldenMm: 0,
      clips: [],
      blendMode: 'normal',
      ...(fill && { fill }),
    };
  }
}

/** Letters of scripts from right to left, with marks; halves of surrogate pairs. */
const TURNED_LETTERS = /^(?=.*\p{L})[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{M}]{2,}$/u;
const TURNED_PAIRS = /^(?:[\udc00-\udfff][\ud800-\udbff]|[\u200d\ufe0f])+$/;

/**
 * The library turns round what one glyph stands for, with the line or the letters that run from right to left, but for
 * what it spells out itself: a letter of the presentation forms.
 */
function inReadingOrder(characters: string): string {
  if (characters.length < 2) return characters;
  const turned = characters.split('').reverse().join('');
  if (TURNED_PAIRS.test(characters)) return turned;
  if (!TURNED_LETTERS.test(characters)) return characters;
  return PRESENTATION_FORMS.has(characters) && !PRESENTATION_FORMS.has(turned) ? characters : turned;
}

/** What presentation forms of Hebrew and Arabic stand for. */
const PRESENTATION_FORMS: ReadonlySet<string> = new Set(
  [...codePoints(0xfb1d, 0xfdff), ...codePoints(0xfe70, 0xfefc)].map((code) =>
    String.fromCodePoint(code).normalize('NFKC'),
  ),
);

function codePoints(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Halves of a surrogate pair that stand in two letters become one in the first. */
function joinedSurrogates(characters: readonly string[]): string[] {
  const joined = [...characters];
  for (let i = 0; i + 1 < joined.length; i++) {
    const isPair = /[\ud800-\udbff]$/.test(joined[i]!) && /^[\udc00-\udfff]/.test(joined[i + 1]!);
    if (!isPair) continue;
    joined[i] += joined[i + 1]![0]!;
    joined[i + 1] = joined[i + 1]!.slice(1);
  }
  return joined.map((text) =>
    text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, ''),
  );
}
