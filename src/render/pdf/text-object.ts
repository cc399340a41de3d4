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
const CORRECTION_STEP_MM = 0.01;

/** Part of a hundredth to which a horizontal scale is rounded. */
const SCALE_DECIMALS = 2;

/** Gaps of one width that are worth an operator of their own. */
const FEWEST_EQUAL_GAPS = 3;

/** Characters after which a string literal is ended: PDF/A allows 32,767 bytes. */
const LONGEST_STRING = 32_000;

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
  const first = multiply(matrix, multiply(translation(run.x[0]!, run.y[0]!), shape));
  // Outlines have y up and the space has y down.
  const upright = multiply(first, [1, 0, 0, -1, 0, 0]);
  stream.write(`BT\n${formatMatrix(upright, stream.decimals)} Tm\n`);
  const glyphs = placedGlyphs(run, codes, shape);
  const text = new TextObject(stream, run.sizeMm, multiply(matrix, shape), glyphs);
  for (let start = 0; start < glyphs.length; ) {
    const end = clusterEnd(glyphs, start);
    const { characters } = glyphs[start]!.code.glyph;
    const needsSpan = end - start > 1 || characters === '';
    if (needsSpan) text.beginSpan(characters);
    for (let i = start; i < end; i++) text.show(glyphs[i]!);
    if (needsSpan) text.endSpan();
    start = end;
  }
  text.end();
}

/** A glyph with its place in text space, from the first glyph. */
interface PlacedGlyph {
  readonly code: Code;
  readonly x: number;
  readonly y: number;
  /** Horizontal scale in hundredths, as written. */
  readonly percent: number;
}

function placedGlyphs(run: GlyphRun, codes: FaceCodes, shape: Matrix): PlacedGlyph[] {
  const [a, b, c, d] = invert([shape[0], shape[1], -shape[2], -shape[3], 0, 0])!;
  return run.glyphIds.map((glyphId, i) => {
    const dx = run.x[i]! - run.x[0]!;
    const dy = run.y[i]! - run.y[0]!;
    const xScale = run.xScale?.[i] ?? 1;
    return {
      code: codes.codeFor(glyphId, run.characters[i] ?? ''),
      x: a * dx + c * dy,
      y: b * dx + d * dy,
      percent: xScale > 0 ? Math.max(1, roundTo(100 * xScale, SCALE_DECIMALS)) : 100,
    };
  });
}

/** What is most often left between the glyphs of a line, in units of text space before the scale; 0 for nothing. */
function commonGap(glyphs: readonly PlacedGlyph[], sizeMm: number, tolerance: number): number {
  const gaps: number[] = [];
  for (let i = 1; i < glyphs.length; i++) {
    const { code, x, y, percent } = glyphs[i - 1]!;
    const next = glyphs[i]!;
    if (Math.abs(next.y - y) > tolerance) continue;
    gaps.push(((next.x - x) * 100) / percent - (code.glyph.width / 1000) * sizeMm);
  }
  gaps.sort((one, other) => one - other);
  const gap = gaps[gaps.length >> 1] ?? 0;
  const equal = gaps.filter((other) => Math.abs(other - gap) <= tolerance).length;
  return Math.abs(gap) > tolerance && equal >= FEWEST_EQUAL_GAPS ? roundFactor(gap) : 0;
}

/** The glyph after those that stand together for the characters of glyph `start`. */
function clusterEnd(glyphs: readonly PlacedGlyph[], start: number): number {
  let end = start + 1;
  while (glyphs[end]?.code.glyph.characters === '') end++;
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
  #percent = 0;
  readonly #spacing: number;
  #font: CodedFont | undefined;
  /** Elements of the array being gathered, and the string at its end. */
  #elements = '';
  #string = '';

  constructor(stream: ContentStream, sizeMm: number, toCurrent: Matrix, glyphs: readonly PlacedGlyph[]) {
    const unitMm = stream.unitMm * meanScale(toCurrent);
    this.#stream = stream;
    this.#sizeMm = sizeMm;
    this.#decimals = coordinateDecimals(unitMm);
    this.#tolerance = TOLERANCE_MM / unitMm;
    const thousandthMm = (sizeMm * unitMm) / 1000;
    this.#correctionDecimals = Math.min(6, Math.max(0, Math.ceil(Math.log10(thousandthMm / CORRECTION_STEP_MM))));
    this.#spacing = commonGap(glyphs, sizeMm, this.#tolerance);
    stream.setCharacterSpacing(this.#spacing);
  }

  show({ code, x, y, percent }: PlacedGlyph): void {
    this.#setScale(percent);
    this.#setFont(code.font);
    if (Math.abs(y - this.#lineY) > this.#tolerance) this.#startLine(x, y);
    else if (Math.abs(x - this.#penX) > this.#tolerance) this.#correct(x);
    if (this.#string.length > LONGEST_STRING) this.#breakString();
    this.#string += LITERAL_BYTES[code.value >> 8]! + LITERAL_BYTES[code.value & 255]!;
    this.#penX += ((code.glyph.width / 1000) * this.#sizeMm + this.#spacing) * (percent / 100);
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

  #setScale(percent: number): void {
    if (percent === this.#percent) return;
    this.#flush();
    this.#stream.setHorizontalScale(percent);
    this.#percent = percent;
  }

  #setFont(font: CodedFont): void {
    if (font === this.#font) return;
    this.#flush();
    this.#stream.setFont(font.reference, this.#sizeMm);
    this.#font = font;
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
    const thousandth = (this.#sizeMm * this.#percent) / 100_000;
    const correction = roundTo((this.#penX - x) / thousandth, this.#correctionDecimals);
    this.#penX -= correction * thousandth;
    this.#breakString();
    this.#elements += formatNumber(correction, this.#correctionDecimals);
  }

  #breakString(): void {
    if (this.#string !== '') this.#elements += `(${this.#string})`;
    this.#string = '';
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
