/** Markdown: paragraphs joined from lines, headings, lists, links, and tables from ruled lines (spec chapter 16). */
import type { LinkArea } from '../display/link.js';
import type { DisplayList } from '../display/list.js';
import type { Backend, BackendRun, Output, OutputFile, RenderOptions } from './backend.js';
import { type PageEdges, pageEdges, RepeatedEdges } from './layout/page-edges.js';
import { pageSections, type Section } from './layout/sections.js';
import { SizeCensus } from './layout/sizes.js';
import { markdownBlocks } from './markdown-blocks.js';
import { OutlineHeadings } from './markdown-headings.js';

export const markdownBackend: Backend = {
  format: 'md',
  paging: 'document',
  start: (output, options) => new MarkdownRun(output, options),
};

/** A page that waits for the next one: that may show what is repeated at the edges of both. */
interface WaitingPage {
  readonly sections: readonly Section[];
  readonly edges: PageEdges;
  readonly links: readonly LinkArea[];
}

class MarkdownRun implements BackendRun {
  private readonly file: OutputFile;
  private readonly encoder = new TextEncoder();
  private readonly sizes = new SizeCensus();
  private readonly repeated = new RepeatedEdges();
  private readonly options: RenderOptions;
  private outline: OutlineHeadings | undefined;
  private waiting: WaitingPage | undefined;
  private isEmpty = true;

  constructor(output: Output, options: RenderOptions) {
    this.file = output.openDocument();
    this.options = options;
  }

  async page(list: DisplayList): Promise<void> {
    const sections = pageSections(list);
    const edges = pageEdges(sections, list.pageNumber, list.heightMm);
    this.writeWaiting(edges);
    this.sizes.add(sections);
    this.waiting = { sections, edges, links: list.links ?? [] };
  }

  async end(): Promise<void> {
    this.writeWaiting(undefined);
  }

  private writeWaiting(next: PageEdges | undefined): void {
    if (this.waiting === undefined) return;
    const { sections, edges, links } = this.waiting;
    const { bodyMm } = this.sizes;
    this.outline ??= new OutlineHeadings(this.options.documents);
    const headings = this.outline.find(edges.pageNumber, sections);
    const repeated = this.repeated.take(edges, next, bodyMm);
    const text = markdownBlocks(sections, { bodyMm, links, headings, repeated }).join('\n');
    if (text === '') return;
    this.file.write(this.encoder.encode(this.isEmpty ? text : `\n${text}`));
    this.isEmpty = false;
  }
}
