/** Glyph runs in one colour: outlines defined once a page and referred to, or written in place where that is shorter. */
import { invert, type Matrix, meanScale, multiply } from '../../display/geometry.js';
import type { GlyphRun } from '../../display/list.js';
import type { SolidPaint } from '../../display/paint.js';
import { glyphMatrix } from '../glyph-run.js';
import type { Definitions } from './definitions.js';
import { attribute, decimalsFor, fixed, hexColor, pathData, transform } from './markup.js';
import { glyphKey, type Usage } from './usage.js';

/** An outline of so few characters is no longer than a reference to it. */
const SHORT_OUTLINE = 40;

export class GlyphWriter {
  readonly #definitions: Definitions;
  readonly #usage: Usage;
  readonly #outlines = new Map<string, string>();
  readonly #ids = new Map<string, string>();

  constructor(definitions: Definitions, usage: Usage) {
    this.#definitions = definitions;
    this.#usage = usage;
  }

  /** `scale`: millimetres of a unit of the group's space. */
  run(run: GlyphRun, fill: SolidPaint, scale: number): string {
    const k = run.sizeMm / run.face.unitsPerEm;
    const [a, b, c, d] = run.shape;
    const toRun: Matrix = [a * k, b * k, -c * k, -d * k, 0, 0];
    const fromRun = invert(toRun);
    if (fromRun === undefined) return '';
    const decimals = decimalsFor(scale * meanScale(run.matrix) * k);
    let data = '';
    let references = '';
    for (let i = 0; i < run.glyphIds.length; i++) {
      const glyphId = run.glyphIds[i]!;
      const place = multiply(fromRun, glyphMatrix(run, i));
      const isMoved = (run.xScale?.[i] ?? 1) === 1;
      const outline = this.#outline(run, glyphId, decimals);
      if (outline === '') continue;
      const isReference = outline.length > SHORT_OUTLINE && this.#usage.isRepeatedGlyph(run.face, glyphId);
      if (isReference || !isMoved) {
        const id = this.#define(run, glyphId, outline, decimals);
        const where = isMoved
          ? attribute('x', fixed(place[4], decimals)) + attribute('y', fixed(place[5], decimals))
          : transform(place);
        references += `<use xlink:href="#${id}"${where}/>`;
      } else data += pathData(run.face.outline(glyphId), decimals, place[4], place[5]);
    }
    if (data === '' && references === '') return '';
    const path = data === '' ? '' : `<path d="${data}"/>`;
    return `<g${transform(multiply(run.matrix, toRun))}${this.#paint(run, fill, k)}>${path}${references}</g>`;
  }

  #paint(run: GlyphRun, fill: SolidPaint, k: number): string {
    const color = hexColor(fill.color);
    const isBold = run.emboldenMm > 0;
    const opacity = fill.alpha < 1 ? attribute(isBold ? 'opacity' : 'fill-opacity', fixed(fill.alpha, 4)) : '';
    const bold = isBold
      ? `${attribute('stroke', color)}${attribute('stroke-width', fixed(run.emboldenMm / k, 2))} stroke-linejoin="round"`
      : '';
    return (color === '#000' ? '' : attribute('fill', color)) + opacity + bold;
  }

  #outline(run: GlyphRun, glyphId: number, decimals: number): string {
    const key = `${decimals} ${glyphKey(run.face, glyphId)}`;
    let outline = this.#outlines.get(key);
    if (outline === undefined) {
      outline = pathData(run.face.outline(glyphId), decimals);
      this.#outlines.set(key, outline);
    }
    return outline;
  }

  #define(run: GlyphRun, glyphId: number, outline: string, decimals: number): string {
    const key = `${decimals} ${glyphKey(run.face, glyphId)}`;
    let id = this.#ids.get(key);
    if (id === undefined) {
      id = this.#definitions.add('path', attribute('d', outline), '');
      this.#ids.set(key, id);
    }
    return id;
  }
}
