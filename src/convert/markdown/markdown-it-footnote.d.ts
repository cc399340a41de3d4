/** markdown-it-footnote ships no types. */
declare module 'markdown-it-footnote' {
  import type { MarkdownIt } from 'markdown-it';

  export default function footnotes(parser: MarkdownIt): void;
}
