/** Numbers as content streams want them: short, without exponent, no more digits than the page can show. */
import type { Matrix } from '../../display/geometry.js';

const MOST_DECIMALS = 9;
const POWERS = Array.from({ length: MOST_DECIMALS + 1 }, (_, decimals) => 10 ** decimals);

/** Readers keep coordinates in 32 bits, some of them in fixed point. */
const LARGEST = 1e9;

/** Digits that are enough for the linear part of a matrix and for sizes: 10⁻⁷ of any sheet is nothing. */
const SIGNIFICANT_DIGITS = 7;

/** `value` rounded to at most `decimals` (0…9) places after the point; what is not a number is 0. */
export function formatNumber(value: number, decimals: number): string {
  const power = POWERS[decimals] ?? POWERS[MOST_DECIMALS]!;
  const rounded = Math.round(value * power) / power;
  const size = Math.abs(rounded);
  if (size === 0 || Number.isNaN(size)) return '0';
  if (size >= LARGEST) return rounded < 0 ? `-${LARGEST}` : `${LARGEST}`;
  if (size >= 1) return String(rounded);
  const digits = size < 1e-6 ? size.toFixed(MOST_DECIMALS).replace(/(?<!0)0+$/, '') : String(size);
  return rounded < 0 ? `-${digits.slice(1)}` : digits.slice(1);
}

/** `value` to seven significant digits, and never more than nine decimals. */
export function formatFactor(value: number): string {
  return formatNumber(value, factorDecimals(value));
}

/** The number that `formatFactor` writes, for a dictionary. */
export function roundFactor(value: number): number {
  return Number(formatFactor(value));
}

/** The six operands of `cm` or `Tm`; `decimals` holds for the translation. */
export function formatMatrix(m: Matrix, decimals: number): string {
  const linear = `${formatFactor(m[0])} ${formatFactor(m[1])} ${formatFactor(m[2])} ${formatFactor(m[3])}`;
  return `${linear} ${formatNumber(m[4], decimals)} ${formatNumber(m[5], decimals)}`;
}

/** Decimals that keep a coordinate true to half a micrometre where one unit of the space is `unitMm` long. */
export function coordinateDecimals(unitMm: number): number {
  const wanted = Math.ceil(3 + Math.log10(unitMm) - 1e-6);
  return Number.isFinite(wanted) ? Math.min(MOST_DECIMALS, Math.max(0, wanted)) : 3;
}

function factorDecimals(value: number): number {
  const size = Math.abs(value);
  if (size === 0) return 0;
  return Math.min(MOST_DECIMALS, Math.max(0, SIGNIFICANT_DIGITS - 1 - Math.floor(Math.log10(size))));
}
