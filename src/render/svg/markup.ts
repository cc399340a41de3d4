/** Numbers, matrices, path data and text as SVG attributes, in as few characters as their precision needs. */
import {
  CLOSE,
  COORDINATES_OF_VERB,
  CUBIC,
  isIdentity,
  LINE,
  type Matrix,
  MOVE,
  type Path,
} from '../../display/geometry.js';
import type { Color } from '../../display/paint.js';

/** Decimals of a millimetre that are written: a micrometre is a fortieth of a pixel at 600 dpi. */
const DECIMALS_OF_MM = 3;

/** Decimals for lengths in a space that `scale` turns into millimetres. */
export function decimalsFor(scale: number): number {
  const decimals = scale > 0 ? DECIMALS_OF_MM + Math.ceil(Math.log10(scale) - 1e-9) : DECIMALS_OF_MM;
  return Math.min(9, Math.max(0, decimals));
}

export function fixed(value: number, decimals: number): string {
  return compact(Number(value.toFixed(decimals)));
}

/** Seven digits that count: for the linear part of matrices, which multiplies large numbers. */
function significant(value: number): string {
  return compact(Number(value.toPrecision(7)));
}

function compact(value: number): string {
  if (value === 0) return '0';
  return String(value).replace(/^(-?)0\./, '$1.');
}

/** `name="value"` with a space before it; '' for an undefined value. The value must need no escaping. */
export function attribute(name: string, value: string | number | undefined): string {
  return value === undefined ? '' : ` ${name}="${value}"`;
}

/** A transform attribute; '' for the identity. Translations are rounded to `decimals`. */
export function transform(m: Matrix, name = 'transform', decimals = DECIMALS_OF_MM + 1): string {
  if (isIdentity(m)) return '';
  const [a, b, c, d] = m;
  const e = fixed(m[4], decimals);
  const f = fixed(m[5], decimals);
  if (a === 1 && b === 0 && c === 0 && d === 1) return attribute(name, `translate(${e} ${f})`);
  return attribute(name, `matrix(${[a, b, c, d].map(significant).join(' ')} ${e} ${f})`);
}

/** `#rgb` or `#rrggbb`. */
export function hexColor(color: Color): string {
  const hex = color.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('');
  const isShort = hex[0] === hex[1] && hex[2] === hex[3] && hex[4] === hex[5];
  return isShort ? `#${hex[0]}${hex[2]}${hex[4]}` : `#${hex}`;
}

/** The path as `d`, moved by (dx, dy). Differences are taken between rounded points, so that they don't add up errors. */
export function pathData(path: Path, decimals: number, dx = 0, dy = 0): string {
  const data = new DataWriter(10 ** decimals);
  const c = path.coordinates;
  let at = 0;
  for (const verb of path.verbs) {
    const units: number[] = [];
    for (let end = at + COORDINATES_OF_VERB[verb as 0]; at < end; at += 2) {
      units.push(Math.round((c[at]! + dx) * data.factor), Math.round((c[at + 1]! + dy) * data.factor));
    }
    data.segment(verb, units);
  }
  return data.text;
}

class DataWriter {
  /** Units of a whole number. */
  readonly factor: number;
  text = '';
  #command = '';
  #lastNumber = '';
  #x = 0;
  #y = 0;
  #startX = 0;
  #startY = 0;

  constructor(factor: number) {
    this.factor = factor;
  }

  segment(verb: number, units: readonly number[]): void {
    if (verb === CLOSE) {
      this.#add('z', []);
      this.#x = this.#startX;
      this.#y = this.#startY;
      return;
    }
    const toX = units.at(-2)!;
    const toY = units.at(-1)!;
    if (verb === MOVE) {
      this.#command = ''; // a second pair after M would be a line
      this.#add('M', units);
      this.#startX = toX;
      this.#startY = toY;
    } else if (verb === LINE && toY === this.#y && toX !== this.#x) this.#add('h', [toX - this.#x]);
    else if (verb === LINE && toX === this.#x && toY !== this.#y) this.#add('v', [toY - this.#y]);
    else {
      const relative = units.map((unit, i) => unit - (i % 2 === 0 ? this.#x : this.#y));
      this.#add(verb === LINE ? 'l' : verb === CUBIC ? 'c' : 'q', relative);
    }
    this.#x = toX;
    this.#y = toY;
  }

  /** A letter is left out where it repeats, a space where sign or point tell two numbers apart. */
  #add(letter: string, units: readonly number[]): void {
    if (letter !== this.#command || letter === 'z') {
      this.text += letter;
      this.#command = letter;
      this.#lastNumber = '';
    }
    for (const unit of units) {
      const number = compact(unit / this.factor);
      const isApart =
        this.#lastNumber === '' ||
        number.startsWith('-') ||
        (number.startsWith('.') && this.#lastNumber.includes('.') && !this.#lastNumber.includes('e'));
      this.text += isApart ? number : ` ${number}`;
      this.#lastNumber = number;
    }
  }
}

/** Line ends and tabs as spaces; characters that XML forbids, halves of surrogate pairs too, left out. */
export function allowedText(characters: string): string {
  return characters.replace(/[\t\n\r]/g, ' ').replace(/[^\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '');
}

/** Text content; the characters must be ones that XML allows. */
export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (character) => (character === '&' ? '&amp;' : character === '<' ? '&lt;' : '&gt;'));
}
