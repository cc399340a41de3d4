/** What annotations say, and pages without them. Fields of forms and signatures are no annotations here: they are the document. */
import type { AnnotationNote } from '../display/annotation.js';
import { boxOnPage, type PageFrame } from './geometry.js';
import type { Pdfium } from './pdfium.js';

/** FPDF_ANNOTATION_SUBTYPE, from 1; named as in the PDF. */
const SUBTYPES = [
  ...(['Text', 'Link', 'FreeText', 'Line', 'Square', 'Circle', 'Polygon', 'PolyLine', 'Highlight'] as const),
  ...(['Underline', 'Squiggly', 'StrikeOut', 'Stamp', 'Caret', 'Ink', 'Popup', 'FileAttachment', 'Sound'] as const),
  ...(['Movie', 'Widget', 'Screen', 'PrinterMark', 'TrapNet', 'Watermark', '3D', 'RichMedia', 'XFAWidget'] as const),
  'Redact',
] as const;
const WITHOUT_NOTE: readonly string[] = ['Link', 'Popup', 'Widget', 'XFAWidget'];
const INVISIBLE = 1 | 2 | 32;
const MAX_ANNOTATIONS = 10_000;

export function annotationNotes(pdfium: Pdfium, page: number, frame: PageFrame): AnnotationNote[] {
  const notes: AnnotationNote[] = [];
  forEachAnnotation(pdfium, page, (annotation, _index, type) => {
    if (!WITHOUT_NOTE.includes(type)) notes.push(noteOf(pdfium, annotation, type, frame));
  });
  return notes;
}

/** Takes away all of a page's annotations. */
export function removeAnnotations(pdfium: Pdfium, page: number): void {
  const removed: number[] = [];
  forEachAnnotation(pdfium, page, (_annotation, index, type) => {
    if (type !== 'Widget' && type !== 'XFAWidget') removed.push(index);
  });
  for (const index of removed.reverse()) pdfium.call.FPDFPage_RemoveAnnot(page, index);
}

function forEachAnnotation(
  { call }: Pdfium,
  page: number,
  look: (annotation: number, index: number, type: string) => void,
): void {
  const count = Math.min(call.FPDFPage_GetAnnotCount(page), MAX_ANNOTATIONS);
  for (let index = 0; index < count; index++) {
    const annotation = call.FPDFPage_GetAnnot(page, index);
    if (annotation === 0) continue;
    look(annotation, index, SUBTYPES[call.FPDFAnnot_GetSubtype(annotation) - 1] ?? 'Unknown');
    call.FPDFPage_CloseAnnot(annotation);
  }
}

function noteOf(pdfium: Pdfium, annotation: number, type: string, frame: PageFrame): AnnotationNote {
  const { call } = pdfium;
  const text = (key: string): string | undefined =>
    pdfium.lendText(key, (name) =>
      pdfium.utf16((to, size) => call.FPDFAnnot_GetStringValue(annotation, name, to, size)),
    ) || undefined;
  const box = pdfium.structure(4, (address) => call.FPDFAnnot_GetRect(annotation, address));
  const [id, creator, modificationDate, remark] = [text('NM'), text('T'), text('M'), text('Contents')];
  return {
    type,
    ...(id !== undefined && { id }),
    ...(creator !== undefined && { creator }),
    ...(modificationDate !== undefined && { modificationDate }),
    isVisible: (call.FPDFAnnot_GetFlags(annotation) & INVISIBLE) === 0,
    ...(remark !== undefined && { remark }),
    parameters: [],
    ...(box !== undefined && { box: boxOnPage(frame, box[0]!, box[1]!, box[2]!, box[3]!) }),
  };
}
