/** Paints as attribute values; what is more than a colour becomes a definition. */
import { type Box, invert, type Matrix, meanScale, multiply } from '../../display/geometry.js';
import type { Item } from '../../display/list.js';
import type { GradientStop, MeshPaint, Paint, RadialPaint, SolidPaint, TilingPaint } from '../../display/paint.js';
import { contains, listBounds } from '../bounds.js';
import { conePixels, type GradientPaint, gradientShape, stopsWithEdges } from '../gradient.js';
import { meshPixels, meshWork } from '../mesh.js';
import type { Pixels } from '../pixels.js';
import { encodePng, pixelRows } from '../png-encoder.js';
import { ShadingBudget } from '../shading-budget.js';
import type { Definitions } from './definitions.js';
import { attribute, fixed, hexColor, transform } from './markup.js';

/** Pixels of a millimetre in the pictures of gradients that SVG has no element for; about 250 dpi. */
const PICTURE_PIXELS_PER_MM = 10;
/** Pixels of a page's pictures before they get coarser: all of them are in the file. */
const MAX_SHADING_PIXELS = 40_000_000;
const MAX_PICTURE_SIDE_PX = 1000;
/** Decimals of coordinates in paint space, whose scale is not known here. */
const PAINT_DECIMALS = 5;

export interface PaintPlace {
  /** Space of the element that is painted → space of the group, where the paint's matrix leads to. */
  readonly element: Matrix;
  /** Box of the element in the space of the group; undefined where it has no area to paint. */
  readonly bounds: Box | undefined;
  /** Millimetres of a unit of the group's space. */
  readonly scale: number;
}

/** Writes the cells of patterns. */
export type WriteItems = (items: readonly Item[], scale: number) => Promise<string>;

export class Paints {
  readonly #definitions: Definitions;
  readonly #writeCell: WriteItems;
  readonly #shadings = new ShadingBudget(MAX_SHADING_PIXELS);

  constructor(definitions: Definitions, writeCell: WriteItems) {
    this.#definitions = definitions;
    this.#writeCell = writeCell;
  }

  /** Attributes `fill` and `fill-opacity` (or those of `stroke`); undefined where nothing is painted. */
  async attributes(name: 'fill' | 'stroke', paint: Paint, place: PaintPlace): Promise<string | undefined> {
    if (paint.kind === 'solid') return solidAttributes(name, paint);
    const toElement = invert(place.element);
    if (toElement === undefined || place.bounds === undefined) return undefined;
    if (paint.kind === 'tiling') return this.#url(name, await this.#tiling(paint, toElement, place));
    if (paint.kind === 'mesh') return this.#url(name, await this.#picture(paint, toElement, place));
    const shape = gradientShape(paint);
    if (shape.kind === 'none') return undefined;
    if (shape.kind === 'even') return solidAttributes(name, shape);
    if (shape.kind === 'cone' && paint.kind === 'radial') {
      return this.#url(name, await this.#picture(paint, toElement, place));
    }
    return this.#url(name, this.#gradient(paint, toElement));
  }

