/** One page: its size, its pixels, and what stands on it as a display list. */
import type { AnnotationNote } from '../display/annotation.js';
import type { LinkArea } from '../display/link.js';
import type { DisplayList, Item, Report } from '../display/list.js';
import type { Color } from '../display/paint.js';
import { annotationNotes, removeAnnotations } from './annotations.js';
import { PdfError } from './error.js';
import { PdfFonts } from './fonts.js';
import { type PageFrame, pageFrame } from './geometry.js';
import { linkAreas } from './links.js';
import { PageObjects } from './objects.js';
import type { Pdfium } from './pdfium.js';
import { renderPage } from './render.js';
import type { SystemFonts } from './system-fonts.js';
import { textRuns } from './text.js';

export interface PageOptions {
  readonly pdfium: Pdfium;
  /** Addresses; `form` is 0 where there is none. */
  readonly document: number;
  readonly form: number;
  readonly fonts: SystemFonts;
  readonly pageNumber: number;
  readonly withAnnotations: boolean;
  readonly report: Report;
}

export interface PixelSize {
  readonly widthPx: number;
  readonly heightPx: number;
}

/** What lies under the page; `alpha` 0…1. */
export interface PageBackground {
  readonly color: Color;
  readonly alpha: number;
}

/** PDF's own limit is 14 400 points; a UserUnit makes a page larger, garbage makes it absurd. */
const MAX_SIDE_MM = 100_000;
const A4_POINTS = [0, 0, 595.276, 841.89] as const;
const FLATTEN_FOR_DISPLAY = 0;

export class PdfPage {
  readonly pageNumber: number;
  readonly frame: PageFrame;
  readonly #options: PageOptions;
  readonly #pdfium: Pdfium;
  /** 0 where the page cannot be read. */
  #address: number;
  readonly #fonts: PdfFonts;

  constructor(options: PageOptions) {
    this.#options = options;
    this.#pdfium = options.pdfium;
    this.pageNumber = options.pageNumber;
    this.#address = this.#open();
    if (this.#address === 0) this.#report('page_failed', 'The page cannot be read and is left blank');
    else if (!options.withAnnotations) removeAnnotations(this.#pdfium, this.#address);
    this.frame = this.#frame();
    this.#fonts = new PdfFonts(options);
  }

  /** False for a page that is left blank because nothing of it can be read. */
  get isReadable(): boolean {
    return this.#address !== 0;
  }

  /** Nothing stands on it, fields and annotations apart. */
  get isBlank(): boolean {
    return this.#address === 0 || this.#pdfium.call.FPDFPage_CountObjects(this.#address) === 0;
  }

  /**
   * RGBA, rows from the top, alpha not multiplied in. Fonts that were drawn with others are reported.
   * @param size in pixels of the whole page
   */
  render(size: PixelSize, background: PageBackground): Uint8Array {
    const { pdfium, form } = this.#options;
    if (this.#address !== 0) this.#objects().reportFonts(this.#fonts);
    return renderPage({ pdfium, page: this.#address, form, size, background });
  }

  /**
   * Text with its places, lines and shapes of one colour, links and notes; text that shows in form fields and
   * annotations too. Afterwards the page cannot be rendered: their appearance has become part of it.
   *
   * @param withShapes paths and pictures as well; without, there is only text that nothing paints
   */
  list(withShapes: boolean): DisplayList {
    const { pageNumber } = this;
    const { widthMm, heightMm } = this.frame;
    if (this.#address === 0) return { pageNumber, widthMm, heightMm, items: [] };
    const links = this.#links();
    const annotations = this.#notes();
    this.#flatten();
    const shapes: readonly Item[] = withShapes ? this.#objects().shapes() : [];
    const text = textRuns({
      pdfium: this.#pdfium,
      page: this.#address,
      frame: this.frame,
      fonts: this.#fonts,
      isPainted: withShapes,
    });
    return {
      pageNumber,
      widthMm,
      heightMm,
      items: [...shapes, ...text],
      ...(links.length > 0 && { links }),
      ...(annotations.length > 0 && { annotations }),
    };
  }

  close(): void {
    this.#closeAddress();
  }

  #open(): number {
    const { document, form, pageNumber } = this.#options;
    const address = this.#pdfium.call.FPDF_LoadPage(document, pageNumber - 1);
    // Makes the appearance of fields that have a value and no look.
    if (address !== 0 && form !== 0) this.#pdfium.call.FORM_OnAfterLoadPage(address, form);
    return address;
  }

  #closeAddress(): void {
    if (this.#address === 0) return;
    const { form } = this.#options;
    if (form !== 0) this.#pdfium.call.FORM_OnBeforeClosePage(this.#address, form);
    this.#pdfium.call.FPDF_ClosePage(this.#address);
    this.#address = 0;
  }

  /** Makes what annotations and fields show a part of the page's content, where text is looked for. */
  #flatten(): void {
    if (this.#pdfium.call.FPDFPage_GetAnnotCount(this.#address) === 0) return;
    this.#pdfium.call.FPDFPage_Flatten(this.#address, FLATTEN_FOR_DISPLAY);
    this.#closeAddress();
    this.#address = this.#open();
    if (this.#address === 0)
      throw new PdfError('internal', `Page ${this.pageNumber} is lost after its fields are read`);
  }

  #frame(): PageFrame {
    const { call } = this.#pdfium;
    const bounds =
      this.#address === 0
        ? undefined
        : this.#pdfium.structure(4, (address) => call.FPDF_GetPageBoundingBox(this.#address, address));
    // FS_RECTF: left, top, right, bottom.
    const [left, top, right, bottom] = bounds ?? [0, A4_POINTS[3], A4_POINTS[2], 0];
    const frame = pageFrame(
      [left!, Math.min(top!, bottom!), right!, Math.max(top!, bottom!)],
      this.#address === 0 ? 0 : call.FPDFPage_GetRotation(this.#address),
    );
    const isSound = [frame.widthMm, frame.heightMm].every((side) => side > 0 && side <= MAX_SIDE_MM);
    if (isSound) return frame;
    this.#report('page_size_invalid', `The page says it is ${frame.widthMm} × ${frame.heightMm} mm; A4 is taken`);
    return pageFrame(A4_POINTS, 0);
  }

  #objects(): PageObjects {
    return new PageObjects(this.#pdfium, this.#address, this.frame);
  }

  #links(): LinkArea[] {
    if (!this.#options.withAnnotations) return [];
    return linkAreas(this.#pdfium, this.#options.document, this.#address, this.frame);
  }

  #notes(): AnnotationNote[] {
    return annotationNotes(this.#pdfium, this.#address, this.frame);
  }

  #report(code: string, message: string): void {
    this.#options.report({ code, message, page: this.pageNumber });
  }
}
