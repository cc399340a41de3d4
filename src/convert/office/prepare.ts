/** What LibreOffice is given: the input as it is, or plain text brought to UTF-8, and the filters that fit its content. */
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Report } from '../../display/list.js';
import { ServiceError } from '../../errors.js';
import type { FormatId } from '../../formats.js';
import { endThread, newGuard } from '../../thread-guard.js';
import type { ClosedCopyOpened, ClosedCopyReply, ClosedCopyRequest } from './closed-copy-thread.js';
import { CsvSample } from './csv.js';
import { MOST_COLUMNS, MOST_ROWS, writeCsvSheet } from './csv-sheet.js';
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
  { from, inputPath, signal }: { readonly from: FormatId; readonly inputPath: string; readonly signal: AbortSignal },
  report: Report,
): Promise<Prepared> {
  if (from === 'txt' || from === 'csv') return prepareText(folder, from, inputPath, signal, report);
  if (!(from in FILTERS)) throw new ServiceError('internal_error', `LibreOffice is no engine for ${from}`);
  const { format, mayBeEncrypted } = await examineOffice(inputPath, from as OfficeFormat);
  const path = LOOKED_THROUGH.has(format)
    ? await closedCopy(resolve(inputPath), join(folder, `document.${format}`), signal, report)
    : resolve(inputPath);
  return { ...FILTERS[format], path, format, mayBeEncrypted };
}

/** Formats in which references are known to be followed whatever the settings say; doc, xls and ppt are not among them. */
const LOOKED_THROUGH: ReadonlySet<OfficeFormat> = new Set(['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'rtf']);

/** What a reader would miss; others (templates, data sources) show nothing. */
const SHOWN = new Set([
  ...['image', 'fill-image', 'background-image', 'object', 'object-ole', 'plugin', 'floating-frame', 'section-source'],
  ...['table-source', 'style', 'binary-data', 'img', 'iframe', 'video', 'audio', 'media', 'oleObject', 'aFChunk'],
  'definition',
]);

/** The path of a document without references to the outside: its own where it has none. */
async function closedCopy(from: string, to: string, signal: AbortSignal, report: Report): Promise<string> {
  const reply = await inThread({ from, to }, signal);
  if (reply.kind === 'unreadable') {
    throw new ServiceError(
      'conversion_failed',
      reply.isTooLarge
        ? `The document holds more than is looked through: ${reply.part}`
        : `The document cannot be looked through: ${reply.part}`,
      { reason: reply.isTooLarge ? 'too_large' : 'corrupt' },
    );
  }
  for (const [element, target] of reply.blocked) {
    if (!SHOWN.has(element)) continue;
    report({ code: 'resource_blocked', message: `${element} ${target} is not in the document and was not fetched` });
  }
  return reply.isChanged ? to : from;
}

const THREAD_HEAP_MB = 1024;

function tooLarge(cause: Error): ServiceError {
  return new ServiceError('conversion_failed', 'The document needs more memory than looking through it may take', {
    reason: 'too_large',
    cause,
  });
}

function inThread(files: Omit<ClosedCopyRequest, 'guard'>, signal: AbortSignal): Promise<ClosedCopyReply> {
  signal.throwIfAborted();
  return new Promise((done, fail) => {
    const guard = newGuard();
    const worker = new Worker(threadUrl(), {
      workerData: { ...files, guard } satisfies ClosedCopyRequest,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    });
    let isOpened = false;
    // One that writes has ended before its folder is removed; one that has not begun to is not waited for.
    const onAbort = (): void => {
      if (isOpened) void endThread(worker, guard);
      else fail(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    worker.on('message', (message: ClosedCopyOpened | ClosedCopyReply) => {
      if (message.kind !== 'opened') return done(message);
      isOpened = true;
      if (signal.aborted) void endThread(worker, guard);
    });
    worker.once('error', (error: Error & { code?: string }) =>
      fail(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(error) : error),
    );
    worker.once('exit', () => {
      signal.removeEventListener('abort', onAbort);
      fail(signal.aborted ? signal.reason : new Error('The thread that looks through a document ended'));
    });
  });
}

/** A thread runs compiled code; under the test runner this file is source, and the build lies in dist. */
function threadUrl(): URL {
  return import.meta.url.endsWith('.ts')
    ? new URL('../../../dist/convert/office/closed-copy-thread.js', import.meta.url)
    : new URL('./closed-copy-thread.js', import.meta.url);
}

async function prepareText(
  folder: string,
  format: 'txt' | 'csv',
  inputPath: string,
  signal: AbortSignal,
  report: Report,
): Promise<Prepared> {
  const path = join(folder, `text.${format}`);
  const sample = new CsvSample();
  const { encoding, isDamaged } = await copyAsUtf8(inputPath, path, (text) => {
    if (text.includes('\0')) throw noText(format);
    sample.add(text);
  });
  if (isDamaged) {
    report({
      code: 'text_undecodable',
      message: `Bytes that are no text in ${encoding.toUpperCase()} stand as replacement characters`,
    });
  }
  if (format === 'txt') return { ...TEXT_FILTERS, path, format, mayBeEncrypted: false };
  const sheet = join(folder, 'table.fods');
  if (!(await writeCsvSheet(path, sheet, sample.separator(), signal))) {
    const message = `A sheet has at most ${MOST_ROWS} rows and ${MOST_COLUMNS} columns; the rest is left out`;
    report({ code: 'text_cut', message });
  }
  await rm(path);
  return { ...SHEET_FILTERS, path: sheet, format, mayBeEncrypted: false };
}

const TEXT_FILTERS: Filters = { inputFilter: 'Text (encoded):UTF8,LF,,zh-CN', outputFilter: 'writer_pdf_Export' };
const SHEET_FILTERS: Filters = {
  inputFilter: 'OpenDocument Spreadsheet Flat XML',
  outputFilter: 'calc_pdf_Export',
};

function noText(format: 'txt' | 'csv'): ServiceError {
  return new ServiceError(
    'conversion_failed',
    `The file is no ${format === 'csv' ? 'CSV table' : 'plain text'}: it holds bytes that no text has`,
    { reason: 'corrupt' },
  );
}
