/** Writes one page as SVG. */

import { IDENTITY, type Matrix, meanScale, type Path } from '../../display/geometry.js';
import type {
  Clip,
  DisplayList,
  EncodedImage,
  FillRule,
  GlyphRun,
  Group,
  ImageItem,
  Item,
  PathItem,
} from '../../display/list.js';
import type { Paint, Stroke } from '../../display/paint.js';
import type { Background } from '../backend.js';
import { axisScales, effectiveClips, itemBounds } from '../bounds.js';
import { runOutline } from '../glyph-run.js';
import { substituteOf } from '../substitute.js';
import { Definitions } from './definitions.js';
import { GlyphWriter, isEvenlyPainted } from './glyphs.js';
import type { DataUris } from './images.js';
import { withBlendsOutside } from './isolate.js';
import { attribute, decimalsFor, fixed, pathData, transform } from './markup.js';
import type { Outlines } from './outlines.js';
import { Paints, solidAttributes } from './paints.js';
import { boldStroke, penAttributes } from './pen.js';
import { textLayer } from './text-layer.js';
import { Usage } from './usage.js';
import { visibleItems } from './visible.js';
import type { WrittenElements } from './written.js';

/**
 * Pixels a millimetre (about 300 dpi) that a picture gets whose squares must stay sharp, since not every viewer obeys
 * `image-rendering`; and the most pixels that this may make.
 */
const SHARP_PIXELS_PER_MM = 12;
const MAX_SHARP_PIXELS = 2_000_000;
const MAX_PATTERN_DEPTH = 4;

/** What the pages of a document share while they are written. */
export interface PageTools {
  readonly uris: DataUris;
  readonly outlines: Outlines;
  readonly background: Background;
  /** Outlines and pictures that can be referred to; undefined where each page is a file by itself. */
  readonly written?: WrittenElements;
}

/** The whole file. */
export async function svgPage(list: DisplayList, tools: PageTools): Promise<string> {
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n` +
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1"` +
    `${sizeAttributes(list)}>\n${await pageMarkup(list, tools)}\n${textLayer(list.items)}\n</svg>\n`
  );
}

/** Size and coordinates of an `svg` element, in which a unit is a millimetre. */
export function sizeAttributes({ widthMm, heightMm }: DisplayList): string {
  const width = fixed(widthMm, 4);
  const height = fixed(heightMm, 4);
  return ` width="${width}mm" height="${height}mm" viewBox="0 0 ${width} ${height}"`;
}

/** What is seen of a page: definitions, paper, drawing. */
export async function pageMarkup(list: DisplayList, tools: PageTools): Promise<string> {
  const view = { x: 0, y: 0, width: list.widthMm, height: list.heightMm };
  const items = withBlendsOutside(visibleItems(list.items, view));
  const writer = new PageWriter(list.pageNumber, items, tools);
  const body = await writer.items(items, 1);
  return `${writer.definitions}\n${paper(list, tools.background)}\n${body}`;
}

function paper({ widthMm, heightMm }: DisplayList, { color, alpha }: Background): string {
  if (alpha <= 0) return '';
  return `<rect width="${fixed(widthMm, 4)}" height="${fixed(heightMm, 4)}"${solidAttributes('fill', { color, alpha })}/>`;
}

class PageWriter {
  readonly definitions: Definitions;
  readonly #usage: Usage;
  readonly #uris: DataUris;
  readonly #written: WrittenElements | undefined;
  readonly #paints: Paints;
  readonly #glyphs: GlyphWriter;
  readonly #idOfList = new Map<readonly Item[], string>();
  readonly #cells = new Map<readonly Item[], string>();
  #patternDepth = 0;

  constructor(pageNumber: number, items: readonly Item[], { uris, outlines, written }: PageTools) {
    this.definitions = new Definitions(pageNumber);
    this.#usage = new Usage(items);
    this.#uris = uris;
    this.#written = written;
    this.#glyphs = new GlyphWriter(this.definitions, this.#usage, outlines, written);
    this.#paints = new Paints(this.definitions, (cell, cellScale) => this.#cell(cell, cellScale));
  }

