/** Which stretches of a paragraph lie under a link to an address, and how Markdown writes them. */
import type { LinkArea } from '../display/link.js';
import type { Fragment, Letter } from './layout/fragment.js';
import type { Row } from './layout/rows.js';
import { startsWithHan } from './layout/scripts.js';
import { rowLetters } from './layout/spacing.js';
import { escapeInline } from './markdown-escape.js';

/** Height of the middle of a letter over its baseline, in sizes. */
const MIDDLE = 0.35;
/** An area that reaches this share of a letter's width cuts the letter. */
const NEAR_START = 0.2;
/** Signs at the end of a line that go with what is before them. */
const MAX_SIGNS = 3;

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

/** The address of each character; a blank between two letters of one address has it too. */
function urisOf(text: string, rows: readonly Row[], areas: readonly LinkArea[]): (string | undefined)[] {
  const lines = rows.map((): Spot[] => []);
  let at = 0;
  rows.forEach((row, line) => {
    for (const { letter, fragment } of rowLetters(row)) {
      const start = placeOf(letter.text, text, at);
      // A blank, or a hyphen that joining took away.
      if (start === undefined) continue;
      at = start + letter.text.length;
      lines[line]!.push({ letter, fragment, start, end: at, uri: uriAt(letter, fragment, areas) });
    }
  });
  const spots = lines.flat();
  takeWords(spots);
  for (const line of lines) takeEnd(line, areas);
  return spread(spots, text.length);
}

/** A letter in the text, from … up to. */
interface Spot {
  readonly letter: Letter;
  readonly fragment: Fragment;
  readonly start: number;
  readonly end: number;
  uri: string | undefined;
  /** Taken although no area has it: the area that ends in its word was drawn by eye. */
  isAdded?: true;
}

function spread(spots: readonly Spot[], length: number): (string | undefined)[] {
  const uris: (string | undefined)[] = new Array(length).fill(undefined);
  let before: Spot | undefined;
  for (const spot of spots) {
    const isWithin = spot.uri !== undefined && before?.uri === spot.uri;
    uris.fill(spot.uri, isWithin ? before!.end : spot.start, spot.end);
    before = spot;
  }
  return uris;
}

/** An area that has half of a word has all of it; less may be a note's number behind the word. */
function takeWords(spots: readonly Spot[]): void {
  for (let from = 0, to = 1; from < spots.length; from = to) {
    for (to = from + 1; to < spots.length && isOneWord(spots[to - 1]!, spots[to]!); ) to++;
    const word = spots.slice(from, to);
    const linked = word.filter(({ uri }) => uri !== undefined);
    const uri = linked[0]?.uri;
    if (uri === undefined || 2 * linked.length < word.length || linked.some((spot) => spot.uri !== uri)) continue;
    for (const spot of word) if (spot.uri === undefined) add(spot, uri);
  }
}

function isOneWord(before: Spot, after: Spot): boolean {
  return before.end === after.start && isOfWord(before) && isOfWord(after);
}

function isOfWord({ letter }: Spot): boolean {
  return /^[\p{L}\p{M}\p{N}]+$/u.test(letter.text) && !startsWithHan(letter.text);
}

function add(spot: Spot, uri: string): void {
  spot.uri = uri;
  spot.isAdded = true;
}

/** A line that has one address up to a letter that its area cuts, or to a sign behind a word that it cuts, has it all. */
function takeEnd(line: readonly Spot[], areas: readonly LinkArea[]): void {
  const uri = line[0]?.uri;
  const end = line.findIndex((spot) => spot.uri !== uri);
  if (uri === undefined || end < 0) return;
  const rest = line.slice(end);
  const isCut = uriAt(rest[0]!.letter, rest[0]!.fragment, areas, NEAR_START) === uri;
  if (!isCut && line[end - 1]!.isAdded === undefined) return;
  const signs = isCut ? rest.slice(1) : rest;
  const areSigns = signs.length <= MAX_SIGNS && signs.every(({ letter }) => /^\p{P}+$/u.test(letter.text));
  if (areSigns && rest.every((spot) => spot.uri === undefined)) for (const spot of rest) add(spot, uri);
}

/** Where the letter stands in `text`, at `at` or behind the blanks there. */
function placeOf(letter: string, text: string, at: number): number | undefined {
  if (letter.trim() === '') return undefined;
  let start = at;
  while (text[start] === ' ') start++;
  const trimmed = letter.trim();
  return text.startsWith(letter, start) ? start : text.startsWith(trimmed, start) ? start : undefined;
}

/** The address under a letter, at this share of its width; the topmost one. */
function uriAt(
  letter: Letter,
  { angle, isVertical, sizeMm }: Fragment,
  areas: readonly LinkArea[],
  share = 0.5,
): string | undefined {
  const along = isVertical ? letter.x + sizeMm / 2 : letter.x + share * (letter.right - letter.x);
  const across = letter.y - MIDDLE * sizeMm;
  const radians = (angle * Math.PI) / 180;
  const x = along * Math.cos(radians) - across * Math.sin(radians);
  const y = along * Math.sin(radians) + across * Math.cos(radians);
  const area = areas.findLast(
    ({ box }) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height,
  );
  return area?.target.kind === 'uri' ? area.target.uri : undefined;
}
