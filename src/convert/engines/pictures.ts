/** Pictures as a PDF: a page for each picture, as large as the picture says it is, its own coding kept where PDF knows it. */
import { readFileSync, statSync } from 'node:fs';
import type { Matrix } from '../../display/geometry.js';
import type { Diagnostic, DisplayList, EncodedImage, Report } from '../../display/list.js';
import { MM_PER_INCH } from '../../display/units.js';
import { ServiceError } from '../../errors.js';
import type { FormatId } from '../../formats.js';
import { identifyImage, type PrintSize, printSize, tiffPage, tiffPages } from '../../images/index.js';
import { loadBackend } from '../../render/index.js';
import { selectPages } from '../page-list.js';
import type { Engine, EngineResult, EngineRun } from './engine.js';
import { engineFault, noPage } from './faults.js';
import { renderOptions } from './render-options.js';
import { WarningList } from './warning-list.js';

/** Of a picture that says none; what a screen shows at full size. */
const DEFAULT_DPI = 96;
/** PDF's own limit is 14 400 points. */
const MAX_SIDE_MM = 5000;
const MAX_FILE_BYTES = 1024 * 1024 * 1024;
/** A4, for a page whose picture cannot be read. */
const BLANK_SHEET: Sheet = { widthMm: 210, heightMm: 297 };
const FORMATS: Readonly<Partial<Record<EncodedImage['format'], FormatId>>> = {
  png: 'png',
  jpeg: 'jpeg',
  tiff: 'tiff',
  bmp: 'bmp',
  webp: 'webp',
};
/** Findings that leave a page without its picture. */
const LOST: ReadonlySet<string> = new Set(['image_undecodable', 'image_too_large']);

export const picturesEngine: Engine = { convert: convertPictures };

async function convertPictures(run: EngineRun): Promise<EngineResult> {
  const warnings = new WarningList(run.options.failOn ?? []);
  try {
    const pictures = picturesOf(run);
    run.onOpened(pictures.format);
    const pageNumbers = selectPages(run.options.pages, pictures.count);
    if (pageNumbers.length === 0) throw noPage(run.options.pages, run.pagesField, pictures.count);
    const lost: Diagnostic[] = [];
    const report: Report = (diagnostic) => {
      if (LOST.has(diagnostic.code)) lost.push(diagnostic);
      warnings.report(diagnostic);
    };
    const backend = await loadBackend('pdf');
    const pages = backend.start(
      run.output,
      renderOptions(run.options, pageNumbers, report, () => []),
    );
    for (const [index, pageNumber] of pageNumbers.entries()) {
      run.signal.throwIfAborted();
      await pages.page(pageOf(pictures.get(pageNumber), pageNumber, report));
      warnings.throwIfFatal();
      run.onProgress(index + 1, pageNumbers.length);
    }
    if (lost.length === pageNumbers.length) throw unreadable(lost[0]!);
    await pages.end();
    warnings.throwIfFatal();
    return { pages: pageNumbers.length, warnings: warnings.list };
  } catch (error) {
    await run.output.discard();
    throw engineFault(error, 'The picture engine', run.pagesField);
  }
}

interface Pictures {
  readonly format: FormatId;
  readonly count: number;
  /** From 1; undefined where it cannot be read. Asked for in rising order. */
  get(pageNumber: number): EncodedImage | undefined;
}

function picturesOf({ inputPath, from }: EngineRun): Pictures {
  const sizeBytes = statSync(inputPath).size;
  if (sizeBytes > MAX_FILE_BYTES) {
    throw failure('too_large', `The picture has ${sizeBytes} bytes, at most ${MAX_FILE_BYTES} are read`);
  }
  const bytes = readFileSync(inputPath);
  const part = `picture.${from}`;
  const image = identifyImage(bytes, part);
  const format = image && FORMATS[image.format];
  if (image === undefined || format === undefined) {
    const what = image === undefined ? 'no picture, or so damaged that its size cannot be read' : `a ${image.format}`;
    throw failure(image === undefined ? 'corrupt' : 'unsupported', `The file is ${what}; expected ${from}`);
  }
  if (image.format !== 'tiff') return { format, count: 1, get: () => image };
  const pages = tiffPages(bytes);
  if (pages.length === 0) return { format, count: 1, get: () => image };
  return {
    format,
    count: pages.length,
    get: (pageNumber) => identifyImage(tiffPage(bytes, pages[pageNumber - 1]!), `${part} (${pageNumber})`),
  };
}

function failure(reason: 'corrupt' | 'unsupported' | 'too_large', message: string): ServiceError {
  return new ServiceError('conversion_failed', message, { reason });
}

function unreadable({ code, message }: Diagnostic): ServiceError {
  return failure(
    code === 'image_too_large' ? 'too_large' : 'corrupt',
    `No picture of the file can be read: ${message}`,
  );
}

function pageOf(image: EncodedImage | undefined, pageNumber: number, report: Report): DisplayList {
  if (image === undefined) {
    report({ code: 'image_undecodable', message: 'The picture is damaged: it has no size', page: pageNumber });
    return { pageNumber, ...BLANK_SHEET, items: [] };
  }
  const size = printSize(image);
  const sheet = sheetOf(image, size);
  return {
    pageNumber,
    ...sheet,
    items: [
      {
        kind: 'image',
        image,
        matrix: upright(size.orientation, sheet),
        alpha: 1,
        smooth: true,
        clips: [],
        blendMode: 'normal',
      },
    ],
  };
}

interface Sheet {
  readonly widthMm: number;
  readonly heightMm: number;
}

/** As large as the picture, made smaller where no PDF page is so large. */
function sheetOf(pixels: { readonly widthPx: number; readonly heightPx: number }, size: PrintSize): Sheet {
  const width = (pixels.widthPx / (size.dpiX ?? DEFAULT_DPI)) * MM_PER_INCH;
  const height = (pixels.heightPx / (size.dpiY ?? DEFAULT_DPI)) * MM_PER_INCH;
  const scale = Math.min(1, MAX_SIDE_MM / Math.max(width, height));
  const [widthMm, heightMm] = [width * scale, height * scale];
  return size.orientation < 5 ? { widthMm, heightMm } : { widthMm: heightMm, heightMm: widthMm };
}

/** The unit square, turned and mirrored as Exif says, on the whole sheet. */
function upright(orientation: number, { widthMm: w, heightMm: h }: Sheet): Matrix {
  const matrices: readonly Matrix[] = [
    [w, 0, 0, h, 0, 0],
    [-w, 0, 0, h, w, 0],
    [-w, 0, 0, -h, w, h],
    [w, 0, 0, -h, 0, h],
    [0, h, w, 0, 0, 0],
    [0, h, -w, 0, w, 0],
    [0, -h, -w, 0, w, h],
    [0, -h, w, 0, 0, h],
  ];
  return matrices[orientation - 1]!;
}
