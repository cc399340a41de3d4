/** Pages as PNG, JPEG and WebP pictures, one file a page. */
import { type Canvas, createCanvas } from '@napi-rs/canvas';
import type { DisplayList } from '../../display/list.js';
import { pixelsPerMm } from '../../display/units.js';
import type { Backend, BackendRun, Output, RenderOptions } from '../backend.js';
import { ImageDecoder } from '../decoding.js';
import { ShadingBudget } from '../shading-budget.js';
import { DrawingBudget } from './drawing-budget.js';
import { jpeg, png, type RasterFormat, webp } from './encoders.js';
import { type RasterSize, sizeOfPage } from './page-size.js';
import { cssColor } from './paint.js';
import { MAX_PATTERN_WORK, MAX_SHADING_PIXELS, Painter } from './painter.js';
import { GlyphPaths } from './paths.js';
import { Pictures } from './pictures.js';
import { Layers } from './target.js';

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
    const { pageNumber } = list;
    const { report } = this.#options;
    const size = sizeOfPage(list, this.#format, this.#options);
    this.#decoder.pageNumber = pageNumber;
    const canvas = this.#blankPage(size);
    const layers = new Layers(size.widthPx * size.heightPx);
    const painter = new Painter({
      glyphs: this.#glyphs,
      pictures: this.#pictures,
      layers,
      patternWork: { left: MAX_PATTERN_WORK },
      shadings: new ShadingBudget(MAX_SHADING_PIXELS),
      budget: new DrawingBudget(size.widthPx * size.heightPx, report, pageNumber),
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
