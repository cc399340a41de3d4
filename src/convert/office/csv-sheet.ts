/**
 * A CSV file as a spreadsheet that LibreOffice reads (flat OpenDocument): every field is text, columns are as wide as what
 * stands in them, lines part the cells, and nothing is printed at the head and the foot of a page.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { CsvReader } from './csv-reader.js';

/** LibreOffice has no more. */
export const MOST_ROWS = 1_048_576;
export const MOST_COLUMNS = 16_384;
/** Of a letter of ten points, half a Chinese one; beside the text; of a column. */
const LETTER_MM = 1.97;
const PADDING_MM = 2.5;
const LEAST_MM = 10;
const MOST_MM = 85;
/** As wide as two; those beyond U+FFFF are two already. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/g;
const PIECE_CHARACTERS = 64 * 1024;

/**
 * @param from in UTF-8
 * @param to must not exist
 * @returns whether all of it is there: a sheet has an end
 */
export async function writeCsvSheet(
  from: string,
  to: string,
  separator: string,
  signal: AbortSignal,
): Promise<boolean> {
  let isWhole = true;
  const widthsMm = await columnWidths(from, separator, signal, () => {
    isWhole = false;
  });
  await pipeline(sheet(from, separator, widthsMm), createWriteStream(to, { mode: 0o600, flags: 'wx' }), { signal });
  return isWhole;
}

async function* rowsOf(
  from: string,
  separator: string,
  onCut: () => void = () => undefined,
): AsyncGenerator<readonly string[]> {
  const reader = new CsvReader(separator);
  let count = 0;
  const kept = function* (rows: Iterable<readonly string[]>): Generator<readonly string[]> {
    for (const row of rows) {
      if (row.length > MOST_COLUMNS || count === MOST_ROWS) onCut();
      if (count === MOST_ROWS) continue;
      count++;
      yield row.slice(0, MOST_COLUMNS);
    }
  };
  for await (const piece of createReadStream(from, { encoding: 'utf8' }) as AsyncIterable<string>) {
    yield* kept(reader.add(piece));
  }
  yield* kept(reader.end());
}

async function columnWidths(
  from: string,
  separator: string,
  signal: AbortSignal,
  onCut: () => void,
): Promise<number[]> {
  const widths: number[] = [];
  for await (const row of rowsOf(from, separator, onCut)) {
    signal.throwIfAborted();
    for (const [column, text] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, widthMm(text));
    }
  }
  return widths.map((width) => Math.min(MOST_MM, Math.max(LEAST_MM, Math.ceil(width))));
}

function widthMm(text: string): number {
  const longest = text
    .split('\n')
    .reduce((most, line) => Math.max(most, line.length + (line.match(WIDE)?.length ?? 0)), 0);
  return longest * LETTER_MM + PADDING_MM;
}

async function* sheet(from: string, separator: string, widthsMm: readonly number[]): AsyncGenerator<string> {
  let text = headOf(widthsMm);
  for await (const row of rowsOf(from, separator)) {
    const isHigh = row.some((field) => field.includes('\n') || widthMm(field) > MOST_MM);
    text += `<table:table-row${isHigh ? ' table:style-name="high"' : ''}>${row.map(cell).join('')}</table:table-row>`;
    if (text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = '';
  }
  yield `${text}</table:table></office:spreadsheet></office:body></office:document>`;
}

const NAMES = ['office', 'style', 'text', 'table']
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ');
const FORMATTING = 'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"';
/** Of the sheet; it stands in the outline, where no name of ours should. */
const NO_NAME = '\u00a0';

function headOf(widthsMm: readonly number[]): string {
  const styles = [...new Set(widthsMm)].map(
    (width) =>
      `<style:style style:name="w${width}" style:family="table-column"><style:table-column-properties style:column-width="${width}mm"/></style:style>`,
  );
  const columns = widthsMm.map((width) => `<table:table-column table:style-name="w${width}"/>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<office:document ${NAMES} ${FORMATTING} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">`,
    '<office:styles><style:style style:name="Default" style:family="table-cell"><style:table-cell-properties style:vertical-align="top"/></style:style></office:styles>',
    '<office:automatic-styles>',
    '<style:page-layout style:name="page"><style:page-layout-properties fo:page-width="210mm" fo:page-height="297mm" fo:margin="20mm" style:print-orientation="portrait" style:print="grid"/></style:page-layout>',
    '<style:style style:name="table" style:family="table" style:master-page-name="Default"><style:table-properties table:display="true"/></style:style>',
    '<style:style style:name="high" style:family="table-row"><style:table-row-properties style:use-optimal-row-height="true"/></style:style>',
    '<style:style style:name="wrapped" style:family="table-cell"><style:table-cell-properties fo:wrap-option="wrap"/></style:style>',
    ...styles,
    '</office:automatic-styles>',
    '<office:master-styles><style:master-page style:name="Default" style:page-layout-name="page"><style:header style:display="false"/><style:footer style:display="false"/></style:master-page></office:master-styles>',
    `<office:body><office:spreadsheet><table:table table:name="${NO_NAME}" table:style-name="table">`,
    ...columns,
  ].join('');
}

function cell(field: string): string {
  if (field === '') return '<table:table-cell/>';
  const lines = field.split('\n').map((line) => `<text:p>${escaped(line)}</text:p>`);
  const style = widthMm(field) > MOST_MM || lines.length > 1 ? ' table:style-name="wrapped"' : '';
  return `<table:table-cell office:value-type="string"${style}>${lines.join('')}</table:table-cell>`;
}

const MARKS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
// biome-ignore lint/suspicious/noControlCharactersInRegex: what XML cannot hold is taken out
const UNWRITABLE = /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g;

/** Blanks at the ends, and more than one, would be taken for none and one; a tab shows nothing in a cell. */
function escaped(line: string): string {
  return line
    .replace(UNWRITABLE, '')
    .replace(/[&<>]/g, (mark) => MARKS[mark] as string)
    .replaceAll('\t', ' ')
    .replace(/^ +| {2,}| +$/g, (blanks) => `<text:s text:c="${blanks.length}"/>`);
}
