/**
 * Text that marked content says its glyphs stand for (ActualText), where it holds characters beyond U+FFFF: the library
 * leaves those out, and with them the letters of whatever is drawn by several glyphs or by none.
 */
import { type Box, IDENTITY, type Matrix, multiply, transformBox } from '../display/geometry.js';
import type { Pdfium } from './pdfium.js';

const TEXT = 1;
const FORM = 5;
/** Forms in forms in forms. */
const MAX_DEPTH = 12;
/** Objects of a page that are looked at, those in forms counted each time. */
const MAX_OBJECTS = 200_000;
const MAX_MARKS = 16;
const ASTRAL = /[\u{10000}-\u{10ffff}]/u;

export interface ActualText {
  readonly characters: string;
  /** Address of the first text object that shows it. */
  readonly object: number;
  /** Text space → page space, points. */
  readonly matrix: Matrix;
  /** Round all its objects, in points of the page space. */
  readonly box: Box;
}

export interface ActualTexts {
  readonly texts: readonly ActualText[];
  /** All text objects that show them. */
  readonly objects: ReadonlySet<number>;
}

/** In paint order. */
export function astralTexts(pdfium: Pdfium, page: number): ActualTexts {
  return new Search(pdfium).of(page);
}

class Search {
  readonly #pdfium: Pdfium;
  readonly #texts = new Map<number, ActualText>();
  readonly #objects = new Set<number>();
  /** By the address of a mark, which its objects share; '' for one that is of no interest. */
  readonly #marks = new Map<number, string>();
  #seen = 0;

  constructor(pdfium: Pdfium) {
    this.#pdfium = pdfium;
  }

  of(page: number): ActualTexts {
    const { call } = this.#pdfium;
    const count = call.FPDFPage_CountObjects(page);
    for (let i = 0; i < count; i++) this.#visit(call.FPDFPage_GetObject(page, i), IDENTITY, 0);
    return { texts: [...this.#texts.values()], objects: this.#objects };
  }

  #visit(object: number, toPage: Matrix, depth: number): void {
    if (object === 0 || ++this.#seen > MAX_OBJECTS) return;
    const { call } = this.#pdfium;
    const type = call.FPDFPageObj_GetType(object);
    if (type === TEXT) this.#look(object, toPage);
    if (type !== FORM || depth >= MAX_DEPTH) return;
    const inner = multiply(toPage, this.#matrix(object));
    const count = call.FPDFFormObj_CountObjects(object);
    for (let i = 0; i < count && this.#seen <= MAX_OBJECTS; i++) {
      this.#visit(call.FPDFFormObj_GetObject(object, i), inner, depth + 1);
    }
  }

  #look(object: number, toPage: Matrix): void {
    const { call } = this.#pdfium;
    const count = Math.min(call.FPDFPageObj_CountMarks(object), MAX_MARKS);
    for (let i = 0; i < count; i++) {
      const mark = call.FPDFPageObj_GetMark(object, i);
      const characters = this.#marks.get(mark) ?? this.#textOf(mark);
      this.#marks.set(mark, characters);
      if (characters === '') continue;
      this.#objects.add(object);
      const box = transformBox(toPage, this.#bounds(object));
      const begun = this.#texts.get(mark);
      this.#texts.set(
        mark,
        begun === undefined
          ? { characters, object, matrix: multiply(toPage, this.#matrix(object)), box }
          : { ...begun, box: union(begun.box, box) },
      );
      return;
    }
  }

  #textOf(mark: number): string {
    const { call } = this.#pdfium;
    const bytes = this.#pdfium.lendText('ActualText', (key) =>
      this.#pdfium.lend(4, (length) =>
        this.#pdfium.sized((to, sizeBytes) => {
          const isThere = call.FPDFPageObjMark_GetParamBlobValue(mark, key, to, sizeBytes, length) !== 0;
          return isThere ? this.#pdfium.view.getUint32(length, true) : 0;
        }),
      ),
    );
    const characters = decoded(bytes).replace(/[\p{Cc}\p{Cs}]/gu, '');
    return ASTRAL.test(characters) ? characters : '';
  }

  #bounds(object: number): Box {
    const { call } = this.#pdfium;
    const [left = 0, bottom = 0, right = 0, top = 0] =
      this.#pdfium.floats(4, (l, b, r, t) => call.FPDFPageObj_GetBounds(object, l!, b!, r!, t!)) ?? [];
    return { x: left, y: bottom, width: right - left, height: top - bottom };
  }

  #matrix(object: number): Matrix {
    const values = this.#pdfium.structure(6, (address) => this.#pdfium.call.FPDFPageObj_GetMatrix(object, address));
    return values?.every(Number.isFinite) ? (values as unknown as Matrix) : IDENTITY;
  }
}

function union(a: Box, b: Box): Box {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  };
}

/** Of a text string those encodings that have characters beyond U+FFFF. */
function decoded(bytes: Uint8Array): string {
  const [first, second, third] = bytes;
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder('utf-8').decode(bytes);
  return '';
}
