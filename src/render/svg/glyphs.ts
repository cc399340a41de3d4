/** Glyph runs in one colour: outlines defined once a page and referred to, or written in place where that is shorter. */
import { invert, type Matrix, meanScale, multiply } from '../../display/geometry.js';
import type { GlyphRun } from '../../display/list.js';
import { glyphMatrix } from '../glyph-run.js';
import type { Definitions } from './definitions.js';
import { attribute, decimalsFor, fixed, pathData, transform } from './markup.js';
import { solidAttributes } from './paints.js';
import { boldStroke, penAttributes } from './pen.js';
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
  run(run: GlyphRun, scale: number): string {
    const k = run.sizeMm / run.face.unitsPerEm;
    const [a, b, c, d] = run.shape;
    const toRun: Matrix = [a * k, b * k, -c * k, -d * k, 0, 0];
    const fromRun = invert(toRun);
    if (fromRun === undefined) return '';
    const glyphScale = scale * meanScale(run.matrix) * k;
    const decimals = decimalsFor(glyphScale);
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
    return `<g${transform(multiply(run.matrix, toRun))}${paintAttributes(run, k, glyphScale)}>${path}${references}</g>`;
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

/** One colour for all, and a pen that one transformation brings to all glyphs alike. */
export function isEvenlyPainted(run: GlyphRun): boolean {
  const { fill, stroke } = run;
  if (fill !== undefined && fill.kind !== 'solid') return false;
  if (stroke === undefined) return fill !== undefined;
  const [a, b, c, d] = run.shape;
  return stroke.paint.kind === 'solid' && run.xScale === undefined && a === 1 && b === 0 && c === 0 && d === 1;
}

/** `k`: millimetres of run space in a font unit; `scale`: millimetres of the page in one. */
function paintAttributes(run: GlyphRun, k: number, scale: number): string {
  const { fill, stroke } = run;
  const lineAttributes =
    stroke?.paint.kind === 'solid' && (fill === undefined || stroke.widthMm > 0)
      ? solidAttributes('stroke', stroke.paint) + penAttributes(run, stroke, 1 / k, scale)
      : '';
  if (fill?.kind !== 'solid') return attribute('fill', 'none') + lineAttributes;
  if (run.emboldenMm <= 0) return solidAttributes('fill', fill) + lineAttributes;
  const opaque = { ...fill, alpha: 1 };
  const bold = penAttributes(run, boldStroke(opaque, run.emboldenMm), 1 / k, scale);
  const opacity = fill.alpha < 1 ? attribute('opacity', fixed(fill.alpha, 4)) : '';
  return solidAttributes('fill', opaque) + solidAttributes('stroke', opaque) + bold + opacity;
}
