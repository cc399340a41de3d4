/** A page's text line by line, in reading order: what plain text has in a line, and what is selected as one. */
import type { DisplayList } from '../../display/list.js';
import type { Row } from './rows.js';
import { pageSections, type Section } from './sections.js';
import { rowText } from './spacing.js';
import type { TableCell } from './table.js';

/** One row, or the cells of a table's row; at least one. */
export type Line = readonly Row[];

/** Every letter of the page is in one line. */
export function pageLines(list: DisplayList): Line[] {
  return pageSections(list).flatMap(sectionLines);
}

export function lineText(line: Line): string {
  return line.map(rowText).join(' ');
}

function sectionLines(section: Section): Line[] {
  return section.kind === 'flow' ? section.flow.rows.map((row) => [row]) : section.table.rows.flatMap(tableRowLines);
}

/** Cells of one line each stand in one line; else cell after cell, so that no cell's lines are torn apart. */
function tableRowLines(cells: readonly TableCell[]): Line[] {
  const isOneLine = cells.every(({ lines }) => lines.length <= 1);
  const rows = cells.flatMap(({ lines }) => lines);
  return isOneLine ? [rows] : rows.map((row) => [row]);
}