  /** The content of a pattern's cell, written once however many shapes are filled with it. */
  async #cell(items: readonly Item[], scale: number): Promise<string> {
    const known = this.#cells.get(items);
    if (known !== undefined) return known;
    if (this.#patternDepth >= MAX_PATTERN_DEPTH) return '';
    this.#patternDepth++;
    const content = await this.items(withBlendsOutside(items), scale);
    this.#patternDepth--;
    this.#cells.set(items, content);
    return content;
  }

  /** `scale`: millimetres of a unit of the list's space. Neighbours under the same clips share them. */
  async items(items: readonly Item[], scale: number): Promise<string> {
    let markup = '';
    let openClips = '';
    let end = '';
    for (const item of items) {
      const clips = effectiveClips(item);
      const content = clips && (await this.#item(item, scale));
      if (!clips || !content) continue;
      const isBlended = item.blendMode !== 'normal';
      const start = clips.map((clip) => this.#clipStart(clip, scale)).join('');
      if (start !== openClips || isBlended) {
        markup += end;
        const blend = isBlended ? `<g style="mix-blend-mode:${item.blendMode}">` : '';
        markup += blend + start;
        end = '</g>'.repeat(clips.length + (isBlended ? 1 : 0));
        openClips = isBlended ? 'blended' : start;
      }
      markup += content;
    }
    return markup + end;
  }

  #clipStart(clip: Clip, scale: number): string {
    const rule = clip.rule === 'evenodd' ? attribute('clip-rule', 'evenodd') : '';
    const shape = `<path${rule}${attribute('d', pathData(clip.path, decimalsFor(scale)))}/>`;
    return `<g clip-path="url(#${this.definitions.add('clipPath', '', shape)})">`;
  }

  async #item(item: Item, scale: number): Promise<string> {
    switch (item.kind) {
      case 'group':
        return this.#group(item, scale);
      case 'path':
        return this.#path(item, scale);
      case 'glyphs':
        return this.#glyphRun(item, scale);
      case 'image':
        return this.#image(item, scale);
    }
  }

