/** The door of the PDF reader: opens a PDF with PDFium, gives pixels, display lists, facts and copies. */
export { type OpenPdfOptions, PdfDocument } from './document.js';
export { PdfError, type PdfFaultReason } from './error.js';
export { pdfiumModule } from './module.js';
export type { PdfPage } from './page.js';
export type { PdfSource } from './source.js';
