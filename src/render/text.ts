/** Plain text: the lines of each page in reading order, a blank line between pages, every character once. */
import type { DisplayList } from '../display/list.js';
import type { Backend, BackendRun, Output, OutputFile } from './backend.js';
import { pageSections, type Section } from './layout/sections.js';
import { rowText } from './layout/spacing.js';
import type { TableCell } from './layout/table.js';

export const textBackend: Backend = {
  format: 'txt',
  paging: 'document',
  start: (output) => new TextRun(output),
};

class TextRun implements BackendRun {
  private readonly file: OutputFile;
  private readonly encoder = new TextEncoder();
  private isEmpty = true;

  constructor(output: Output) {
    this.file = output.openDocument();
  }

  async page(list: DisplayList): Promise<void> {
    const text = pageSections(list)
      .flatMap(sectionLines)
      .map((line) => `${line}\n`)
      .join('');
    if (text === '') return;
    this.file.write(this.encoder.encode(this.isEmpty ? text : `\n${text}`));
    this.isEmpty = false;
  }

  async end(): Promise<void> {}
}

function sectionLines(section: Section): string[] {
  return section.kind === 'flow' ? section.flow.rows.map(rowText) : section.table.rows.flatMap(tableRowLines);
}

/** Cells of one line each stand in one line; else cell after cell, so that no cell's lines are torn apart. */
function tableRowLines(cells: readonly TableCell[]): string[] {
  const texts = cells.map((cell) => cell.lines.map(rowText));
  return texts.every((lines) => lines.length <= 1) ? [texts.flat().join(' ')] : texts.flat();
}
