/** Writes one block as Markdown, ended by a newline. */
import type { Block, TableBlock } from './layout/blocks.js';
import type { Paragraph } from './layout/paragraphs.js';
import type { SizeCensus } from './layout/sizes.js';
import { escapeInline, escapeParagraph } from './markdown-escape.js';

/** Size of a heading as a ratio of the body's, from the first level down. */
const HEADING_RATIOS = [2, 1.75, 1.5, 1.3, 1.15];
const MAX_HEADING_LETTERS = 80;
const MIN_PARAGRAPH_END = /[。．.？！?!；;，,：:]$/u;
const BULLET = /^[•●▪◆■○]\s*(?=\S)/u;
const NUMBERED = /^\d{1,9}[.)]\s+(?=\S)/;

export function writeBlock(block: Block, sizes: SizeCensus): string {
  return block.kind === 'table' ? writeTable(block) : writeParagraph(block.paragraph, sizes.bodyMm);
}

function writeParagraph(paragraph: Paragraph, bodyMm: number): string {
  const { text } = paragraph;
  const level = headingLevel(paragraph, bodyMm);
  if (level > 0) return `${'#'.repeat(level)} ${escapeInline(text)}\n`;
  const bullet = BULLET.exec(text);
  if (bullet !== null) return `- ${escapeParagraph(text.slice(bullet[0].length))}\n`;
  const number = NUMBERED.exec(text);
  if (number !== null) return `${number[0].trim()} ${escapeParagraph(text.slice(number[0].length))}\n`;
  return `${escapeParagraph(text)}\n`;
}

/** 0 for no heading. */
function headingLevel(paragraph: Paragraph, bodyMm: number): number {
  const { text, sizeMm } = paragraph;
  if (bodyMm <= 0 || text.length > MAX_HEADING_LETTERS || MIN_PARAGRAPH_END.test(text)) return 0;
  if (!/\p{L}/u.test(text)) return 0; // numbers and signs alone name no section
  return 1 + HEADING_RATIOS.findIndex((ratio) => sizeMm / bodyMm >= ratio);
}

function writeTable(table: TableBlock): string {
  const lines = table.rows.map((row) => `| ${row.map(writeCell).join(' | ')} |`);
  const columns = table.rows[0]?.length ?? 0;
  const rule = `|${' --- |'.repeat(columns)}`;
  return `${[lines[0], rule, ...lines.slice(1)].join('\n')}\n`;
}

function writeCell(paragraphs: readonly string[]): string {
  return paragraphs.map(escapeInline).join('<br>');
}
