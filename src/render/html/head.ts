/** The beginning of the file: what it is called, how it looks. */
import type { DocumentInfo } from '../../display/facts.js';
import { escapeHtml } from './markup.js';
import type { Words } from './words.js';

/** Millimetres of ground between two pages. */
export const PAGE_GAP_MM = 4;

/** Nothing is fetched, nothing runs, whatever a document may have brought along. */
const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * Pages are sheets on a grey ground, one a sheet on paper. Those out of sight are neither laid out nor painted, so that
 * a document of a thousand pages opens at once.
 */
const STYLE = `
html{background:#8b8e92;scroll-padding-top:2mm}
body{margin:0;font:14px/1.5 sans-serif}
main{position:relative;padding:${PAGE_GAP_MM}mm 0}
.page{position:relative;display:block;margin:0 auto ${PAGE_GAP_MM}mm;background:#fff;overflow:hidden;content-visibility:auto}
.page svg{display:block}
.page a{cursor:pointer}
.text text{white-space:pre;cursor:text;user-select:text}
.text ::selection{fill:transparent;color:transparent;background:rgba(0,103,255,.3)}
.place{position:absolute;left:0}
nav{background:#f4f5f6;padding:.5em 1em}
nav ul{list-style:none;margin:0;padding-left:1.2em}
nav>details>ul{padding-left:0}
nav a,.attachments a{color:#0645ad;text-decoration:none}
summary{cursor:pointer}
nav>details>summary{font-weight:bold}
.attachments{background:#fff;margin:0 auto ${PAGE_GAP_MM}mm;max-width:200mm;padding:1px 5mm}
@media screen and (min-width:1100px){
nav{position:fixed;top:0;bottom:0;left:0;width:16rem;box-sizing:border-box;overflow:auto}
nav+main{margin-left:16rem}
}
@media print{
html{background:none}
nav,.attachments{display:none}
main{padding:0}
nav+main{margin-left:0}
.page{margin:0;break-after:page;break-inside:avoid;content-visibility:visible}
}
`;

/** Everything up to the body's content. */
export function headMarkup(info: DocumentInfo, language: string | undefined, words: Words): string {
  const metas = [
    ['author', info.author],
    ['description', info.subject ?? info.abstract],
    ['keywords', info.keywords?.join(', ')],
  ].flatMap(([name, content]) => (content ? [`<meta name="${name}" content="${escapeHtml(content)}">\n`] : []));
  return (
    `<!DOCTYPE html>\n<html${language === undefined ? '' : ` lang="${language}"`}>\n<head>\n<meta charset="utf-8">\n` +
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">\n` +
    `<title>${escapeHtml(info.title?.trim() || words.untitled)}</title>\n${metas.join('')}` +
    `<style>${STYLE}</style>\n</head>\n<body>\n`
  );
}
