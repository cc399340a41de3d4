/** Joins the lines of a flow to paragraphs (spec 16.2). */
import type { Flow } from './reading-order.js';
import type { Row } from './rows.js';
import { endsInHan, startsWithHan } from './scripts.js';
import { rowCells, rowText } from './spacing.js';

export interface Paragraph {
  readonly text: string;
  readonly rows: readonly Row[];
  /** The size of its letters. */
  readonly sizeMm: number;
  readonly isBold: boolean;
  /** Baseline of the first row, in the flow's frame. */
  readonly baseline: number;
}

/** Lines further apart than this, in sizes, are no neighbours. */
const MAX_PITCH = 2.4;
/** The same, as a share of the usual distance of this text. */
const MAX_PITCH_RATIO = 1.5;
const SAME_SIZE = 0.12;
/** A line of this many sizes at most is a label, no line of a text that goes on. */
const LABEL_SIZES = 4;
/** So is one of as many letters a little apart, unless the next line is as long as it is: both fill a narrow cell. */
const LOOSE_LABEL_SIZES = 4.2;
/** A line may begin an item: 第一条, 一、, （一）, 1., 1、, (1), a bullet. */
const ITEM_START =
  /^(?:第[一二三四五六七八九十百零〇\d]+[条章节编款项]|[一二三四五六七八九十]+、|[（(][一二三四五六七八九十\d]+[)）]|\d{1,3}(?:[.．、)）](?!\d)|(?:\.\d{1,3})+\s)|[•●·▪◆■○]|[-–—]\s)/u;
const SENTENCE_END = /[。！？；：!?;:]["'”’」』）)]*$/u;

/**
 * Every row is in one paragraph; a line that goes on the one before is joined to it. Rows with the same value in `parts`
 * are one paragraph, those with another one, or without any, are not in it.
 */
export function paragraphsOf(flow: Flow, parts?: ReadonlyMap<Row, unknown>): Paragraph[] {
  const pitch = usualPitch(flow.rows);
  const groups: Row[][] = [];
  for (const row of flow.rows) {
    const group = groups.at(-1);
    const part = parts?.get(row);
    const isApart = group !== undefined && parts?.get(group[0]!) !== part;
    const goesOn = group !== undefined && (part !== undefined || continues(group, row, flow, pitch));
    if (group !== undefined && goesOn && !isApart) group.push(row);
    else groups.push([row]);
  }
  return groups.map(toParagraph);
}

function toParagraph(rows: readonly Row[]): Paragraph {
  return {
    text: rows.map(rowText).reduce(joinLines),
    rows,
    sizeMm: rows[0]!.sizeMm,
    isBold: rows.every((row) => row.isBold),
    baseline: rows[0]!.top,
  };
}

/** Nothing between Han characters; a blank between words; a hyphen between small letters goes. */
export function joinLines(before: string, after: string): string {
  if (before === '' || after === '') return before + after;
  if (endsInHan(before) || startsWithHan(after)) return before + after;
  if (/[a-z]-$/.test(before) && /^[a-z]/.test(after)) return before.slice(0, -1) + after;
  return `${before} ${after}`;
}

/** Median distance of neighbouring lines of one size, in sizes. */
function usualPitch(rows: readonly Row[]): number {
  const distances: number[] = [];
  for (let i = 1; i < rows.length; i++) {
    const distance = rows[i]!.baseline - rows[i - 1]!.baseline;
    const pitch = distance / rows[i]!.sizeMm;
    if (pitch > 0.5 && pitch <= MAX_PITCH && isSameSize(rows[i]!, rows[i - 1]!)) distances.push(pitch);
  }
  distances.sort((a, b) => a - b);
  return distances[(distances.length - 1) >> 1] ?? Infinity;
}

function continues(group: readonly Row[], row: Row, flow: Flow, pitch: number): boolean {
  const previous = group.at(-1)!;
  if (row.isVertical || previous.isVertical || !isSameSize(previous, row)) return false;
  if (rowCells(previous).length > 1 || rowCells(row).length > 1) return false;
  const distance = (row.baseline - previous.baseline) / row.sizeMm;
  if (distance <= 0 || distance > MAX_PITCH || distance > MAX_PITCH_RATIO * pitch) return false;
  const text = rowText(row);
  const isInPlace = isAligned(group, row) || isCentred([...group, row], flow);
  return isInPlace && isFull(group, text, row, flow) && !ITEM_START.test(text);
}

function isSameSize(a: Row, b: Row): boolean {
  return Math.abs(a.sizeMm - b.sizeMm) <= SAME_SIZE * Math.max(a.sizeMm, b.sizeMm);
}

/** On the edge of the lines before, or, as the second line, to the left of an indented first. */
function isAligned(group: readonly Row[], row: Row): boolean {
  const shift = row.left - group.at(-1)!.left;
  if (Math.abs(shift) <= 0.6 * row.sizeMm) return true;
  return group.length === 1 && shift < 0 && shift >= -4.5 * row.sizeMm;
}

/** Lines in the middle of a cell, as labels of forms stand there. */
function isCentred(rows: readonly Row[], { left, right, isCell = false }: Flow): boolean {
  const middle = (left + right) / 2;
  return isCell && rows.every((row) => Math.abs((row.left + row.right) / 2 - middle) <= 0.5 * row.sizeMm);
}

/** The first word of the next line would not have fitted behind the line, and it does not look like an end. */
function isFull(group: readonly Row[], nextText: string, next: Row, flow: Flow): boolean {
  const previous = group.at(-1)!;
  if (isLabel(previous, next)) return false;
  // A line that alone reaches the edge proves no edge: where it ends a sentence, the paragraph may end with it.
  if (SENTENCE_END.test(rowText(previous)) && isAloneAtEdge(previous, group, next, flow)) return false;
  const room = isAligned(group, next)
    ? Math.min(flow.right, ownEdge(group, next)) - previous.right
    : flow.right - flow.left - (previous.right - previous.left);
  const isHanNext = startsWithHan(nextText);
  const letters = next.fragments.flatMap((fragment) => fragment.letters);
  const word = isHanNext ? letters.slice(0, 1) : letters.slice(0, Math.max(1, nextText.search(/\s|$/)));
  const wordWidth = word.at(-1)!.right - word[0]!.x;
  const needed = isHanNext ? wordWidth + 1.2 * next.sizeMm : wordWidth + 0.6 * next.sizeMm;
  if (room > needed) return false;
  return !(SENTENCE_END.test(rowText(previous)) && room > next.sizeMm);
}

function isLabel(row: Row, next: Row): boolean {
  const width = row.right - row.left;
  const isShorter = next.right < row.right - 0.5 * row.sizeMm;
  return width <= (isShorter ? LOOSE_LABEL_SIZES : LABEL_SIZES) * row.sizeMm;
}

function isAloneAtEdge(row: Row, group: readonly Row[], next: Row, flow: Flow): boolean {
  const reaches = (other: Row) => other !== row && other.right >= row.right - row.sizeMm;
  return !reaches(next) && !group.some(reaches) && !flow.rows.some(reaches);
}

/** The right edge as the paragraph itself shows it: by lines that were joined, or by an indented first line. */
function ownEdge(group: readonly Row[], next: Row): number {
  const right = group.reduce((most, row) => Math.max(most, row.right), next.right);
  const isIndented = group.length === 1 && group[0]!.left - next.left > next.sizeMm;
  return group.length > 1 || isIndented ? right : Infinity;
}
