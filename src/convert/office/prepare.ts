/** What LibreOffice is given: the input as it is, or plain text brought to UTF-8, and the filters that fit its content. */
import { join, resolve } from 'node:path';
import type { Report } from '../../display/list.js';
import { ServiceError } from '../../errors.js';
import type { FormatId } from '../../formats.js';
import { CsvSample, type CsvShape } from './csv.js';
import { examineOffice, type OfficeFormat } from './examine.js';
import { copyAsUtf8 } from './text-encoding.js';

interface Filters {
  readonly inputFilter: string;
  readonly outputFilter: 'writer_pdf_Export' | 'calc_pdf_Export' | 'impress_pdf_Export';
}

export interface Prepared extends Filters {
  readonly path: string;
  /** By its content. */
  readonly format: FormatId;
  readonly mayBeEncrypted: boolean;
}

const FILTERS: Readonly<Record<OfficeFormat, Filters>> = {
  doc: { inputFilter: 'MS Word 97', outputFilter: 'writer_pdf_Export' },
  docx: { inputFilter: 'MS Word 2007 XML', outputFilter: 'writer_pdf_Export' },
  odt: { inputFilter: 'writer8', outputFilter: 'writer_pdf_Export' },
  rtf: { inputFilter: 'Rich Text Format', outputFilter: 'writer_pdf_Export' },
  xls: { inputFilter: 'MS Excel 97', outputFilter: 'calc_pdf_Export' },
  xlsx: { inputFilter: 'Calc MS Excel 2007 XML', outputFilter: 'calc_pdf_Export' },
  ods: { inputFilter: 'calc8', outputFilter: 'calc_pdf_Export' },
  ppt: { inputFilter: 'MS PowerPoint 97', outputFilter: 'impress_pdf_Export' },
  pptx: { inputFilter: 'Impress MS PowerPoint 2007 XML', outputFilter: 'impress_pdf_Export' },
  odp: { inputFilter: 'impress8', outputFilter: 'impress_pdf_Export' },
};

/**
 * @param folder an existing private folder, for the text in UTF-8
 * @throws ServiceError conversion_failed: corrupt, encrypted, too_large
 */
export async function prepare(
  folder: string,
  { from, inputPath }: { readonly from: FormatId; readonly inputPath: string },
  report: Report,
): Promise<Prepared> {
  if (from === 'txt' || from === 'csv') return prepareText(join(folder, `text.${from}`), from, inputPath, report);
  if (!(from in FILTERS)) throw new ServiceError('internal_error', `LibreOffice is no engine for ${from}`);
  const { format, mayBeEncrypted } = await examineOffice(inputPath, from as OfficeFormat);
  return { ...FILTERS[format], path: resolve(inputPath), format, mayBeEncrypted };
}

async function prepareText(path: string, format: 'txt' | 'csv', inputPath: string, report: Report): Promise<Prepared> {
  const sample = new CsvSample();
  const { encoding, isDamaged } = await copyAsUtf8(inputPath, path, (text) => sample.add(text));
  if (isDamaged) {
    report({
      code: 'text_undecodable',
      message: `Bytes that are no text in ${encoding.toUpperCase()} stand as replacement characters`,
    });
  }
  const filters: Filters =
    format === 'txt'
      ? { inputFilter: 'Text (encoded):UTF8,LF,,zh-CN', outputFilter: 'writer_pdf_Export' }
      : { inputFilter: csvFilter(sample.shape()), outputFilter: 'calc_pdf_Export' };
  return { ...filters, path, format, mayBeEncrypted: false };
}

/** Every column is text: an identity card's 18 digits are no number, and 1.50 stays 1.50. */
function csvFilter({ separator, columns }: CsvShape): string {
  const types = Array.from({ length: columns }, (_value, index) => `${index + 1}/2`).join('/');
  return `Text - txt - csv (StarCalc):${separator.charCodeAt(0)},34,76,1,${types}`;
}