  #url(name: string, id: string | undefined): string | undefined {
    return id === undefined ? undefined : attribute(name, `url(#${id})`);
  }

  #gradient(paint: GradientPaint, toElement: Matrix): string {
    const matrix = transform(multiply(toElement, paint.matrix), 'gradientTransform', PAINT_DECIMALS);
    const units = attribute('gradientUnits', 'userSpaceOnUse');
    if (paint.kind === 'axial') {
      const ends =
        number('x1', paint.start.x) +
        number('y1', paint.start.y) +
        number('x2', paint.end.x) +
        number('y2', paint.end.y);
      return this.#definitions.add('linearGradient', units + ends + matrix, stopElements(stopsWithEdges(paint)));
    }
    // SVG wants the start circle inside the end circle.
    const isInward = paint.startRadius > paint.endRadius;
    const stops = stopsWithEdges(paint);
    const [inner, innerRadius, outer, outerRadius] = isInward
      ? [paint.end, paint.endRadius, paint.start, paint.startRadius]
      : [paint.start, paint.startRadius, paint.end, paint.endRadius];
    const circles =
      number('cx', outer.x) +
      number('cy', outer.y) +
      number('r', outerRadius) +
      (inner.x !== outer.x || inner.y !== outer.y ? number('fx', inner.x) + number('fy', inner.y) : '') +
      (innerRadius > 0 ? number('fr', innerRadius) : '');
    const ordered = isInward ? stops.toReversed().map((stop) => ({ ...stop, offset: 1 - stop.offset })) : stops;
    return this.#definitions.add('radialGradient', units + circles + matrix, stopElements(ordered));
  }

  /** A picture of a paint over the element's box, as a pattern of one cell. */
  async #picture(
    paint: RadialPaint | MeshPaint,
    toElement: Matrix,
    { bounds, scale }: PaintPlace,
  ): Promise<string | undefined> {
    const pixels = bounds && this.#pixels(paint, bounds, scale);
    if (bounds === undefined || pixels === undefined) return undefined;
    const data = Buffer.from(await encodePng(pixelRows(pixels))).toString('base64');
    const size = number('width', bounds.width) + number('height', bounds.height);
    const picture = `<image${size} preserveAspectRatio="none" xlink:href="data:image/png;base64,${data}"/>`;
    const matrix = transform(multiply(toElement, [1, 0, 0, 1, bounds.x, bounds.y]), 'patternTransform', PAINT_DECIMALS);
    return this.#definitions.add('pattern', `${attribute('patternUnits', 'userSpaceOnUse')}${size}${matrix}`, picture);
  }

  /** The paint over a box; coarser where the page has many such pictures. */
  #pixels(paint: RadialPaint | MeshPaint, bounds: Box, scale: number): Pixels | undefined {
    const fromGroup = invert(paint.matrix);
    if (fromGroup === undefined) return undefined;
    const width = picturePixels(bounds.width * scale);
    const height = picturePixels(bounds.height * scale);
    const toPixels = (widthPx: number, heightPx: number): Matrix => {
      const [x, y] = [widthPx / bounds.width, heightPx / bounds.height];
      return multiply([x, 0, 0, y, -bounds.x * x, -bounds.y * y], paint.matrix);
    };
    const work = paint.kind === 'mesh' ? meshWork(paint, toPixels(width, height), width, height) : width * height;
    const step = this.#shadings.step(work);
    const widthPx = Math.ceil(width / step);
    const heightPx = Math.ceil(height / step);
    if (paint.kind === 'mesh') {
      return { widthPx, heightPx, rgba: meshPixels(paint, toPixels(widthPx, heightPx), widthPx, heightPx) };
    }
    const fromPixels: Matrix = [bounds.width / widthPx, 0, 0, bounds.height / heightPx, bounds.x, bounds.y];
    return { widthPx, heightPx, rgba: conePixels(paint, multiply(fromGroup, fromPixels), widthPx, heightPx) };
  }

  async #tiling(paint: TilingPaint, toElement: Matrix, place: PaintPlace): Promise<string> {
    const matrix = multiply(toElement, paint.matrix);
    let content = await this.#writeCell(paint.items, place.scale * meanScale(paint.matrix));
    const cell = { x: 0, y: 0, width: paint.width, height: paint.height };
    const bounds = listBounds(paint.items);
    const fillsStep = paint.xStep === paint.width && paint.yStep === paint.height;
    if (bounds !== undefined && !fillsStep && !contains(cell, bounds)) {
      const box = `<rect${number('width', paint.width)}${number('height', paint.height)}/>`;
      content = `<g clip-path="url(#${this.#definitions.add('clipPath', '', box)})">${content}</g>`;
    }
    if (paint.alpha < 1) content = `<g opacity="${fixed(paint.alpha, 4)}">${content}</g>`;
    const step = number('width', paint.xStep) + number('height', paint.yStep);
    const attributes = `${attribute('patternUnits', 'userSpaceOnUse')}${step}`;
    return this.#definitions.add(
      'pattern',
      attributes + transform(matrix, 'patternTransform', PAINT_DECIMALS),
      content,
    );
  }
}

/** Black is what SVG fills with anyway. */
export function solidAttributes(
  name: 'fill' | 'stroke',
  { color, alpha }: Pick<SolidPaint, 'color' | 'alpha'>,
): string {
  const hex = hexColor(color);
  const opacity = alpha < 1 ? attribute(`${name}-opacity`, fixed(alpha, 4)) : '';
  return (name === 'fill' && hex === '#000' ? '' : attribute(name, hex)) + opacity;
}

function picturePixels(lengthMm: number): number {
  return Math.min(MAX_PICTURE_SIDE_PX, Math.max(1, Math.ceil(lengthMm * PICTURE_PIXELS_PER_MM)));
}

function number(name: string, value: number): string {
  return attribute(name, fixed(value, PAINT_DECIMALS));
}

function stopElements(stops: readonly GradientStop[]): string {
  return stops
    .map((stop) => {
      const opacity = stop.alpha < 1 ? attribute('stop-opacity', fixed(stop.alpha, 4)) : '';
      const color = hexColor(stop.color);
      return `<stop${attribute('offset', fixed(stop.offset, 6))}${color === '#000' ? '' : attribute('stop-color', color)}${opacity}/>`;
    })
    .join('');
}