  async #group(group: Group, scale: number): Promise<string> {
    const innerScale = scale * meanScale(group.matrix);
    const attributes = transform(group.matrix) + (group.alpha < 1 ? attribute('opacity', fixed(group.alpha, 4)) : '');
    if (group.isShared && this.#usage.isRepeatedList(group.items)) {
      const id = await this.#sharedList(group.items, innerScale);
      return id === undefined ? '' : `<use xlink:href="#${id}"${attributes}/>`;
    }
    const content = await this.items(group.items, innerScale);
    return content === '' || attributes === '' ? content : `<g${attributes}>${content}</g>`;
  }

  async #sharedList(items: readonly Item[], scale: number): Promise<string | undefined> {
    const known = this.#idOfList.get(items);
    if (known !== undefined) return known;
    const content = await this.items(items, scale);
    if (content === '') return undefined;
    const id = this.definitions.newId();
    this.#idOfList.set(items, id);
    this.definitions.addWithId(id, 'g', '', content);
    return id;
  }

  async #path(item: PathItem, scale: number): Promise<string> {
    return this.#shape(item, item.path, item.fill?.paint, item.fill?.rule ?? 'nonzero', item.stroke, scale);
  }

  /** A path element; geometry and pen go to the group's space where that keeps the pen round and no paint is tied to it. */
  async #shape(
    item: PathItem | GlyphRun,
    path: Path,
    fill: Paint | undefined,
    rule: FillRule,
    stroke: Stroke | undefined,
    scale: number,
  ): Promise<string> {
    const isPlain = isSimilar(item.matrix) || stroke === undefined;
    const element = isPlain ? IDENTITY : item.matrix;
    const factor = isPlain ? meanScale(item.matrix) : 1;
    const elementScale = scale * meanScale(element);
    const place = { element, bounds: itemBounds(item), scale };
    const fillAttributes = fill && (await this.#paints.attributes('fill', fill, place));
    const strokeAttributes = stroke && (await this.#paints.attributes('stroke', stroke.paint, place));
    if (fillAttributes === undefined && strokeAttributes === undefined) return '';
    const data = pathData(isPlain ? path.transformed(item.matrix) : path, decimalsFor(elementScale));
    return (
      `<path${transform(element)}${fillAttributes ?? attribute('fill', 'none')}` +
      (fillAttributes !== undefined && rule === 'evenodd' ? attribute('fill-rule', 'evenodd') : '') +
      (stroke && strokeAttributes !== undefined
        ? strokeAttributes + penAttributes(item, stroke, factor, elementScale)
        : '') +
      `${attribute('d', data)}/>`
    );
  }

  async #glyphRun(run: GlyphRun, scale: number): Promise<string> {
    const { fill, stroke } = run;
    const isBold = run.emboldenMm > 0 && fill !== undefined;
    if (isEvenlyPainted(run) && !(isBold && stroke !== undefined)) return this.#glyphs.run(run, scale);
    const outline = runOutline(run);
    if (!isBold) return this.#shape(run, outline, fill, 'nonzero', stroke, scale);
    const letters = await this.#shape(run, outline, fill, 'nonzero', boldStroke(fill, run.emboldenMm), scale);
    return stroke === undefined
      ? letters
      : letters + (await this.#shape(run, outline, undefined, 'nonzero', stroke, scale));
  }

  async #image(item: ImageItem, scale: number): Promise<string> {
    const size = axisScales(item.matrix);
    const widthMm = size.x * scale;
    const heightMm = size.y * scale;
    const enlargement = item.smooth ? 1 : squareSize(item.image, widthMm, heightMm);
    const uri = await this.#uris.get(item.image, enlargement);
    if (uri === undefined) {
      const other = substituteOf(item);
      return other === undefined ? '' : this.#image(other, scale);
    }
    const maskUri = item.mask && (await this.#uris.get(item.mask, squareSize(item.mask, widthMm, heightMm)));
    const mask = maskUri === undefined ? '' : attribute('mask', `url(#${this.#mask(maskUri)})`);
    const opacity = item.alpha < 1 ? attribute('opacity', fixed(item.alpha, 4)) : '';
    const place = transform(item.matrix) + opacity + mask;
    const rendering = enlargement > 1 ? attribute('image-rendering', 'pixelated') : '';
    if (this.#written !== undefined) return this.#writtenImage(item, enlargement, uri, place, rendering, this.#written);
    if (!this.#usage.isRepeatedImage(item.image)) {
      return `<image${UNIT_SQUARE}${place}${rendering} xlink:href="${uri}"/>`;
    }
    const id = this.definitions.add('image', UNIT_SQUARE + rendering + attribute('xlink:href', uri), '');
    return `<use xlink:href="#${id}"${place}/>`;
  }

  /** The first time as itself, later as a reference to it. */
  #writtenImage(
    item: ImageItem,
    enlargement: number,
    uri: string,
    place: string,
    rendering: string,
    written: WrittenElements,
  ): string {
    const known = written.imageId(item.image, enlargement);
    if (known !== undefined) return `<use xlink:href="#${known}"${place}/>`;
    const id = this.definitions.newId();
    written.setImageId(item.image, enlargement, id);
    return `<g${place}><image${attribute('id', id)}${UNIT_SQUARE}${rendering} xlink:href="${uri}"/></g>`;
  }

  #mask(uri: string): string {
    const picture = `<image${UNIT_SQUARE} image-rendering="pixelated" xlink:href="${uri}"/>`;
    const area = ' maskUnits="userSpaceOnUse" x="0" y="0" width="1" height="1"';
    return this.definitions.add('mask', area, picture);
  }
}

const UNIT_SQUARE = ' width="1" height="1" preserveAspectRatio="none"';

/** Turns, moves, mirrors and scales evenly: a round pen stays round. */
function isSimilar([a, b, c, d]: Matrix): boolean {
  const tolerance = 1e-6 * Math.hypot(a, b, c, d);
  return (
    Math.abs(a * c + b * d) <= tolerance * Math.hypot(a, b) &&
    Math.abs(Math.hypot(a, b) - Math.hypot(c, d)) <= tolerance
  );
}

/** Side of the square that stands for one pixel of a picture drawn at this size; 1 where its pixels are small enough. */
function squareSize({ widthPx, heightPx }: EncodedImage, widthMm: number, heightMm: number): number {
  const wanted = Math.max((widthMm * SHARP_PIXELS_PER_MM) / widthPx, (heightMm * SHARP_PIXELS_PER_MM) / heightPx);
  const most = Math.sqrt(MAX_SHARP_PIXELS / (widthPx * heightPx));
  // At 150 dpi and more, smoothing harms little.
  return wanted < 2 ? 1 : Math.max(1, Math.floor(Math.min(Math.ceil(wanted), most)));
}
