/**
 * Text objects (BT … ET) of glyph runs. Glyphs follow each other in arrays of strings and corrections (`TJ`) as long as
 * they stay on one line of text space, whatever its direction on the page; a new place on that plane is a `Td`. What is
 * rounded away at one glyph is made good at the next, so that no error grows.
 */
import { invert, type Matrix, meanScale, multiply, translation } from '../../display/geometry.js';
import type { GlyphRun } from '../../display/list.js';
import type { Code, CodedFont } from './coded-font.js';
import type { ContentStream } from './content.js';
import type { FaceCodes } from './font-table.js';
import { coordinateDecimals, formatMatrix, formatNumber, roundFactor } from './number.js';
import { utf16 } from './to-unicode.js';

/** How far a glyph may stand from its place before a correction is written. */
const TOLERANCE_MM = 0.003;

/** Corrections are rounded no coarser than to this. */
const CORRECTION_STEP_MM = 0.004;

/** Bytes of a string literal: the ones that mean something there are escaped, a carriage return would be read as a line feed. */
const LITERAL_BYTES = Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (char === '\r') return '\\r';
  return char === '\\' || char === '(' || char === ')' ? `\\${char}` : char;
});

/** Writes the glyphs of `run`, whose space `matrix` leads to the stream's current space; `shape` is the run's as a matrix. */
export function writeTextObject(
  stream: ContentStream,
  run: GlyphRun,
  codes: FaceCodes,
  matrix: Matrix,
  shape: Matrix,
): void {
  const text = new TextObject(stream, run, multiply(matrix, shape));
  const first = multiply(matrix, multiply(translation(run.x[0]!, run.y[0]!), shape));
  // Outlines have y up and the space has y down.
  const upright = multiply(first, [1, 0, 0, -1, 0, 0]);
  stream.write(`BT\n${formatMatrix(upright, stream.decimals)} Tm\n`);
  const toText = invert([shape[0], shape[1], -shape[2], -shape[3], 0, 0])!;
  const count = run.glyphIds.length;
  for (let start = 0; start < count; ) {
    const end = clusterEnd(run, start);
    const needsSpan = end - start > 1 || run.characters[start] === '';
    if (needsSpan) text.beginSpan(run.characters[start]!);
    for (let i = start; i < end; i++) {
      const dx = run.x[i]! - run.x[0]!;
      const dy = run.y[i]! - run.y[0]!;
      text.moveTo(toText[0] * dx + toText[2] * dy, toText[1] * dx + toText[3] * dy, run.xScale?.[i] ?? 1);
      text.show(codes.codeFor(run.glyphIds[i]!, run.characters[i] ?? ''));
    }
    if (needsSpan) text.endSpan();
    start = end;
  }
  text.end();
}

/** The glyph after those that stand together for the characters of glyph `start`. */
function clusterEnd(run: GlyphRun, start: number): number {
  let end = start + 1;
  while (end < run.glyphIds.length && run.characters[end] === '') end++;
  return end;
}

class TextObject {
  readonly #stream: ContentStream;
  readonly #sizeMm: number;
  readonly #decimals: number;
  readonly #correctionDecimals: number;
  readonly #tolerance: number;
  /** Where the current line starts and where its next glyph would go by itself, in text space from the first glyph. */
  #lineX = 0;
  #lineY = 0;
  #penX = 0;
  /** Horizontal scale as written, 1 for none. */
  #scale = 0;
  #font: CodedFont | undefined;
  /** Elements of the array being gathered, and the string at its end. */
  #elements = '';
  #string = '';

  constructor(stream: ContentStream, run: GlyphRun, toCurrent: Matrix) {
    const unitMm = stream.unitMm * meanScale(toCurrent);
    this.#stream = stream;
    this.#sizeMm = run.sizeMm;
    this.#decimals = coordinateDecimals(unitMm);
    this.#tolerance = TOLERANCE_MM / unitMm;
    const thousandthMm = (run.sizeMm * unitMm) / 1000;
    this.#correctionDecimals = Math.min(6, Math.max(0, Math.ceil(Math.log10(thousandthMm / CORRECTION_STEP_MM))));
  }

  /** Goes to the place of the next glyph, which is squeezed by `xScale`. */
  moveTo(x: number, y: number, xScale: number): void {
    const percent = roundFactor(100 * (xScale > 0 ? xScale : 1));
    if (percent !== this.#scale * 100) {
      this.#flush();
      this.#stream.setHorizontalScale(percent);
      this.#scale = percent / 100;
    }
    if (Math.abs(y - this.#lineY) > this.#tolerance) this.#startLine(x, y);
    else if (Math.abs(x - this.#penX) > this.#tolerance) this.#correct(x);
  }

  show({ font, value, glyph }: Code): void {
    if (font !== this.#font) {
      this.#flush();
      this.#stream.setFont(font.reference, this.#sizeMm);
      this.#font = font;
    }
    this.#string += LITERAL_BYTES[value >> 8]! + LITERAL_BYTES[value & 255]!;
    this.#penX += (glyph.width / 1000) * this.#sizeMm * this.#scale;
  }

  /** What is shown until `endSpan` stands for `characters` and nothing else. */
  beginSpan(characters: string): void {
    this.#flush();
    const text = characters === '' ? '()' : `<FEFF${utf16(characters)}>`;
    this.#stream.write(`/Span<</ActualText${text}>>BDC\n`);
  }

  endSpan(): void {
    this.#flush();
    this.#stream.write('EMC\n');
  }

  end(): void {
    this.#flush();
    this.#stream.write('ET\n');
  }

  #startLine(x: number, y: number): void {
    this.#flush();
    const placeX = roundTo(x, this.#decimals);
    const placeY = roundTo(y, this.#decimals);
    const dx = formatNumber(placeX - this.#lineX, this.#decimals);
    this.#stream.write(`${dx} ${formatNumber(placeY - this.#lineY, this.#decimals)} Td\n`);
    this.#lineX = placeX;
    this.#lineY = placeY;
    this.#penX = placeX;
  }

  #correct(x: number): void {
    const thousandth = (this.#sizeMm * this.#scale) / 1000;
    const correction = roundTo((this.#penX - x) / thousandth, this.#correctionDecimals);
    this.#penX -= correction * thousandth;
    if (this.#string !== '') this.#elements += `(${this.#string})`;
    this.#string = '';
    this.#elements += formatNumber(correction, this.#correctionDecimals);
  }

  #flush(): void {
    if (this.#elements !== '') {
      const last = this.#string === '' ? '' : `(${this.#string})`;
      this.#stream.write(`[${this.#elements}${last}]TJ\n`);
    } else if (this.#string !== '') {
      this.#stream.write(`(${this.#string})Tj\n`);
    }
    this.#elements = '';
    this.#string = '';
  }
}

function roundTo(value: number, decimals: number): number {
  const power = 10 ** decimals;
  return Math.round(value * power) / power;
}
