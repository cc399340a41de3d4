/** The PDF engine: a PDF becomes pictures, text, or a PDF with some of its pages, page by page, in this thread. */
import type { DisplayList, EncodedImage, ImageItem } from '../../display/list.js';
import { mmToPixels } from '../../display/units.js';
import { ServiceError } from '../../errors.js';
import { PdfDocument, PdfError, type PdfPage, pdfiumModule } from '../../pdf/index.js';
import type { Background, RenderOptions } from '../../render/backend.js';
import { loadBackend } from '../../render/index.js';
import { encodePng, pixelRows } from '../../render/png-encoder.js';
import { selectPages } from '../page-list.js';
import type { Engine, EngineResult, EngineRun } from './engine.js';
import { engineFault, noPage } from './faults.js';
import { openPdfFile, type PdfFile } from './pdf-file.js';
import { renderOptions } from './render-options.js';
import { WarningList } from './warning-list.js';

/** Of the picture that shows a page in svg and html. */
const PICTURE_DPI = 200;
const MAX_PICTURE_PIXELS = 24_000_000;
const PNG_LEVEL = 6;

export const pdfEngine: Engine = { convert: convertPdf };

async function convertPdf(run: EngineRun): Promise<EngineResult> {
  const warnings = new WarningList(run.options.failOn ?? []);
  let file: PdfFile | undefined;
  let document: PdfDocument | undefined;
  try {
    file = openPdfFile(run.inputPath);
    document = await PdfDocument.open(file, {
      module: await pdfiumModule(),
      fonts: run.fonts,
      report: warnings.report,
      ...(run.options.password !== undefined && { password: run.options.password }),
      withAnnotations: run.options.annotations ?? true,
      log: (line) => run.log(Buffer.from(`${line}\n`)),
    });
    run.onOpened('pdf');
    const pageNumbers = selectPages(run.options.pages, document.pageCount);
    if (pageNumbers.length === 0) throw noPage(run.options.pages, run.pagesField, document.pageCount);
    if (run.to === 'pdf') copyPdf(run, file, document, pageNumbers);
    else await renderPdf(run, document, pageNumbers, warnings);
    warnings.throwIfFatal();
    return { pages: pageNumbers.length, warnings: warnings.list };
  } catch (error) {
    await run.output.discard();
    throw error instanceof PdfError
      ? new ServiceError('conversion_failed', error.message, { reason: error.reason, cause: error })
      : engineFault(error, 'The PDF engine', run.pagesField);
  } finally {
    document?.close();
    file?.close();
  }
}

async function renderPdf(
  run: EngineRun,
  document: PdfDocument,
  pageNumbers: readonly number[],
  warnings: WarningList,
): Promise<void> {
  const options = renderOptions(run.options, pageNumbers, warnings.report, () => [document.facts()]);
  const pages = await startPages(run, options);
  for (const [index, pageNumber] of pageNumbers.entries()) {
    run.signal.throwIfAborted();
    await document.withPage(pageNumber, (page) => pages.add(page));
    warnings.throwIfFatal();
    run.onProgress(index + 1, pageNumbers.length);
  }
  await pages.end();
}

interface Pages {
  add(page: PdfPage): Promise<void>;
  end(): Promise<void>;
}

async function startPages({ to, output }: EngineRun, options: RenderOptions): Promise<Pages> {
  if (to === 'png' || to === 'jpeg' || to === 'webp') {
    const { writePixelPage } = await import('../../render/raster/pixel-pages.js');
    const add = ({ pageNumber, frame, render }: PixelSource): Promise<void> =>
      writePixelPage({ pageNumber, ...frame, draw: (size) => render(size, options.background) }, to, output, options);
    return { add: (page) => add(pixelSource(page)), end: async () => undefined };
  }
  const backend = (await loadBackend(to)).start(output, options);
  const isDrawn = to === 'svg' || to === 'html';
  const reportMissingText = missingTextReporter(options);
  return {
    add: async (page) => {
      const picture = isDrawn ? await pictureOf(page, options.background) : undefined;
      const list = page.list(!isDrawn);
      if (isDrawn) reportPicture(options);
      reportMissingText(page, list);
      await backend.page(picture === undefined ? list : { ...list, items: [picture, ...list.items] });
    },
    end: () => backend.end(),
  };
}

interface PixelSource {
  readonly pageNumber: number;
  readonly frame: { readonly widthMm: number; readonly heightMm: number };
  readonly render: PdfPage['render'];
}

function pixelSource(page: PdfPage): PixelSource {
  return {
    pageNumber: page.pageNumber,
    frame: page.frame,
    render: (size, background) => page.render(size, background),
  };
}

/** The whole page as one picture. */
async function pictureOf(page: PdfPage, background: Background): Promise<ImageItem> {
  const { widthMm, heightMm } = page.frame;
  const exact = mmToPixels(widthMm, PICTURE_DPI) * mmToPixels(heightMm, PICTURE_DPI);
  const dpi = PICTURE_DPI * Math.min(1, Math.sqrt(MAX_PICTURE_PIXELS / exact));
  const widthPx = Math.max(1, Math.round(mmToPixels(widthMm, dpi)));
  const heightPx = Math.max(1, Math.round(mmToPixels(heightMm, dpi)));
  const rgba = page.render({ widthPx, heightPx }, background);
  const bytes = await encodePng(pixelRows({ widthPx, heightPx, rgba }), { level: PNG_LEVEL });
  const image: EncodedImage = { bytes, format: 'png', widthPx, heightPx, part: `page ${page.pageNumber}` };
  return {
    kind: 'image',
    image,
    matrix: [widthMm, 0, 0, heightMm, 0, 0],
    alpha: 1,
    smooth: true,
    clips: [],
    blendMode: 'normal',
  };
}

function reportPicture({ report }: RenderOptions): void {
  const message = `Pages are pictures of ${PICTURE_DPI} dpi with their text over them: a PDF gives no outlines`;
  report({ code: 'page_rasterised', message });
}

/** Once a document: of scans every page is one. */
function missingTextReporter({ report }: RenderOptions): (page: PdfPage, list: DisplayList) => void {
  let isReported = false;
  return (page, { items }) => {
    if (isReported || page.isBlank || items.some(({ kind }) => kind === 'glyphs')) return;
    isReported = true;
    const message = 'The page has drawings or pictures but no text: there is none to extract or search';
    report({ code: 'page_without_text', message, page: page.pageNumber });
  };
}

/** The bytes as they are where nothing is to be taken away. */
function copyPdf(run: EngineRun, file: PdfFile, document: PdfDocument, pageNumbers: readonly number[]): void {
  const isUnchanged =
    pageNumbers.length === document.pageCount &&
    run.options.annotations !== false &&
    !(document.isEncrypted && run.options.password !== undefined);
  const output = run.output.openDocument();
  if (isUnchanged) for (const block of file.blocks()) output.write(block);
  else document.copyOfPages(pageNumbers, (bytes) => output.write(bytes));
  run.onProgress(pageNumbers.length, pageNumbers.length);
}
