/** Writes the sections of a page as Markdown blocks, each ended by a newline. */
import type { LinkArea } from '../display/link.js';
import { type Paragraph, paragraphsOf } from './layout/paragraphs.js';
import type { Flow } from './layout/reading-order.js';
import type { Row } from './layout/rows.js';
import type { Section } from './layout/sections.js';
import { rowCells, rowText } from './layout/spacing.js';
import type { Table, TableCell } from './layout/table.js';
import { escapeStart } from './markdown-escape.js';
import type { Heading } from './markdown-headings.js';
import { writeLinked } from './markdown-links.js';

/** Size of a heading as a ratio of the body's, from the first level down. */
const HEADING_RATIOS = [2, 1.75, 1.5, 1.3, 1.15];
const MAX_HEADING_LETTERS = 80;
const PARAGRAPH_END = /[。．.？！?!；;，,：:]$/u;
const BULLET = /^[•●▪◆■○]\s*(?=\S)/u;
const NUMBERED = /^\d{1,9}[.)]\s+(?=\S)/;
/** A field of a form: its name, and often its value. */
const LABEL = /^\S[^：:]{0,11}[：:]/u;
/** What a comment cannot hold. */
const UNFIT_FOR_COMMENT = /--/;
/** Between the text of a cell and its rule, at least. */
const CELL_PADDING_MM = 0.5;

/** A slanted word that stands this often on a page is a watermark. */
const WATERMARK_REPEATS = 3;

/** What a page's text is written by. */
export interface MarkdownContext {
  /** Size of the body text. */
  readonly bodyMm: number;
  readonly links: readonly LinkArea[];
  /** Headings that the outline names. */
  readonly headings: ReadonlyMap<Row, Heading>;
  /** Rows that only repeat what other pages have at the same place. */
  readonly repeated: ReadonlySet<Row>;
}

/** A watermark comes once a page, everything else as often as it stands there. */
export function markdownBlocks(sections: readonly Section[], context: MarkdownContext): string[] {
  const repeats = countStamps(sections);
  const written = new Set<string>();
  const parts = new Map<Row, unknown>(context.headings);
  for (const row of context.repeated) parts.set(row, row);
  return sections.flatMap((section) => {
    if (section.kind === 'table') return [writeTable(section.table, context)];
    const key = stampKey(section.flow);
    if (key !== undefined && written.has(key) && repeats.get(key)! >= WATERMARK_REPEATS) return [];
    if (key !== undefined) written.add(key);
    return paragraphsOf(section.flow, parts).map((paragraph) => writeParagraph(paragraph, context));
  });
}

function countStamps(sections: readonly Section[]): Map<string, number> {
  const repeats = new Map<string, number>();
  for (const section of sections) {
    const key = section.kind === 'flow' ? stampKey(section.flow) : undefined;
    if (key !== undefined) repeats.set(key, (repeats.get(key) ?? 0) + 1);
  }
  return repeats;
}

/** Slant and text of a stamp of two letters or more; undefined for what is no stamp. */
function stampKey(flow: Flow): string | undefined {
  const row = flow.rows[0]!;
  const { angle } = row.fragments[0]!;
  if (angle % 90 === 0 || flow.rows.length > 1) return undefined;
  const text = rowText(row);
  return [...text].length > 1 ? `${angle} ${text}` : undefined;
}

function writeParagraph(paragraph: Paragraph, context: MarkdownContext): string {
  const { text, rows } = paragraph;
  if (context.repeated.has(rows[0]!) && !UNFIT_FOR_COMMENT.test(text)) return `<!-- ${text} -->\n`;
  const write = (part: string) => writeLinked(part, rows, context.links);
  const level = context.headings.get(rows[0]!)?.level ?? headingLevel(paragraph, context.bodyMm);
  if (level > 0) return `${'#'.repeat(level)} ${write(text)}\n`;
  const bullet = BULLET.exec(text);
  if (bullet !== null) return `- ${escapeStart(write(text.slice(bullet[0].length)))}\n`;
  const number = NUMBERED.exec(text);
  if (number !== null) {
    return `${number[0].trim()} ${escapeStart(write(text.slice(number[0].length)))}\n`;
  }
  return `${escapeStart(write(text))}\n`;
}

/** 0 for no heading. */
function headingLevel(paragraph: Paragraph, bodyMm: number): number {
  const { text, rows, sizeMm } = paragraph;
  if (bodyMm <= 0 || text.length > MAX_HEADING_LETTERS || PARAGRAPH_END.test(text)) return 0;
  if (!/\p{L}/u.test(text)) return 0; // numbers and signs alone name no section
  if (isOfForm(rows[0]!)) return 0;
  return 1 + HEADING_RATIOS.findIndex((ratio) => sizeMm / bodyMm >= ratio);
}

/** A label and what else stands in its line: fields of a form name no section, however large they are. */
function isOfForm(row: Row): boolean {
  const [first, ...others] = rowCells(row);
  return first !== undefined && others.length > 0 && LABEL.test(first.text);
}

function writeTable(table: Table, context: MarkdownContext): string {
  const lines = table.rows.map((row) => `| ${row.map((cell) => writeCell(cell, context)).join(' | ')} |`);
  const rule = `|${' --- |'.repeat(table.rows[0]!.length)}`;
  return `${[lines[0], rule, ...lines.slice(1)].join('\n')}\n`;
}

function writeCell(cell: TableCell, { links }: MarkdownContext): string {
  const flow = { rows: cell.lines, left: cell.left, right: cell.right - CELL_PADDING_MM, isCell: true } as const;
  return paragraphsOf(flow)
    .map(({ text, rows }) => writeLinked(text, rows, links))
    .join('<br>');
}
