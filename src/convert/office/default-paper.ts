/**
 * Gives A4 to a Word or RTF document that says nothing of its paper, for which LibreOffice takes Letter whatever its
 * settings say; for all other formats it takes what they say. Works on the bytes as Latin-1.
 */

/** Twentieths of a point. */
const WIDTH = 11906;
const HEIGHT = 16838;

const WORD_DOCUMENT = /<(\w+:)?document\b[^<>]*wordprocessingml/;
const WORD_START = 4096;

/** A part of a docx; undefined for one that is not the text of the document, or that has paper. */
export function wordWithPaper(part: Buffer): Buffer | undefined {
  const found = WORD_DOCUMENT.exec(part.toString('latin1', 0, WORD_START));
  if (found === null) return undefined;
  const prefix = found[1] ?? '';
  const text = part.toString('latin1');
  if (text.includes(`<${prefix}pgSz`)) return undefined;
  const size = `<${prefix}pgSz ${prefix}w="${WIDTH}" ${prefix}h="${HEIGHT}"/>`;
  const section = `${prefix}sectPr`;
  const sized = text.replace(
    new RegExp(`<(${section}\\b[^<>]*?)(/?)>`, 'g'),
    (_, start: string, end: string) => `<${start}>${size}${end === '' ? '' : `</${section}>`}`,
  );
  if (sized !== text) return Buffer.from(sized, 'latin1');
  const end = text.lastIndexOf(`</${prefix}body>`);
  if (end < 0) return undefined;
  return Buffer.from(`${text.slice(0, end)}<${section}>${size}</${section}>${text.slice(end)}`, 'latin1');
}

const RTF_START = /^\{\\rtf\d*/;
const RTF_PAPER = /\\(?:paper|pgwsx|pghsx)[wnh]-?\d/;

/** Undefined for a document that has paper. */
export function rtfWithPaper(document: Buffer): Buffer | undefined {
  const text = document.toString('latin1');
  const start = RTF_START.exec(text)?.[0];
  if (start === undefined || RTF_PAPER.test(text)) return undefined;
  return Buffer.from(`${start}\\paperw${WIDTH}\\paperh${HEIGHT}${text.slice(start.length)}`, 'latin1');
}
