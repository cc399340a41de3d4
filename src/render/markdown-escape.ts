/** Keeps the characters of a document from being read as Markdown's own. */

/** Text for the middle of a line: every character is shown as it stands. */
export function escapeInline(text: string): string {
  return text
    .replace(/[\\`*[\]|~]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/<(?=[a-zA-Z/!?])/g, '\\<')
    .replace(/&(?=#?\w+;)/g, '&amp;');
}

/** Escaped text for a whole paragraph: what begins a heading, list, quotation or rule at the start of a line is escaped too. */
export function escapeStart(escaped: string): string {
  return escaped
    .replace(/^(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$)|-{3,}\s*$|=+\s*$)/, '\\')
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/, '$1\\');
}
