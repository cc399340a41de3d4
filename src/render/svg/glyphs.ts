/** Glyph runs in one colour: outlines defined once a page and referred to, or written in place where that is shorter. */
import { invert, type Matrix, meanScale, multiply } from '../../display/geometry.js';
import type { GlyphRun } from '../../display/list.js';
import { glyphMatrix } from '../glyph-run.js';
import type { Definitions } from './definitions.js';
import { attribute, decimalsFor, fixed, pathData, transform } from './markup.js';
import type { Outlines } from './outlines.js';
import { solidAttributes } from './paints.js';
import { boldStroke, penAttributes } from './pen.js';
import type { Usage } from './usage.js';
import { WrittenElements } from './written.js';

/** An outline of so few characters is no longer than a reference to it. */
const SHORT_OUTLINE = 40;

export class GlyphWriter {
  readonly #definitions: Definitions;
  readonly #usage: Usage;
  readonly #outlines: Outlines;
  /** Outlines that can be referred to, on this page or before it. */
  readonly #written: WrittenElements;
  /** From how many uses on an outline is worth a definition. */
  readonly #leastUses: number;

  /** `written` is undefined where each page is a file by itself. */
  constructor(definitions: Definitions, usage: Usage, outlines: Outlines, written: WrittenElements | undefined) {
    this.#definitions = definitions;
    this.#usage = usage;
    this.#outlines = outlines;
    this.#written = written ?? new WrittenElements();
    this.#leastUses = written === undefined ? 2 : 1;
  }

  /** `scale`: millimetres of a unit of the group's space. */
  run(run: GlyphRun, scale: number): string {
    const k = run.sizeMm / run.face.unitsPerEm;
    const [a, b, c, d] = run.shape;
    const toRun: Matrix = [a * k, b * k, -c * k, -d * k, 0, 0];
    const fromRun = invert(toRun);
    if (fromRun === undefined) return '';
    const glyphScale = scale * meanScale(run.matrix) * k;
    const content = this.#content(run, fromRun, decimalsFor(glyphScale));
    if (content === '') return '';
    return `<g${transform(multiply(run.matrix, toRun))}${paintAttributes(run, k, glyphScale)}>${content}</g>`;
  }

  #content(run: GlyphRun, fromRun: Matrix, decimals: number): string {
    const outlineOf = this.#outlines.of(run.face, decimals);
    const counts = this.#usage.glyphCounts(run.face);
    const ids = this.#written.glyphIds(run.face, decimals);
    let data = '';
    let references = '';
    for (let i = 0; i < run.glyphIds.length; i++) {
      const glyphId = run.glyphIds[i]!;
      const outline = outlineOf(glyphId);
      if (outline === '') continue;
      const place = multiply(fromRun, glyphMatrix(run, i));
      const isSqueezed = (run.xScale?.[i] ?? 1) !== 1;
      if (!isSqueezed && (outline.length <= SHORT_OUTLINE || (counts.get(glyphId) ?? 0) < this.#leastUses)) {
        data += pathData(run.face.outline(glyphId), decimals, place[4], place[5]);
        continue;
      }
      const where = isSqueezed
        ? transform(place)
        : attribute('x', fixed(place[4], decimals)) + attribute('y', fixed(place[5], decimals));
      references += `<use xlink:href="#${this.#define(ids, glyphId, outline)}"${where}/>`;
    }
    return (data === '' ? '' : `<path d="${data}"/>`) + references;
  }

  #define(ids: Map<number, string>, glyphId: number, outline: string): string {
    let id = ids.get(glyphId);
    if (id === undefined) {
      id = this.#definitions.newId();
      ids.set(glyphId, id);
      this.#definitions.addWithId(id, 'path', attribute('d', outline), '');
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
