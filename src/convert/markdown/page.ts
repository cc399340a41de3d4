/** A Markdown text as one HTML document that needs nothing beside it, on screen and on paper. */
import { languageOf } from '../../render/language.js';
import { type MarkdownEnvironment, markdownParser } from './parser.js';

/** Families that are there on most machines come before what stands in for them. */
const SANS =
  "'Noto Sans CJK SC', 'Source Han Sans SC', 'Microsoft YaHei', 'PingFang SC', 'WenQuanYi Micro Hei', sans-serif";
const MONO = "'DejaVu Sans Mono', 'Liberation Mono', Consolas, 'Noto Sans Mono CJK SC', monospace";

const STYLE = `
@page { margin: 20mm 18mm; }
body { margin: 0 auto; max-width: 46em; padding: 1em; font: 11pt/1.65 ${SANS}; color: #1a1a1a; overflow-wrap: break-word; }
h1, h2, h3, h4, h5, h6 { line-height: 1.3; margin: 1.4em 0 0.6em; break-after: avoid; }
h1 { font-size: 1.9em; margin-top: 0; }
h2 { font-size: 1.5em; border-bottom: 1px solid #d8d8d8; padding-bottom: 0.2em; }
h3 { font-size: 1.25em; }
h4, h5, h6 { font-size: 1.05em; }
p, ul, ol, blockquote, pre, table { margin: 0 0 0.9em; orphans: 2; widows: 2; }
li > ul, li > ol { margin-bottom: 0; }
a { color: #0b57a4; }
blockquote { border-left: 3px solid #c8c8c8; color: #555; padding-left: 1em; margin-left: 0; }
code { font-family: ${MONO}; font-size: 0.9em; background: #f3f3f3; padding: 0.1em 0.3em; border-radius: 3px; }
pre { background: #f6f6f6; border: 1px solid #e2e2e2; border-radius: 4px; padding: 0.7em 0.9em; white-space: pre-wrap; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
th, td { border: 1px solid #c8c8c8; padding: 0.35em 0.7em; text-align: left; vertical-align: top; }
th { background: #f3f3f3; }
img { max-width: 100%; break-inside: avoid; }
.missing-picture { border: 1px dashed #b0b0b0; color: #666; padding: 0 0.4em; }
sup { line-height: 0; }
.footnotes { font-size: 0.9em; }
hr { border: 0; border-top: 1px solid #d0d0d0; margin: 1.5em 0; }
@media print { body { max-width: none; padding: 0; } }
`;

/** Letters that are no text. */
const EMBEDDED = /\bdata:image\/[^\s)]*/g;

const DEFAULT_TITLE = 'Document';
const LONGEST_TITLE = 300;

/** @param onMissingPicture told of each picture that is not in the text itself */
export function markdownPage(source: string, onMissingPicture: (address: string) => void): string {
  const parser = markdownParser();
  const { body, title: declared } = withoutFrontMatter(source);
  const env: MarkdownEnvironment = { onMissingPicture };
  const content = parser.render(body, env);
  const title = [...(declared ?? env.title ?? DEFAULT_TITLE)].slice(0, LONGEST_TITLE).join('');
  return [
    '<!DOCTYPE html>',
    `<html lang="${languageOf(body.replace(EMBEDDED, '')) === 'zh' ? 'zh-CN' : 'en'}">`,
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${parser.utils.escapeHtml(title)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    `${content}</body>`,
    '</html>',
    '',
  ].join('\n');
}

const LONGEST_FRONT_MATTER = 16 * 1024;

/** A block of `key: value` lines between two lines of dashes at the very beginning is about the document, not of it. */
function withoutFrontMatter(source: string): { readonly body: string; readonly title: string | undefined } {
  const start = source.slice(0, LONGEST_FRONT_MATTER);
  const block = /^---[ \t]*\r?\n((?:[\w-]+[ \t]*:.*\r?\n|[ \t#-].*\r?\n)+)---[ \t]*(?:\r?\n|$)/.exec(start);
  if (!block) return { body: source, title: undefined };
  const title = /^title[ \t]*:[ \t]*(.+?)[ \t]*$/im.exec(block[1] ?? '')?.[1]?.replace(/^(["'])(.*)\1$/, '$2');
  return { body: source.slice(block[0].length), title };
}
