/** An open PDF: its pages one at a time, what it says beside them, and copies of it. */
import type { DocumentFacts } from '../display/facts.js';
import type { Report } from '../display/list.js';
import type { FontBook } from '../fonts/index.js';
import { PdfError } from './error.js';
import { documentFacts } from './facts.js';
import { PdfPage } from './page.js';
import { Pdfium } from './pdfium.js';
import { copyOfPages, wholeCopy } from './save.js';
import { fileAccess, type PdfSource } from './source.js';
import { SystemFonts } from './system-fonts.js';

/** FPDF_GetLastError. */
const FAULT_PASSWORD = 4;
const FAULT_SECURITY = 5;
const MAX_PAGES = 100_000;
/** A file of some bytes may claim any number of pages that it does not have. */
const MAX_UNREADABLE_PAGES = 100;

export interface OpenPdfOptions {
  readonly module: WebAssembly.Module;
  readonly fonts: FontBook;
  readonly report: Report;
  /** Of the user or of the owner. */
  readonly password?: string;
  /** False leaves annotations out; the fields of a form stay, filled as they are. */
  readonly withAnnotations: boolean;
  /** Takes what the library prints. */
  readonly log: (line: string) => void;
}

export class PdfDocument {
  readonly pageCount: number;
  readonly isEncrypted: boolean;
  readonly #pdfium: Pdfium;
  readonly #fonts: SystemFonts;
  readonly #options: OpenPdfOptions;
  readonly #address: number;
  readonly #release: () => void;
  readonly #form: Form;
  #unreadablePages = 0;

  private constructor(
    pdfium: Pdfium,
    fonts: SystemFonts,
    options: OpenPdfOptions,
    address: number,
    release: () => void,
  ) {
    this.#pdfium = pdfium;
    this.#fonts = fonts;
    this.#options = options;
    this.#address = address;
    this.#release = release;
    this.pageCount = pdfium.call.FPDF_GetPageCount(address);
    this.isEncrypted = pdfium.call.EPDF_IsEncrypted(address) !== 0;
    this.#form = new Form(pdfium, address);
  }

  /** @throws PdfError: encrypted without the right password, corrupt, unsupported, too_large */
  static async open(source: PdfSource, options: OpenPdfOptions): Promise<PdfDocument> {
    const pdfium = await Pdfium.start(options.module, options.log);
    try {
      const fonts = new SystemFonts(pdfium, options.fonts);
      const access = fileAccess(pdfium, source);
      const { password = '' } = options;
      const address = pdfium.lendText(password, (text) => pdfium.call.FPDF_LoadCustomDocument(access.address, text));
      if (address === 0) throw openFault(pdfium.call.FPDF_GetLastError(), options.password !== undefined);
      const document = new PdfDocument(pdfium, fonts, options, address, access.release);
      if (document.pageCount < 1) throw new PdfError('corrupt', 'The PDF has no page');
      if (document.pageCount > MAX_PAGES) {
        throw new PdfError('too_large', `The PDF has ${document.pageCount} pages, at most ${MAX_PAGES} are converted`);
      }
      return document;
    } catch (error) {
      throw pdfium.explain(error);
    }
  }

  /**
   * Lends a page, from 1. A page that cannot be read is a blank one, with a diagnostic.
   * @throws PdfError where too many pages cannot be read, or the library breaks down: it must not be used again then
   */
  async withPage<T>(pageNumber: number, use: (page: PdfPage) => T | Promise<T>): Promise<T> {
    try {
      const page = new PdfPage({
        pdfium: this.#pdfium,
        document: this.#address,
        form: this.#form.address,
        fonts: this.#fonts,
        pageNumber,
        withAnnotations: this.#options.withAnnotations,
        report: this.#options.report,
      });
      try {
        if (!page.isReadable) this.#countUnreadable();
        return await use(page);
      } finally {
        page.close();
      }
    } catch (error) {
      throw this.#pdfium.explain(error);
    }
  }

  #countUnreadable(): void {
    this.#unreadablePages++;
    if (this.#unreadablePages < Math.min(this.pageCount, MAX_UNREADABLE_PAGES)) return;
    throw new PdfError(
      'corrupt',
      `The PDF claims ${this.pageCount} pages, but ${this.#unreadablePages} cannot be read`,
    );
  }

  facts(): DocumentFacts {
    return this.#guarded(() => documentFacts(this.#pdfium, this.#address, this.pageCount));
  }

  /** The document with these pages alone, without encryption; `write` takes its bytes in order. */
  copyOfPages(pageNumbers: readonly number[], write: (bytes: Uint8Array) => void): void {
    const { withAnnotations } = this.#options;
    const isWhole = pageNumbers.length === this.pageCount;
    this.#guarded(() =>
      isWhole
        ? wholeCopy(this.#pdfium, this.#address, { pageCount: this.pageCount, withAnnotations }, write)
        : copyOfPages(this.#pdfium, this.#address, { pageNumbers, withAnnotations }, write),
    );
  }

  /** After this nothing of it may be used. Needless, but harmless, after an error. */
  close(): void {
    try {
      this.#form.close();
      this.#pdfium.call.FPDF_CloseDocument(this.#address);
      this.#release();
    } catch {
      // Broken down: the whole instance goes.
    }
  }

  #guarded<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw this.#pdfium.explain(error);
    }
  }
}

function openFault(fault: number, hasPassword: boolean): PdfError {
  if (fault === FAULT_PASSWORD) {
    return new PdfError(
      'encrypted',
      hasPassword
        ? 'The PDF is encrypted and the password is not the right one'
        : 'The PDF is encrypted; give its password in the option password',
    );
  }
  if (fault === FAULT_SECURITY) {
    return new PdfError('encrypted', 'The PDF is encrypted in a way that takes more than a password');
  }
  return new PdfError('corrupt', 'The file is no PDF, or so damaged that no page can be found');
}

/** The fields of the document as they are filled; no script of the document runs. */
class Form {
  readonly address: number;
  readonly #pdfium: Pdfium;
  readonly #info: number;

  constructor(pdfium: Pdfium, document: number) {
    this.#pdfium = pdfium;
    this.#info = pdfium.call.PDFiumExt_OpenFormFillInfo();
    this.address = pdfium.call.PDFiumExt_InitFormFillEnvironment(document, this.#info);
    if (this.address !== 0) pdfium.call.FPDF_SetFormFieldHighlightAlpha(this.address, 0);
  }

  close(): void {
    if (this.address !== 0) this.#pdfium.call.PDFiumExt_ExitFormFillEnvironment(this.address);
    this.#pdfium.call.PDFiumExt_CloseFormFillInfo(this.#info);
  }
}
