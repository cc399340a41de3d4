/** Markdown: paragraphs joined from lines, headings by size, lists, and tables from ruled lines (spec chapter 16). */
import type { DisplayList } from '../display/list.js';
import type { Backend, BackendRun, Output, OutputFile } from './backend.js';
import { pageSections } from './layout/sections.js';
import { SizeCensus } from './layout/sizes.js';
import { markdownBlocks } from './markdown-blocks.js';

export const markdownBackend: Backend = {
  format: 'md',
  paging: 'document',
  start: (output) => new MarkdownRun(output),
};

class MarkdownRun implements BackendRun {
  private readonly file: OutputFile;
  private readonly encoder = new TextEncoder();
  private readonly sizes = new SizeCensus();
  private isEmpty = true;

  constructor(output: Output) {
    this.file = output.openDocument();
  }

  async page(list: DisplayList): Promise<void> {
    const sections = pageSections(list);
    this.sizes.add(sections);
    const text = markdownBlocks(sections, this.sizes.bodyMm).join('\n');
    if (text === '') return;
    this.file.write(this.encoder.encode(this.isEmpty ? text : `\n${text}`));
    this.isEmpty = false;
  }

  async end(): Promise<void> {}
}
