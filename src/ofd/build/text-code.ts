/** TextCode and CGTransform as written: the characters, the steps between glyphs, the numbered glyphs. */
import type { XmlElement } from '../xml.js';

/** `CGTransform`: what `codeCount` characters from `position` on are shown by. */
export interface GlyphTransform {
  /** Counted through all TextCodes of the object, or in the one it belongs to. */
  readonly position: number;
  readonly codeCount: number;
  readonly glyphs: readonly number[];
}

/** Steps beyond this lead off any sheet, and their sums out of the numbers. */
const MAX_STEP_MM = 1e6;

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&apos;': "'",
};

/**
 * Steps of DeltaX or DeltaY: numbers, and groups `g n v` for n times v. An incomplete group ends the list; what is no
 * number is passed over.
 *
 * @param most how many steps can be of use; a group is not written out further
 */
export function parseDeltas(text: string | undefined, most: number): number[] {
  const deltas: number[] = [];
  if (text === undefined) return deltas;
  const tokens = text.match(/[gG]|[^\s,gG]+/g) ?? [];
  for (let i = 0; i < tokens.length && deltas.length < most; i++) {
    const token = tokens[i]!;
    if (token === 'g' || token === 'G') {
      const count = Number(tokens[i + 1]);
      const value = Number(tokens[i + 2]);
      if (!Number.isFinite(count) || !isStep(value)) break;
      const room = most - deltas.length;
      for (let n = Math.min(Math.floor(count), room); n > 0; n--) deltas.push(value);
      i += 2;
      continue;
    }
    const value = Number(token);
    if (isStep(value)) deltas.push(value);
  }
  return deltas;
}

function isStep(value: number): boolean {
  return Math.abs(value) <= MAX_STEP_MM;
}

/**
 * The units that steps and code positions count: one string each, '' for the second half of a pair where the producer
 * counted UTF-16.
 *
 * @param steps how many steps the TextCode states; 0 for none. They decide where the text can be read in two ways.
 */
export function codeUnits(raw: string, steps: number): string[] {
  if (isPlain(raw)) return raw.split('');
  const expected = steps > 0 ? steps + 1 : undefined;
  const text = undoEntities(undoEscapes(withoutLineBreaks(raw, expected)), expected);
  const points = Array.from(text);
  const countsUtf16 = text.length !== points.length && text.length === expected && points.length !== expected;
  return countsUtf16 ? points.flatMap((point) => (point.length === 2 ? [point, ''] : [point])) : points;
}

/** Nothing in it that asks for a second look: no line break, backslash, ampersand or surrogate. */
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x26 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff)) return false;
  }
  return true;
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}

/** Line breaks with the indentation after them belong to the XML, unless the steps count them. */
function withoutLineBreaks(raw: string, expected: number | undefined): string {
  if (!/[\r\n]/.test(raw)) return raw;
  const plain = raw.replace(/[\r\n][ \t\r\n]*/g, '');
  const tight = raw.replace(/(?<![ \t])[ \t]*[\r\n][ \t\r\n]*/g, '');
  return [plain, tight, raw].find((candidate) => lengthOf(undoEscapes(candidate)) === expected) ?? plain;
}

/** `\hhhh` stands for a character that XML cannot hold (two for half a pair each), or for a blank; else it is text. */
function undoEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text
    .replace(/\\(d[89ab][0-9a-f]{2})\\(d[c-f][0-9a-f]{2})/gi, (_, high: string, low: string) =>
      String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)),
    )
    .replace(/\\([0-9a-fA-F]{4})/g, (written, digits: string) => {
      const code = Number.parseInt(digits, 16);
      const isMeant = code <= 0x20 || (code >= 0x7f && code <= 0x9f) || code >= 0xfffe;
      return isMeant ? String.fromCharCode(code) : written;
    });
}

/** Entities that were escaped twice, unless the steps count them letter by letter. */
function undoEntities(text: string, expected: number | undefined): string {
  if (!text.includes('&') || lengthOf(text) === expected) return text;
  return text.replace(/&(?:lt|gt|amp|quot|apos);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** A CGTransform, or undefined where it names no glyph. */
export function readTransform(element: XmlElement): GlyphTransform | undefined {
  const text = element.childText('Glyphs') ?? '';
  const glyphs = text
    .split(/[\s,]+/)
    .map(Number)
    .filter((glyph) => Number.isInteger(glyph) && glyph >= 0);
  if (text === '' || glyphs.length === 0) return undefined;
  const codeCount = Math.max(1, element.integer('CodeCount') ?? 1);
  const stated = element.integer('GlyphCount');
  // Producers forget GlyphCount where each character has its glyph.
  const isForgotten = stated === undefined && codeCount === glyphs.length;
  const glyphCount = isForgotten ? glyphs.length : Math.max(1, stated ?? 1);
  return {
    position: Math.max(0, element.integer('CodePosition') ?? 0),
    codeCount,
    glyphs: glyphs.slice(0, glyphCount),
  };
}
