/** Which characters a PDF of an engine's program shows as boxes, because no font of the machine has them. */

import type { Report } from '../display/list.js';
import { PLACEHOLDER_NAME } from '../fonts/placeholder.js';
import { inflateSync } from '../zlib.js';
import type { ByteSource } from './byte-source.js';

const WINDOW_BYTES = 1024 * 1024;
/** Longer than a font dictionary. */
const OVERLAP_BYTES = 8 * 1024;
const FONT = new RegExp(
  `/BaseFont ?/[A-Z]{6}\\+${PLACEHOLDER_NAME}\\d(?:(?!endobj)[\\s\\S]){0,4000}?/ToUnicode (\\d{1,9}) 0 R`,
  'g',
);
const LARGEST_MAP_BYTES = 4 * 1024 * 1024;
/** Enough to see which characters are meant. */
const MAX_CHARACTERS = 200;
/** Spaces, and what only joins characters. */
const UNSEEN = /[\s\p{Default_Ignorable_Code_Point}]/u;

/** Reports them as one warning. */
export async function reportMissingCharacters(pdf: ByteSource, report: Report): Promise<void> {
  const characters = new Set<string>();
  for (const number of await mapNumbers(pdf)) {
    for (const character of charactersOf(await mapText(pdf, number))) {
      if (!UNSEEN.test(character)) characters.add(character);
    }
  }
  if (characters.size === 0) return;
  report({
    code: 'glyph_missing',
    message: 'No face has these characters; a box is drawn for each',
    characters: [...characters].sort().slice(0, MAX_CHARACTERS).join(''),
  });
}

/** Numbers of the objects that tell what the glyphs of such fonts stand for. */
async function mapNumbers(pdf: ByteSource): Promise<ReadonlySet<number>> {
  const numbers = new Set<number>();
  for await (const { text } of windows(pdf)) {
    if (!text.includes(`+${PLACEHOLDER_NAME}`)) continue;
    for (const [, number] of text.matchAll(FONT)) numbers.add(Number(number));
  }
  return numbers;
}

async function mapText(pdf: ByteSource, number: number): Promise<string> {
  const start = new RegExp(`[\\r\\n]${number} 0 obj\\b[\\s\\S]{1,500}?stream\\r?\\n`);
  for await (const { at, text } of windows(pdf)) {
    const found = start.exec(text);
    if (found === null) continue;
    try {
      const packed = await pdf.read(at + found.index + found[0].length, LARGEST_MAP_BYTES);
      return inflateSync(packed, { maxOutputLength: LARGEST_MAP_BYTES }).toString('latin1');
    } catch {
      return '';
    }
  }
  return '';
}

async function* windows(pdf: ByteSource): AsyncGenerator<{ readonly at: number; readonly text: string }> {
  for (let at = 0; at < pdf.sizeBytes; at += WINDOW_BYTES) {
    yield { at, text: (await pdf.read(at, WINDOW_BYTES + OVERLAP_BYTES)).toString('latin1') };
  }
}

/** Of a map from codes to Unicode: single codes, and ranges of them. */
function charactersOf(map: string): string[] {
  const single = section(map, 'bfchar').flatMap((lines) =>
    [...lines.matchAll(/<[0-9A-F]+>\s*<([0-9A-F]+)>/gi)].map(([, text = '']) => decoded(text)),
  );
  const ranges = section(map, 'bfrange').flatMap((lines) =>
    [...lines.matchAll(/<([0-9A-F]+)>\s*<([0-9A-F]+)>\s*<([0-9A-F]+)>/gi)].flatMap(
      ([, first = '', last = '', text = '']) => {
        const start = decoded(text).codePointAt(0) ?? 0;
        const count = Math.min(0xff, Number.parseInt(last, 16) - Number.parseInt(first, 16)) + 1;
        return Array.from({ length: Math.max(0, count) }, (_, i) => String.fromCodePoint(start + i));
      },
    ),
  );
  return [...single, ...ranges].flatMap((text) => [...text]);
}

function section(map: string, name: string): string[] {
  return [...map.matchAll(new RegExp(`begin${name}([\\s\\S]*?)end${name}`, 'g'))].map(([, lines = '']) => lines);
}

function decoded(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : '';
}
