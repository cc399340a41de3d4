/** The text of a page over its picture, invisible: it can be selected, copied and searched. */
import { IDENTITY, type Matrix, multiply, transformPoint } from '../../display/geometry.js';
import type { GlyphRun, Item } from '../../display/list.js';
import { allowedText, escapeText, fixed, transform } from './markup.js';

const POSITION_DECIMALS = 2;

/** One element a run, in the order of the list; '' for a page without text. */
export function textLayer(items: readonly Item[]): string {
  const lines: string[] = [];
  collect(items, IDENTITY, lines);
  if (lines.length === 0) return '';
  return `<g opacity="0" font-family="sans-serif" xml:space="preserve">${lines.join('')}</g>`;
}

function collect(items: readonly Item[], toPage: Matrix, lines: string[]): void {
  for (const item of items) {
    if (item.kind === 'group') collect(item.items, multiply(toPage, item.matrix), lines);
    else if (item.kind === 'glyphs') {
      const line = textElement(item, multiply(toPage, item.matrix));
      if (line !== undefined) lines.push(line);
    }
  }
}

interface Placed {
  readonly text: string;
  readonly x: readonly number[];
  readonly y: readonly number[];
}

/** Undefined for a run that stands for no character. `toPage`: run space → page. */
function textElement(run: GlyphRun, toPage: Matrix): string | undefined {
  const [a, b, c, d] = toPage;
  const isPlain = b === 0 && c === 0 && a === d && a > 0;
  const placed = placeCharacters(run, isPlain ? toPage : IDENTITY);
  if (placed.text.trim() === '') return undefined;
  const size = fixed(run.sizeMm * (isPlain ? a : 1), 3);
  const matrix = isPlain ? '' : transform(toPage);
  const text = escapeText(placed.text);
  return `<text${matrix} font-size="${size}" x="${list(placed.x).join(' ')}" y="${heights(placed.y)}">${text}</text>`;
}

/** Where every character begins; the characters of one glyph share its width. */
function placeCharacters(run: GlyphRun, matrix: Matrix): Placed {
  let text = '';
  const x: number[] = [];
  const y: number[] = [];
  const em = run.sizeMm / run.face.unitsPerEm;
  for (let i = 0; i < run.glyphIds.length; i++) {
    const characters = Array.from(allowedText(run.characters[i] ?? ''));
    const step = (run.face.advance(run.glyphIds[i]!) * em * (run.xScale?.[i] ?? 1)) / Math.max(1, characters.length);
    characters.forEach((character, k) => {
      const point = transformPoint(matrix, run.x[i]! + k * step * run.shape[0], run.y[i]! + k * step * run.shape[1]);
      text += character;
      x.push(point.x);
      y.push(point.y);
    });
  }
  return { text, x, y };
}

function list(values: readonly number[]): string[] {
  return values.map((value) => fixed(value, POSITION_DECIMALS));
}

/** One number where all are the same: characters stay on their line by themselves, but never in their column. */
function heights(values: readonly number[]): string {
  const numbers = list(values);
  return numbers.every((number) => number === numbers[0]) ? numbers[0]! : numbers.join(' ');
}
