/** The information dictionary: what the document says about itself, and nothing of our own but the producer's name. */
import type { DocumentInfo } from '../../display/facts.js';
import type { PdfFile } from './file.js';
import { PDFHexString, type PDFObject, PDFString } from './pdf-lib.js';

const PRODUCER = 'ofd-server';

/** Dates as producers write them: separators or none, a time or none, a zone or none. */
const DATE =
  /^\s*(?:D:)?(\d{4})(?:[-/.年]?(\d{1,2})(?:[-/.月]?(\d{1,2})日?)?)?(?:[T\s]*(\d{1,2})[:时]?(\d{2})(?:[:分]?(\d{2}))?秒?(?:[.,]\d+)?)?\s*(Z|[+-]\d{2}(?:[:']?\d{2})?)?'?\s*$/i;

export function infoDictionary(file: PdfFile, info: DocumentInfo): PDFObject {
  const entries: Record<string, PDFObject> = {};
  const addText = (key: string, text: string | undefined): void => {
    if (text?.trim()) entries[key] = PDFHexString.fromText(text.trim());
  };
  const addDate = (key: string, text: string | undefined): void => {
    const date = text && pdfDate(text);
    if (date) entries[key] = PDFString.of(date);
  };
  addText('Title', info.title);
  addText('Author', info.author);
  addText('Subject', info.subject);
  addText('Keywords', info.keywords?.join(', '));
  addText('Creator', info.creator);
  addText('Producer', PRODUCER);
  addDate('CreationDate', info.creationDate);
  addDate('ModDate', info.modificationDate);
  return file.object(entries);
}

/**
 * A date in PDF's form, `D:20200125153156+08'00`; undefined for what is no date. Without a zone in the document there is
 * none in the result.
 */
export function pdfDate(text: string): string | undefined {
  const match = DATE.exec(text);
  if (!match) return undefined;
  const [, year = '', month = '1', day = '1', hour, minute = '0', second = '0', zone] = match;
  const isDate = inRange(month, 1, 12) && inRange(day, 1, 31);
  if (!isDate || !inRange(hour ?? '0', 0, 23) || !inRange(minute, 0, 59) || !inRange(second, 0, 59)) return undefined;
  const date = `D:${year}${twoDigits(month)}${twoDigits(day)}`;
  if (hour === undefined) return date;
  return `${date}${twoDigits(hour)}${twoDigits(minute)}${twoDigits(second)}${pdfZone(zone)}`;
}

function pdfZone(zone: string | undefined): string {
  if (zone === undefined) return '';
  if (/z/i.test(zone)) return 'Z';
  const digits = zone.replace(/\D/g, '').padEnd(4, '0');
  return `${zone[0]}${digits.slice(0, 2)}'${digits.slice(2)}`;
}

function inRange(digits: string, least: number, most: number): boolean {
  const value = Number(digits);
  return value >= least && value <= most;
}

function twoDigits(digits: string): string {
  return digits.padStart(2, '0');
}
