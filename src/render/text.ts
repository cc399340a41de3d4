/** Plain text: the lines of each page in reading order, a blank line between pages, every character once. */
import type { DisplayList } from '../display/list.js';
import type { Backend, BackendRun, Output, OutputFile } from './backend.js';
import { collectFragments } from './layout/fragments.js';
import { readingOrder } from './layout/reading-order.js';
import { rowText } from './layout/spacing.js';

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
    const text = pageText(list);
    if (text === '') return;
    this.file.write(this.encoder.encode(this.isEmpty ? text : `\n${text}`));
    this.isEmpty = false;
  }

  async end(): Promise<void> {}
}

/** The page's lines, each ended by a newline; '' for a page without text. */
export function pageText(list: DisplayList): string {
  return readingOrder(collectFragments(list.items))
    .flatMap((flow) => flow.rows)
    .map((row) => `${rowText(row)}\n`)
    .join('');
}
