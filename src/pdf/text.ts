/** The text of a page as glyph runs: a run for each text object, letters at their places, in the library's reading order. */
import { type Matrix, multiply, transformPoint } from '../display/geometry.js';
import type { GlyphRun } from '../display/list.js';
import type { SolidPaint } from '../display/paint.js';
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
  readonly #finished: GlyphRun[] = [];
  #open: OpenRun | undefined;

  constructor(source: TextSource, textPage: number, scratch: number) {
    this.#source = source;
    this.#textPage = textPage;
    this.#scratch = scratch;
  }

  runs(): GlyphRun[] {
    const { call } = this.#source.pdfium;
    const count = Math.min(call.FPDFText_CountChars(this.#textPage), MAX_LETTERS);
    for (let i = 0; i < count; i++) {
      if (call.FPDFText_IsGenerated(this.#textPage, i) !== 1) this.#add(i);
    }
    this.#finish();
    return this.#finished;
  }

  #add(index: number): void {
    const { call } = this.#source.pdfium;
    const object = call.FPDFText_GetTextObject(this.#textPage, index);
    if (object === 0) return;
    if (this.#open?.object !== object) {
      this.#finish();
      this.#open = this.#begin(object, index);
    }
    this.#open?.add(this.#characters(index), this.#origin(index), this.#looseBox(index));
  }

  #finish(): void {
    const run = this.#open?.finish();
    if (run !== undefined) this.#finished.push(run);
    this.#open = undefined;
  }

  #begin(object: number, index: number): OpenRun | undefined {
    const { pdfium, fonts, frame } = this.#source;
    const { call } = pdfium;
    const font = call.FPDFTextObj_GetFont(object);
    const matrix = this.#floats(6, (to) => call.FPDFText_GetMatrix(this.#textPage, index, to)) as Matrix | undefined;
    const fontSize = call.FPDFText_GetFontSize(this.#textPage, index);
    if (font === 0 || matrix === undefined || !(Math.abs(fontSize) > 0)) return undefined;
    return OpenRun.start({ object, face: fonts.face(font), frame, matrix, fontSize, fill: this.#fill(object, index) });
  }

  #fill(object: number, index: number): SolidPaint | undefined {
    const { isPainted, pdfium } = this.#source;
    const { call } = pdfium;
    if (!isPainted || INVISIBLE_MODES.includes(call.FPDFTextObj_GetTextRenderMode(object))) return undefined;
    const at = this.#scratch;
    if (call.FPDFText_GetFillColor(this.#textPage, index, at, at + 4, at + 8, at + 12) === 0) return undefined;
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

  /** Width and height, in points, of the upright box round the letter's cell. */
  #looseBox(index: number): readonly [number, number] {
    const box = this.#floats(4, (to) => this.#source.pdfium.call.FPDFText_GetLooseCharBox(this.#textPage, index, to));
    return box === undefined ? [0, 0] : [Math.abs(box[2]! - box[0]!), Math.abs(box[1]! - box[3]!)];
  }

  #floats(count: number, write: (address: number) => number): number[] | undefined {
    if (write(this.#scratch) === 0) return undefined;
    const { view } = this.#source.pdfium;
    return Array.from({ length: count }, (_, i) => view.getFloat32(this.#scratch + 4 * i, true));
  }
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

  /** @param cell width and height, in points, of the upright box round the letter's cell */
  add(characters: string, [x, y]: readonly [number, number], cell: readonly [number, number]): void {
    const point = transformPoint(this.#start.frame.toPage, x, y);
    if (!Number.isFinite(point.x) || !Number.isFinite(point.y)) return;
    const last = this.#characters.length - 1;
    // A ligature comes as one letter after the other at one place.
    if (last >= 0 && point.x === this.#x[last] && point.y === this.#y[last]) {
      this.#characters[last] += characters;
      return;
    }
    this.#glyphIds.push(this.#start.face.glyphId(characters, this.#advance(cell)));
    this.#x.push(point.x);
    this.#y.push(point.y);
    this.#characters.push(characters);
  }

  /** Thousandths of the size: the side of the cell along the line, of which only the upright box is known. */
  #advance([width, height]: readonly [number, number]): number {
    const [a, b, c, d] = this.#start.matrix.map(Math.abs);
    const determinant = a! * d! - b! * c!;
    const isClear = Math.abs(determinant) > 0.2 * Math.max(a! * d!, b! * c!);
    const along = isClear ? (width * d! - height * c!) / determinant : 0;
    const advance = (along / Math.abs(this.#start.fontSize)) * this.#start.face.unitsPerEm;
    return advance > 0 && advance < 20_000 ? advance : 0;
  }

  finish(): GlyphRun | undefined {
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
      characters: joinedSurrogates(this.#characters),
      readDirection: 0,
      emboldenMm: 0,
      clips: [],
      blendMode: 'normal',
      ...(fill && { fill }),
    };
  }
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
