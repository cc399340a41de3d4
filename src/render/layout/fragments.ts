/**
 * Takes the text out of a display list: letters at their places, in pieces that a reader takes in one go (spec 16.1).
 * A piece never holds two lines, a wide gap, or letters of two runs.
 */
import type { Face } from '../../display/face.js';
import { IDENTITY, type Matrix, multiply, transformPoint } from '../../display/geometry.js';
import type { GlyphRun, Item } from '../../display/list.js';
import { type BlankRun, besideBlanks } from './blank-runs.js';
import { DuplicateFilter } from './duplicates.js';
import type { Fragment, Letter } from './fragment.js';
import { isNarrow, pitchesOf } from './pitch.js';
import { isHan, isLeftward } from './scripts.js';

/** Letters that turn less than this are taken for level (or plumb). */
const SNAP_DEGREES = 2;
/** A gap of this many sizes parts two fragments. */
const WIDE_GAP = 3;

interface RawLetter extends Letter {
  readonly advance: number;
  /** The advance before the squeeze that makes a substitute's glyph fit. */
  readonly naturalAdvance: number;
}

interface RunFrame {
  readonly matrix: Matrix;
  readonly angle: number;
  readonly sizeMm: number;
  /** Millimetres an advance unit. */
  readonly unitMm: number;
}

interface RawRun extends RunFrame {
  readonly letters: readonly RawLetter[];
  readonly fontKey: string;
  readonly isBold: boolean;
}

/** All text of a page in paint order, doubled letters (fake bold, shadows) once. */
export function collectFragments(items: readonly Item[]): Fragment[] {
  const runs = collectRuns(items);
  const pitches = pitchesOf(runs);
  const pieces: (Fragment | BlankRun)[] = [];
  for (const run of runs) addPieces(run, pitches.get(run.fontKey) ?? Infinity, pieces);
  return besideBlanks(pieces);
}

function collectRuns(items: readonly Item[]): RawRun[] {
  const runs: RawRun[] = [];
  const duplicates = new DuplicateFilter();
  const visit = (list: readonly Item[], matrix: Matrix) => {
    for (const item of list) {
      if (item.kind === 'group') visit(item.items, multiply(matrix, item.matrix));
      else if (item.kind === 'glyphs') runs.push(rawRun(item, multiply(matrix, item.matrix), duplicates));
    }
  };
  visit(items, IDENTITY);
  return runs;
}

function rawRun(run: GlyphRun, matrix: Matrix, duplicates: DuplicateFilter): RawRun {
  const frame = frameOf(run, matrix);
  const letters = leftToRight(lettersOf(run, frame, duplicates), frame.sizeMm, run.readDirection === 180);
  duplicates.endRun();
  const fontKey = `${run.font?.name ?? ''}\n${run.face.key}`;
  return { ...frame, letters, fontKey, isBold: run.face.isBold || run.emboldenMm > 0 };
}

/** `pitch` in sizes: how far apart narrow letters of the run's font are. */
function addPieces(run: RawRun, pitch: number, pieces: (Fragment | BlankRun)[]): void {
  const isVertical = readsDown(run.letters, run.sizeMm);
  for (const piece of split(run.letters, run.sizeMm, isVertical)) {
    pieces.push(toFragment(piece, run, isVertical, pitch, pieces.length) ?? toBlankRun(piece, run));
  }
}

/** `piece`: blanks, at least one. */
function toBlankRun(piece: readonly RawLetter[], { angle, sizeMm }: RunFrame): BlankRun {
  const left = piece.reduce((least, { x }) => Math.min(least, x), Infinity);
  const right = piece.reduce((most, letter) => Math.max(most, letter.right), -Infinity);
  return { isBlank: true, angle, sizeMm, left, right, baseline: piece[0]!.y };
}

function frameOf(run: GlyphRun, matrix: Matrix): RunFrame {
  const [a, b, c, d] = run.shape;
  const across = vector(matrix, a, b);
  const up = vector(matrix, -c, -d);
  const scale = Math.hypot(up.x, up.y) || Math.hypot(across.x, across.y) || 1e-6;
  const turned = (Math.atan2(across.y, across.x) * 180) / Math.PI;
  return {
    matrix,
    angle: snapAngle(turned),
    sizeMm: run.sizeMm * scale,
    unitMm: (run.sizeMm * Math.hypot(across.x, across.y)) / run.face.unitsPerEm,
  };
}

