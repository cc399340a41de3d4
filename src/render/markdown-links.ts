/** Which stretches of a paragraph lie under a link to an address, and how Markdown writes them. */
import type { LinkArea } from '../display/link.js';
import type { Fragment, Letter } from './layout/fragments.js';
import type { Row } from './layout/rows.js';
import { rowLetters } from './layout/spacing.js';
import { escapeInline } from './markdown-escape.js';

/** Height of the middle of a letter over its baseline, in sizes. */
const MIDDLE = 0.35;

/**
 * `text`, made of the letters of `rows` in their order, escaped, with its links. Links to pages and attachments have no
 * place to lead to.
 */
export function writeLinked(text: string, rows: readonly Row[], links: readonly LinkArea[]): string {
  const areas = links.filter(({ target }) => target.kind === 'uri');
  if (areas.length === 0) return escapeInline(text);
  const uris = urisOf(text, rows, areas);
  let written = '';
  for (let start = 0, end = 1; start < text.length; start = end) {
    const uri = uris[start];
    for (end = start + 1; end < text.length && uris[end] === uri; ) end++;
    const part = text.slice(start, end);
    written += uri === undefined ? escapeInline(part) : writeLink(part, uri);
  }
  return written;
}

function writeLink(text: string, uri: string): string {
  const isAddress = /^[a-z][a-z\d+.-]+:[^\s<>]*$/i.test(uri);
  if (text === uri && isAddress) return `<${uri}>`;
  const destination = uri.replace(/[<>|\\]/g, (sign) => encodeURIComponent(sign));
  return `[${escapeInline(text)}](${/[()]/.test(destination) ? `<${destination}>` : destination})`;
}

/** The address under each character; a blank between two letters of one address has it too. */
function urisOf(text: string, rows: readonly Row[], areas: readonly LinkArea[]): (string | undefined)[] {
  const uris: (string | undefined)[] = new Array(text.length).fill(undefined);
  let at = 0;
  for (const { letter, fragment } of rows.flatMap(rowLetters)) {
    const found = placeOf(letter.text, text, at);
    // A blank, or a hyphen that joining took away.
    if (found === undefined) continue;
    const uri = uriAt(letter, fragment, areas);
    const isWithin = uri !== undefined && at > 0 && uris[at - 1] === uri;
    uris.fill(uri, isWithin ? at : found, found + letter.text.length);
    at = found + letter.text.length;
  }
  return uris;
}

/** Where the letter stands in `text`, at `at` or behind the blanks there. */
function placeOf(letter: string, text: string, at: number): number | undefined {
  if (letter.trim() === '') return undefined;
  let start = at;
  while (text[start] === ' ') start++;
  const trimmed = letter.trim();
  return text.startsWith(letter, start) ? start : text.startsWith(trimmed, start) ? start : undefined;
}

/** The address under the middle of a letter; the topmost one. */
function uriAt(
  letter: Letter,
  { angle, isVertical, sizeMm }: Fragment,
  areas: readonly LinkArea[],
): string | undefined {
  const along = isVertical ? letter.x + sizeMm / 2 : (letter.x + letter.right) / 2;
  const across = letter.y - MIDDLE * sizeMm;
  const radians = (angle * Math.PI) / 180;
  const x = along * Math.cos(radians) - across * Math.sin(radians);
  const y = along * Math.sin(radians) + across * Math.cos(radians);
  const area = areas.findLast(
    ({ box }) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height,
  );
  return area?.target.kind === 'uri' ? area.target.uri : undefined;
}
