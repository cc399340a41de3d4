/** Pages as PNG, JPEG and WebP pictures, one file a page. */
import { type Canvas, createCanvas } from '@napi-rs/canvas';
import type { DisplayList } from '../../display/list.js';
import { pixelsPerMm } from '../../display/units.js';
import type { Backend, BackendRun, Output, RenderOptions } from '../backend.js';
import { ImageDecoder } from '../decoding.js';
import { encodePng, type PixelRows, pixelRows } from '../png-encoder.js';
import { ShadingBudget } from '../shading-budget.js';
import { type RasterSize, rasterSize, type WantedSize } from './page-size.js';
import { cssColor } from './paint.js';
import { MAX_PATTERN_WORK, MAX_SHADING_PIXELS, Painter } from './painter.js';
import { GlyphPaths } from './paths.js';
import { Pictures } from './pictures.js';
import { Layers } from './target.js';

interface RasterFormat {
  readonly format: 'png' | 'jpeg' | 'webp';
  /** Longest side that the format, or the raster library, can make. */
  readonly maxSidePx: number;
  encode(canvas: Canvas, dpi: number, options: RenderOptions): Uint8Array | Promise<Uint8Array>;
}

/** A larger page is read in bands: slower, but without a second copy of it. */
const MAX_COPIED_PIXELS = 16_000_000;
/** Takes half the time of zlib's own choice, 6, for files a fiftieth larger. */
const PNG_LEVEL = 4;

const png: RasterFormat = {
  format: 'png',
  maxSidePx: 16_384,
  encode: (canvas, dpi, { background }) =>
    encodePng(canvasRows(canvas, background.alpha >= 1), { dpi, level: PNG_LEVEL }),
};

const jpeg: RasterFormat = {
  format: 'jpeg',
  maxSidePx: 16_384,
  encode: (canvas, dpi, { quality }) => canvas.encodeSync('jpeg', { quality, resolution: statedResolution(dpi) }),
};

const webp: RasterFormat = {
  format: 'webp',
  maxSidePx: 16_383,
  encode: (canvas, _dpi, { quality }) => canvas.encodeSync('webp', quality),
};

export const pngBackend = rasterBackend(png);
export const jpegBackend = rasterBackend(jpeg);
export const webpBackend = rasterBackend(webp);

function rasterBackend(format: RasterFormat): Backend {
  return {
    format: format.format,
    paging: 'page',
    start: (output, options) => new RasterRun(format, output, options),
  };
}

/** JPEG keeps it in two bytes. */
function statedResolution(dpi: number): number {
  return Math.min(65_535, Math.max(1, Math.round(dpi)));
}

/** The pixels of a canvas. Its own form has opacity multiplied into the colours: nothing where it is opaque. */
function canvasRows(canvas: Canvas, isOpaque: boolean): PixelRows {
  const { width: widthPx, height: heightPx } = canvas;
  if (isOpaque && widthPx * heightPx <= MAX_COPIED_PIXELS) return pixelRows({ widthPx, heightPx, rgba: canvas.data() });
  const context = canvas.getContext('2d');
  const rows = (first: number, count: number) => {
    const { data } = context.getImageData(0, first, widthPx, count);
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  };
  return { widthPx, heightPx, rows };
}

class RasterRun implements BackendRun {
  readonly #format: RasterFormat;
  readonly #output: Output;
  readonly #options: RenderOptions;
  readonly #glyphs = new GlyphPaths();
  readonly #decoder: ImageDecoder;
  readonly #pictures: Pictures;
  /** Kept from page to page, since most have the same size. */
  #canvas: Canvas | undefined;

  constructor(format: RasterFormat, output: Output, options: RenderOptions) {
    this.#format = format;
    this.#output = output;
    this.#options = options;
    this.#decoder = new ImageDecoder(options.report);
    this.#pictures = new Pictures(this.#decoder);
  }

  async page(list: DisplayList): Promise<void> {
    const { pageNumber, widthMm, heightMm } = list;
    const { maxPixels, report } = this.#options;
    const size = rasterSize(widthMm, heightMm, this.#options, maxPixels, this.#format.maxSidePx);
    if (size.isReduced)
      report({ code: 'resolution_reduced', message: reductionMessage(list, this.#options, size), page: pageNumber });
    this.#decoder.pageNumber = pageNumber;
    const canvas = this.#blankPage(size);
    const layers = new Layers(size.widthPx * size.heightPx);
    const painter = new Painter({
      glyphs: this.#glyphs,
      pictures: this.#pictures,
      layers,
      patternWork: { left: MAX_PATTERN_WORK },
      shadings: new ShadingBudget(MAX_SHADING_PIXELS),
      report,
      pageNumber,
    });
    const scale = pixelsPerMm(size.dpi);
    const target = {
      context: canvas.getContext('2d'),
      box: { x: 0, y: 0, width: size.widthPx, height: size.heightPx },
    };
    await painter.items(target, list.items, [scale, 0, 0, scale, 0, 0]);
    layers.release();
    const bytes = await this.#format.encode(canvas, size.dpi, this.#options);
    this.#output.openPage(pageNumber).write(bytes);
  }

  async end(): Promise<void> {
    this.#canvas = undefined;
  }

  #blankPage({ widthPx, heightPx }: RasterSize): Canvas {
    if (this.#canvas?.width !== widthPx || this.#canvas.height !== heightPx) {
      this.#canvas = createCanvas(widthPx, heightPx);
    }
    const context = this.#canvas.getContext('2d');
    context.reset();
    context.fillStyle = cssColor(this.#options.background);
    context.fillRect(0, 0, widthPx, heightPx);
    return this.#canvas;
  }
}

function reductionMessage(list: DisplayList, wanted: WantedSize, { widthPx, heightPx, dpi }: RasterSize): string {
  const sheet = `Page ${list.pageNumber} (${Math.round(list.widthMm)} × ${Math.round(list.heightMm)} mm)`;
  if (wanted.widthPx === undefined && wanted.heightPx === undefined) {
    return `${sheet} is too large for ${wanted.dpi} dpi and comes out at ${dpi.toFixed(1)} dpi`;
  }
  return `${sheet} is too large for the pixels asked for and comes out at ${widthPx} × ${heightPx}`;
}