function vector(m: Matrix, x: number, y: number): { x: number; y: number } {
  return { x: m[0] * x + m[2] * y, y: m[1] * x + m[3] * y };
}

function snapAngle(degrees: number): number {
  const square = Math.round(degrees / 90) * 90;
  const snapped = Math.abs(degrees - square) <= SNAP_DEGREES ? square : Math.round(degrees);
  return ((snapped % 360) + 360) % 360;
}

function lettersOf(run: GlyphRun, frame: RunFrame, duplicates: DuplicateFilter): RawLetter[] {
  const radians = (frame.angle * Math.PI) / 180;
  const cos = Math.cos(radians);
  const sin = Math.sin(radians);
  const letters: RawLetter[] = [];
  for (let i = 0; i < run.glyphIds.length; i++) {
    const characters = run.characters[i] ?? '';
    const text = readable(characters);
    if (text === '' && characters !== '') continue;
    const point = transformPoint(frame.matrix, run.x[i]!, run.y[i]!);
    if (!Number.isFinite(point.x) || !Number.isFinite(point.y)) continue;
    if (text.trim() !== '' && duplicates.isRepeated(text, point.x, point.y, frame.sizeMm)) continue;
    const naturalAdvance = advanceOf(run.face, run.glyphIds[i]!, text, frame);
    const advance = naturalAdvance * (run.xScale?.[i] ?? 1);
    const x = point.x * cos + point.y * sin;
    if (text === '') widen(letters, x, x + advance);
    else letters.push({ text, x, y: point.y * cos - point.x * sin, right: x + advance, advance, naturalAdvance });
  }
  return letters;
}

/**
 * Stretches of letters that go leftwards, turned round; only of scripts that are written so, or where the document asks
 * for it: digits are read to the right whatever the order of painting.
 */
function leftToRight(letters: RawLetter[], sizeMm: number, readsBack: boolean): RawLetter[] {
  if (!readsBack && !letters.some(({ text }) => isLeftward(text))) return letters;
  const turned: RawLetter[] = [];
  for (let from = 0; from < letters.length; ) {
    let to = from + 1;
    while (to < letters.length && isToTheLeft(letters[to - 1]!, letters[to]!, sizeMm)) to++;
    const stretch = letters.slice(from, to).reverse();
    for (const letter of stretch) turned.push(readsBack && to - from > 1 ? { ...letter, isBackward: true } : letter);
    from = to;
  }
  return turned;
}

function isToTheLeft(previous: RawLetter, letter: RawLetter, sizeMm: number): boolean {
  const back = previous.x - letter.x;
  return back > 0 && back <= WIDE_GAP * sizeMm + letter.advance && Math.abs(letter.y - previous.y) <= 0.4 * sizeMm;
}

/** A glyph without characters belongs to the ones before it: their cell reaches to its end. */
function widen(letters: RawLetter[], x: number, right: number): void {
  const last = letters.at(-1);
  if (last === undefined || x < last.x || right <= last.right) return;
  const advance = right - last.x;
  letters[letters.length - 1] = { ...last, right, advance, naturalAdvance: advance };
}

/** Characters without ink or meaning go; a tab is a blank. */
function readable(characters: string): string {
  if (characters.length === 1 && characters > ' ' && characters < '\u007f') return characters;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
  return characters.replace(/\t/g, ' ').replace(/[\u0000-\u001f\u007f-\u009f\ufeff\ufffd]/g, '');
}

function advanceOf(face: Face, glyphId: number, text: string, frame: RunFrame): number {
  const advance = face.advance(glyphId) * frame.unitMm;
  if (advance > 0 && advance < 4 * frame.sizeMm * text.length) return advance;
  return isHan(text.codePointAt(0)!) ? frame.sizeMm : frame.sizeMm / 2;
}

/** Whether most steps between letters go down rather than along the line. */
function readsDown(letters: readonly RawLetter[], sizeMm: number): boolean {
  let down = 0;
  let along = 0;
  for (let i = 1; i < letters.length; i++) {
    const dx = letters[i]!.x - letters[i - 1]!.x;
    const dy = letters[i]!.y - letters[i - 1]!.y;
    if (dy > 0.5 * sizeMm && Math.abs(dx) < 0.4 * sizeMm) down++;
    else if (Math.abs(dx) > 0.1 * sizeMm) along++;
  }
  return down > along;
}

