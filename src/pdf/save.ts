/** Copies of a PDF: without encryption, with some of its pages, without annotations. The same input gives the same bytes. */
import { removeAnnotations } from './annotations.js';
import { PdfError } from './error.js';
import { metaText } from './facts.js';
import type { Pdfium } from './pdfium.js';

const REMOVE_SECURITY = 3;
const INFO_KEYS = ['Title', 'Author', 'Subject', 'Keywords', 'Creator', 'CreationDate', 'ModDate'] as const;

type Write = (bytes: Uint8Array) => void;

/** Everything of the document. */
export function wholeCopy(
  pdfium: Pdfium,
  document: number,
  { pageCount, withAnnotations }: { readonly pageCount: number; readonly withAnnotations: boolean },
  write: Write,
): void {
  if (!withAnnotations) for (let i = 0; i < pageCount; i++) clearPage(pdfium, document, i);
  save(pdfium, document, write);
}

/** Some pages as a document of their own: what only other pages need is not in it, nor are outline and form. */
export function copyOfPages(
  pdfium: Pdfium,
  document: number,
  { pageNumbers, withAnnotations }: { readonly pageNumbers: readonly number[]; readonly withAnnotations: boolean },
  write: Write,
): void {
  const { call } = pdfium;
  const copy = call.FPDF_CreateNewDocument();
  try {
    const isCopied = pdfium.lend(pageNumbers.length * 4, (indices) => {
      for (const [i, pageNumber] of pageNumbers.entries()) {
        pdfium.view.setInt32(indices + 4 * i, pageNumber - 1, true);
      }
      return call.FPDF_ImportPagesByIndex(copy, document, indices, pageNumbers.length, 0);
    });
    if (isCopied === 0) throw new PdfError('corrupt', 'The pages cannot be taken out of the PDF');
    call.FPDF_CopyViewerPreferences(copy, document);
    copyInfo(pdfium, document, copy);
    if (!withAnnotations) for (let i = 0; i < pageNumbers.length; i++) clearPage(pdfium, copy, i);
    save(pdfium, copy, write);
  } finally {
    call.FPDF_CloseDocument(copy);
  }
}

function clearPage(pdfium: Pdfium, document: number, index: number): void {
  const page = pdfium.call.FPDF_LoadPage(document, index);
  if (page === 0) return;
  removeAnnotations(pdfium, page);
  pdfium.call.FPDF_ClosePage(page);
}

function copyInfo(pdfium: Pdfium, from: number, to: number): void {
  for (const key of INFO_KEYS) {
    const text = metaText(pdfium, from, key);
    if (text === undefined) {
      // The library makes up a date and a maker.
      pdfium.lendText(key, (name) => pdfium.call.EPDF_SetMetaText(to, name, 0));
      continue;
    }
    const utf16 = Buffer.from(`${text}\0`, 'utf16le');
    pdfium.lendText(key, (name) =>
      pdfium.lend(utf16.length, (value) => {
        pdfium.bytes.set(utf16, value);
        pdfium.call.EPDF_SetMetaText(to, name, value);
      }),
    );
  }
}

/** FPDF_FILEWRITE: a version and a function that takes pieces in order. What `write` throws is thrown here. */
function save(pdfium: Pdfium, document: number, write: Write): void {
  let failure: unknown;
  const takeBlock = pdfium.callback('iiii', (_self, data, size) => {
    try {
      write(pdfium.bytes.slice(data!, data! + (size! >>> 0)));
      return 1;
    } catch (error) {
      failure = error;
      return 0;
    }
  });
  try {
    const isSaved = pdfium.lend(8, (writer) => {
      pdfium.view.setUint32(writer, 1, true);
      pdfium.view.setUint32(writer + 4, takeBlock, true);
      return pdfium.call.FPDF_SaveAsCopy(document, writer, REMOVE_SECURITY);
    });
    if (failure !== undefined) throw failure;
    if (isSaved === 0) throw new PdfError('corrupt', 'No copy of the PDF can be written: it is too damaged');
  } finally {
    pdfium.removeCallback(takeBlock);
  }
}
