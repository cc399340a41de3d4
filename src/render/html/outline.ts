/** The outline as a list of links that folds without a script. */
import type { OutlineEntry } from '../../display/facts.js';
import { escapeHtml, hrefAttribute } from './markup.js';
import type { Targets } from './targets.js';
import type { Words } from './words.js';

/** '' for a document without one. */
export function outlineElement(entries: readonly OutlineEntry[], targets: Targets, words: Words): string {
  if (entries.length === 0) return '';
  const content = `<details open>\n<summary>${words.outline}</summary>\n${list(entries, targets)}</details>\n`;
  return `<nav aria-label="${words.outline}">\n${content}</nav>\n`;
}

function list(entries: readonly OutlineEntry[], targets: Targets): string {
  return `<ul>\n${entries.map((entry) => item(entry, targets)).join('')}</ul>\n`;
}

function item(entry: OutlineEntry, targets: Targets): string {
  const href = entry.target && targets.href(entry.target);
  const text = escapeHtml(entry.title.trim() === '' ? '…' : entry.title);
  const title = href === undefined ? text : `<a${hrefAttribute(href)}>${text}</a>`;
  if (entry.children.length === 0) return `<li>${title}</li>\n`;
  const state = entry.isExpanded ? ' open' : '';
  return `<li><details${state}><summary>${title}</summary>\n${list(entry.children, targets)}</details></li>\n`;
}