function split(letters: readonly RawLetter[], sizeMm: number, isVertical: boolean): RawLetter[][] {
  const isNext = isVertical ? isBelow : isBeside;
  const pieces: RawLetter[][] = [];
  let piece: RawLetter[] = [];
  let written: RawLetter | undefined;
  for (const letter of letters) {
    const previous = piece.at(-1);
    const isBlank = letter.text.trim() === '';
    // Blanks bridge no gap: what stands between two words of a form may be set in a run of its own.
    const isBridged = !isBlank && written !== undefined && !isNext(written, letter, sizeMm);
    if (previous !== undefined && (isBridged || !isNext(previous, letter, sizeMm))) {
      pieces.push(piece);
      piece = [];
      written = undefined;
    }
    piece.push(letter);
    if (!isBlank) written = letter;
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}

function isBeside(previous: RawLetter, letter: RawLetter, sizeMm: number): boolean {
  const gap = letter.x - previous.x - previous.advance;
  const isForward = letter.x - previous.x > -0.3 * sizeMm;
  return isForward && gap <= WIDE_GAP * sizeMm && Math.abs(letter.y - previous.y) <= 0.4 * sizeMm;
}

function isBelow(previous: RawLetter, letter: RawLetter, sizeMm: number): boolean {
  const step = letter.y - previous.y;
  return step > -0.3 * sizeMm && step <= (1 + WIDE_GAP) * sizeMm && Math.abs(letter.x - previous.x) <= sizeMm;
}

/** No cell goes beyond the next letter; in a run, or a font, of one pitch the last letter's is as wide as the others'. */
function fitCells(letters: readonly RawLetter[], sizeMm: number, fontPitch: number): Letter[] {
  const pitch = fixedPitch(letters, sizeMm);
  return letters.map(({ text, x, y, right: natural, isBackward }, i) => {
    const right = fontPitch < Infinity && isNarrow(text) ? x + fontPitch * sizeMm : natural;
    const end = letters[i + 1]?.x ?? (text < '\u2e80' ? x + pitch : Infinity);
    const cell = { text, x, y, right: end > x ? Math.min(right, end) : right };
    return isBackward === undefined ? cell : { ...cell, isBackward };
  });
}

/** The step of narrow letters that all step alike although the face at hand would not have them so; else Infinity. */
function fixedPitch(letters: readonly RawLetter[], sizeMm: number): number {
  const steps: number[] = [];
  const gaps: number[] = [];
  for (let i = 1; i < letters.length; i++) {
    if (letters[i - 1]!.text >= '\u2e80' || letters[i]!.text >= '\u2e80') continue;
    const step = letters[i]!.x - letters[i - 1]!.x;
    steps.push(step);
    gaps.push(step - letters[i - 1]!.naturalAdvance);
  }
  if (steps.length === 1) return Math.abs(gaps[0]!) >= 0.1 * sizeMm ? steps[0]! : Infinity;
  const isEven = steps.length > 1 && spread(steps) <= 0.04 * sizeMm && spread(gaps) >= 0.03 * sizeMm;
  return isEven ? steps[0]! : Infinity;
}

function spread(values: readonly number[]): number {
  let least = Infinity;
  let most = -Infinity;
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return most - least;
}

function toFragment(
  piece: readonly RawLetter[],
  frame: RawRun,
  isVertical: boolean,
  pitch: number,
  order: number,
): Fragment | undefined {
  const first = piece.findIndex((letter) => letter.text.trim() !== '');
  if (first < 0) return undefined;
  const last = piece.findLastIndex((letter) => letter.text.trim() !== '');
  const kept = piece.slice(first, last + 1);
  const letters = isVertical
    ? kept.map(({ text, x, y, right }) => ({ text, x, y, right }))
    : fitCells(kept, frame.sizeMm, pitch);
  const start = letters[0]!;
  return {
    letters,
    angle: frame.angle,
    isVertical,
    sizeMm: frame.sizeMm,
    left: letters.reduce((least, letter) => Math.min(least, letter.x), Infinity),
    right: letters.reduce((most, letter) => Math.max(most, letter.right), -Infinity),
    baseline: start.y,
    lastBaseline: letters.at(-1)!.y,
    isBold: frame.isBold,
    hasBlankBefore: first > 0,
    hasBlankAfter: last < piece.length - 1,
    hasBlankRunBefore: false,
    hasBlankRunAfter: false,
    order,
  };
}
