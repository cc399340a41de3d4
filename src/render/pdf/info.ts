/** What the document says about itself, as the information dictionary and the metadata both tell it. */
import type { DocumentInfo } from '../../display/facts.js';
import { pdfDate } from './dates.js';
import type { PdfFile } from './file.js';
import { type PDFObject, PDFString } from './pdf-lib.js';
import { shortened, textString } from './text-string.js';

export const PRODUCER = 'ofd-server';

/** Texts that are there, trimmed; dates as written, those that are none left out. */
export interface FileInfo {
  readonly title?: string;
  readonly author?: string;
  readonly subject?: string;
  readonly keywords?: string;
  readonly creator?: string;
  readonly creationDate?: string;
  readonly modificationDate?: string;
}

export function fileInfo(info: DocumentInfo): FileInfo {
  const creator = [info.creator, info.creatorVersion].filter((part) => part !== undefined && part !== '');
  const entries = {
    title: info.title,
    author: info.author,
    subject: info.subject ?? info.abstract,
    keywords: info.keywords?.join(', '),
    creator: info.creator ? creator.join(' ') : undefined,
    creationDate: dateText(info.creationDate),
    modificationDate: dateText(info.modificationDate),
  };
  const known = Object.entries(entries).flatMap(([key, text]) => (text?.trim() ? [[key, shortened(text.trim())]] : []));
  return Object.fromEntries(known);
}

export function infoDictionary(file: PdfFile, info: FileInfo): PDFObject {
  const texts = {
    Title: info.title,
    Author: info.author,
    Subject: info.subject,
    Keywords: info.keywords,
    Creator: info.creator,
    Producer: PRODUCER,
  };
  const dates = { CreationDate: info.creationDate, ModDate: info.modificationDate };
  const entries: Record<string, PDFObject> = {};
  for (const [key, text] of Object.entries(texts)) if (text !== undefined) entries[key] = textString(text);
  for (const [key, text] of Object.entries(dates)) if (text !== undefined) entries[key] = PDFString.of(pdfDate(text)!);
  return file.object(entries);
}

function dateText(text: string | undefined): string | undefined {
  return text !== undefined && pdfDate(text) !== undefined ? text : undefined;
}
