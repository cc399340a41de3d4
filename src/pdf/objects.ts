/** What a page is made of: its fonts, and its shapes of one colour as path items (the lines of tables, above all). */
import { IDENTITY, type Matrix, multiply, Path } from '../display/geometry.js';
import type { PathItem } from '../display/list.js';
import type { SolidPaint, Stroke } from '../display/paint.js';
import type { PdfFonts } from './fonts.js';
import type { PageFrame } from './geometry.js';
import type { Pdfium } from './pdfium.js';

const TEXT = 1;
const PATH = 2;
const FORM = 5;
const LINE_TO = 0;
const BEZIER_TO = 1;
const MOVE_TO = 2;
const ALTERNATE = 1;
/** Forms in forms in forms. */
const MAX_DEPTH = 12;
/** Objects of a page that are looked at, those in forms counted each time. */
const MAX_OBJECTS = 200_000;
/** A page with more is a drawing. */
const MAX_SEGMENTS = 100_000;

export class PageObjects {
  readonly #pdfium: Pdfium;
  readonly #page: number;
  readonly #frame: PageFrame;
  #seen = 0;
  #segments = 0;

  constructor(pdfium: Pdfium, page: number, frame: PageFrame) {
    this.#pdfium = pdfium;
    this.#page = page;
    this.#frame = frame;
  }

  /** Makes `fonts` look at every font of the page that text is drawn with. */
  reportFonts(fonts: PdfFonts): void {
    const seen = new Set<number>();
    this.#visit((object, type) => {
      if (type !== TEXT) return;
      const font = this.#pdfium.call.FPDFTextObj_GetFont(object);
      if (font === 0 || seen.has(font)) return;
      seen.add(font);
      fonts.face(font);
    });
  }

  /** In paint order. Shapes of patterns and shadings are left out, clips are not looked at. */
  shapes(): PathItem[] {
    const items: PathItem[] = [];
    this.#visit((object, type, toPage) => {
      const item = type === PATH ? this.#path(object, toPage) : undefined;
      if (item !== undefined) items.push(item);
    });
    return items;
  }

  /** Calls `look` for every object that is no form, with the matrix from the space it stands in to the display list. */
  #visit(look: (object: number, type: number, toPage: Matrix) => void): void {
    const { call } = this.#pdfium;
    this.#seen = 0;
    const visit = (object: number, toPage: Matrix, depth: number): void => {
      if (object === 0 || ++this.#seen > MAX_OBJECTS) return;
      const type = call.FPDFPageObj_GetType(object);
      if (type !== FORM) {
        look(object, type, toPage);
        return;
      }
      if (depth >= MAX_DEPTH) return;
      const inner = multiply(toPage, this.#matrix(object));
      const count = call.FPDFFormObj_CountObjects(object);
      for (let i = 0; i < count && this.#seen <= MAX_OBJECTS; i++) {
        visit(call.FPDFFormObj_GetObject(object, i), inner, depth + 1);
      }
    };
    const count = call.FPDFPage_CountObjects(this.#page);
    for (let i = 0; i < count && this.#seen <= MAX_OBJECTS; i++) {
      visit(call.FPDFPage_GetObject(this.#page, i), this.#frame.toPage, 0);
    }
  }

  #matrix(object: number): Matrix {
    const values = this.#pdfium.structure(6, (address) => this.#pdfium.call.FPDFPageObj_GetMatrix(object, address));
    return values?.every(Number.isFinite) ? (values as unknown as Matrix) : IDENTITY;
  }

  #path(object: number, toPage: Matrix): PathItem | undefined {
    const { call } = this.#pdfium;
    const mode = this.#integers(2, (address) => call.FPDFPath_GetDrawMode(object, address, address + 4));
    if (mode === undefined) return undefined;
    const [fillMode, isStroked] = mode;
    const fill = fillMode === 0 ? undefined : this.#color(object, 'FPDFPageObj_GetFillColor');
    const stroke = isStroked === 0 ? undefined : this.#stroke(object);
    if (fill === undefined && stroke === undefined) return undefined;
    const path = this.#outline(object);
    if (path === undefined) return undefined;
    return {
      kind: 'path',
      path,
      matrix: multiply(toPage, this.#matrix(object)),
      clips: [],
      blendMode: 'normal',
      ...(fill && { fill: { paint: fill, rule: fillMode === ALTERNATE ? 'evenodd' : 'nonzero' } }),
      ...(stroke && { stroke }),
    };
  }

  #outline(object: number): Path | undefined {
    const { call } = this.#pdfium;
    const count = call.FPDFPath_CountSegments(object);
    this.#segments += Math.max(0, count);
    if (count <= 0 || this.#segments > MAX_SEGMENTS) return undefined;
    const path = new Path();
    const controls: number[] = [];
    for (let i = 0; i < count; i++) {
      const segment = call.FPDFPath_GetPathSegment(object, i);
      const point = this.#pdfium.floats(2, (x, y) => call.FPDFPathSegment_GetPoint(segment, x!, y!));
      if (point === undefined || !point.every(Number.isFinite)) return undefined;
      const [x, y] = point as [number, number];
      const type = call.FPDFPathSegment_GetType(segment);
      if (type === MOVE_TO) path.moveTo(x, y);
      else if (type === LINE_TO) path.lineTo(x, y);
      else if (type === BEZIER_TO) {
        controls.push(x, y);
        if (controls.length === 6) {
          const [x1, y1, x2, y2] = controls.splice(0) as [number, number, number, number, number, number];
          path.cubicTo(x1, y1, x2, y2, x, y);
        }
      }
      if (call.FPDFPathSegment_GetClose(segment) !== 0) path.close();
    }
    return path;
  }

  #stroke(object: number): Stroke | undefined {
    const { call } = this.#pdfium;
    const paint = this.#color(object, 'FPDFPageObj_GetStrokeColor');
    const width = this.#pdfium.structure(1, (address) => call.FPDFPageObj_GetStrokeWidth(object, address));
    if (paint === undefined || width === undefined) return undefined;
    return { paint, widthMm: width[0]!, cap: 'butt', join: 'miter', miterLimit: 10, dash: [], dashOffset: 0 };
  }

  #color(object: number, read: 'FPDFPageObj_GetFillColor' | 'FPDFPageObj_GetStrokeColor'): SolidPaint | undefined {
    const channels = this.#integers(4, (at) => this.#pdfium.call[read](object, at, at + 4, at + 8, at + 12));
    if (channels === undefined) return undefined;
    const [red, green, blue, alpha] = channels;
    return { kind: 'solid', color: [red!, green!, blue!], alpha: alpha! / 255 };
  }

  #integers(count: number, write: (address: number) => number): number[] | undefined {
    return this.#pdfium.lend(count * 4, (address) => {
      if (write(address) === 0) return undefined;
      return Array.from({ length: count }, (_, i) => this.#pdfium.view.getInt32(address + 4 * i, true));
    });
  }
}
