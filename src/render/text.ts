/** Plain text: the lines of each page in reading order, a blank line between pages, every character once. */
import type { DisplayList } from '../display/list.js';
import type { Backend, BackendRun, Output, OutputFile } from './backend.js';
import { lineText, pageLines } from './layout/lines.js';

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
    const text = pageLines(list)
      .map((line) => `${lineText(line)}\n`)
      .join('');
    if (text === '') return;
    this.file.write(this.encoder.encode(this.isEmpty ? text : `\n${text}`));
    this.isEmpty = false;
  }

  async end(): Promise<void> {}
}
