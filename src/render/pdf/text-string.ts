/** Text strings: plain where they are ASCII, else UTF-16. */
import { PDFHexString, type PDFObject, PDFString } from './pdf-lib.js';

/** Characters of the longest text that PDF/A allows in one string: 32,767 bytes less the byte order mark. */
const MAX_CHARACTERS = 16_382;

/** `text` as an object; its end is cut where it is longer than a string may be. */
export function textString(text: string): PDFObject {
  const short = shortened(text);
  return isPlain(short) ? PDFString.of(short.replace(/[\\()]/g, '\\$&')) : PDFHexString.fromText(short);
}

/** As much of `text` as `textString` keeps. */
export function shortened(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : text.slice(0, MAX_CHARACTERS).replace(/[\ud800-\udbff]$/, '');
}

/** The order of the strings that two texts become, as name trees want it. */
export function compareAsStrings(one: string, other: string): number {
  const [a, b] = [isPlain(one), isPlain(other)];
  if (a !== b) return a ? -1 : 1;
  return one < other ? -1 : one > other ? 1 : 0;
}

function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
