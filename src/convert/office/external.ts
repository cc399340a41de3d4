/**
 * References of a document to what lies outside of it: pictures, sections and objects on other machines or in the files
 * of this one. LibreOffice's own settings keep it from following some of them and not others (backgrounds, pictures in
 * slides, tables and SVG are loaded whatever they say), so they are taken out of what it is given. Hyperlinks stay.
 *
 * Works on the bytes of a part as Latin-1: a value is overwritten in its place by as many letters, so that nothing moves
 * and a picture that happens to hold such text is not broken.
 */
import { gunzipSync, gzipSync } from '../../zlib.js';

/** What was taken out: the name of the element (of a relationship its type) and what it referred to. */
export type OnBlocked = (element: string, target: string) => void;

/**
 * Every attribute in turn, so that what looks like one inside of a value is none. "<" cannot stand in a value: what is
 * outside of tags never reaches into one.
 */
const ATTRIBUTE = /(?<![^\s"'<>=/])([^\s"'<>=/]+)\s*=\s*("[^"<]*"|'[^'<]*')/g;
/** Names of those that are followed, wherever they stand; `link` is the one of pictures in Office Open XML. */
const REFERENCE = /\b(href|src|target|background|data|link)$/i;
const HAS_REFERENCE = /\b(?:href|src|target|background|data|link)\s*=/i;
const STYLE_URL = /\burl\(\s*(&quot;|["']?)((?:[^"')&]|&(?!quot;))*)/gi;
const BINARY = /(<(?:[^\s"'<>=/:]+:)?binary-data\b[^<>]*>)([^<]*)(<\/)?/g;
const LARGEST_PICTURE_BYTES = 64 * 1024 * 1024;
const MOST_NESTED = 4;
/** Characters that mean the same in them as in ASCII. */
const READABLE_ENCODINGS =
  /^(?:utf-?8|us-ascii|ascii|iso-8859-\d+|windows-125\d|gb2312|gbk|gb18030|big5|euc-\w+|shift_jis)$/i;

/**
 * How XML begins that is neither in UTF-16 nor readable as ASCII: UTF-32 in any order, with its mark or "<" first, and
 * EBCDIC. LibreOffice reads it.
 */
const UNREADABLE_START =
  /^(?:0000003c000000|3c000000..000000|00003c000000..00|003c000000..0000|0000feff|fffe0000|feff0000|0000fffe|4c6fa794)/;

/** The part cannot be looked through, so it may not be opened. */
export class UnreadablePart extends Error {
  /** Sound it may be, but there is more of it than is looked through. */
  readonly isTooLarge: boolean;

  constructor(part: string, isTooLarge = false) {
    super(part);
    this.isTooLarge = isTooLarge;
  }
}

/**
 * The part without what refers outside; undefined where there is nothing to change.
 * @throws UnreadablePart
 */
export function withoutExternal(part: Buffer, onBlocked: OnBlocked, depth = 0): Buffer | undefined {
  if (depth > MOST_NESTED) throw new UnreadablePart('pictures in pictures');
  if (part[0] === 0x1f && part[1] === 0x8b) {
    const changed = withoutExternal(unpacked(part), onBlocked, depth + 1);
    return changed && gzipSync(changed);
  }
  const wide = wideEncodingOf(part);
  const text = wide ? decodedWide(part, wide) : part.toString('latin1');
  if (!wide) requireReadable(text);
  const changed = cleaned(text, onBlocked, depth);
  if (changed === text) return undefined;
  if (!wide) return Buffer.from(changed, 'latin1');
  const bytes = Buffer.from(changed, 'utf16le');
  return wide === 'be' ? bytes.swap16() : bytes;
}

function unpacked(part: Buffer): Buffer {
  try {
    return gunzipSync(part, { maxOutputLength: LARGEST_PICTURE_BYTES });
  } catch {
    throw new UnreadablePart('a compressed picture that cannot be unpacked');
  }
}

/** UTF-16, with its mark or by the first characters of XML. */
function wideEncodingOf(part: Buffer): 'le' | 'be' | undefined {
  const start = part.toString('hex', 0, 8);
  if (UNREADABLE_START.test(start)) throw new UnreadablePart('its encoding');
  if (/^(?:fffe|3c003f00|3c007300)/.test(start)) return 'le';
  return /^(?:feff|003c003f|003c0073)/.test(start) ? 'be' : undefined;
}

function decodedWide(part: Buffer, order: 'le' | 'be'): string {
  const even = part.subarray(0, part.length - (part.length % 2));
  return (order === 'be' ? Buffer.from(even).swap16() : even).toString('utf16le');
}

function requireReadable(text: string): void {
  if (!/^[^<]{0,8}<\?xml/.test(text)) return;
  const end = text.indexOf('?>');
  for (const [, declared = ''] of text
    .slice(0, end < 0 ? undefined : end)
    .matchAll(/encoding\s*=\s*["']?([^"'\s]*)/g)) {
    if (READABLE_ENCODINGS.test(declared)) continue;
    throw new UnreadablePart(`the encoding ${JSON.stringify(declared.slice(0, 40))}`);
  }
}

const DECLARATION = /^<!(?:ATTLIST|ENTITY)\b(?:"[^"]*"|'[^']*'|[^"'>])*>/;
const LONGEST_DECLARATION = 64 * 1024;
/** An entity that stands for a few words, such as the address of a namespace; what asks for a file by it is found there. */
const PLAIN_ENTITY = /^<!ENTITY\s+[^\s%"'<>&]+\s+(?:"[^"<>&%]*"|'[^'<>&%]*')\s*>$/;

/** A document type can give attributes to elements, and put elements, where none are written. */
function withoutDeclarations(text: string, onBlocked: OnBlocked): string {
  if (!text.includes('<!DOCTYPE')) return text;
  const pieces: string[] = [];
  let seenTo = 0;
  for (const { index } of text.matchAll(/<!(?:ATTLIST|ENTITY)\b/g)) {
    if (index < seenTo) continue;
    const declaration = DECLARATION.exec(text.slice(index, index + LONGEST_DECLARATION))?.[0];
    if (declaration === undefined) throw new UnreadablePart('a document type without an end');
    if (PLAIN_ENTITY.test(declaration)) continue;
    onBlocked('definition', declaration);
    pieces.push(text.slice(seenTo, index), ' '.repeat(declaration.length));
    seenTo = index + declaration.length;
  }
  return pieces.join('') + text.slice(seenTo);
}

function cleaned(part: string, onBlocked: OnBlocked, depth: number): string {
  const text = withoutDeclarations(part, onBlocked);
  const withoutReferences = HAS_REFERENCE.test(text) ? referencesOverwritten(text, onBlocked, depth) : text;
  const withoutUrls = withoutReferences.replace(STYLE_URL, (match, _quote: string, value: string) => {
    if (!isOutside(value, depth)) return match;
    onBlocked('style', value);
    return match.slice(0, match.length - value.length) + 'x'.repeat(value.length);
  });
  return withoutUrls.replace(BINARY, (match, tag: string, encoded: string, end = '') => {
    const isWhole = tag.endsWith('/>') || (end !== '' && !encoded.includes('&'));
    if (!isWhole) throw new UnreadablePart('binary data in pieces');
    if (!refersOutside(Buffer.from(encoded, 'base64'), depth)) return match;
    onBlocked('binary-data', 'a picture');
    return tag + encoded.replace(/[\w+/=]/g, 'A') + end;
  });
}

function referencesOverwritten(text: string, onBlocked: OnBlocked, depth: number): string {
  const tags = new Tags(text);
  return text.replace(ATTRIBUTE, (match, name: string, quoted: string, at: number) => {
    const attribute = REFERENCE.exec(name)?.[1]?.toLowerCase();
    if (attribute === undefined) return match;
    const value = quoted.slice(1, -1);
    const element = followedBy(tags.at(at), attribute, value, depth);
    if (element === undefined) return match;
    onBlocked(element, value);
    return match.slice(0, -quoted.length) + overwritten(quoted);
  });
}

const LONGEST_TAG = 8192;

/** The tag that an attribute stands in, found going forward: "<" cannot stand in a value. */
class Tags {
  readonly #text: string;
  #seenTo = 0;
  #start = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** From its "<" on, and what comes after it; no more than matters. To be asked with growing places. */
  at(place: number): string {
    const start = this.#text.slice(this.#seenTo, place).lastIndexOf('<');
    if (start >= 0) this.#start = this.#seenTo + start;
    this.#seenTo = place;
    return this.#text.slice(this.#start, this.#start + LONGEST_TAG);
  }
}

/** The values of a tag's attributes by their names. */
function attributesOf(tag: string): ReadonlyMap<string, string> {
  const end = tag.indexOf('<', 1);
  const matches = tag.slice(0, end < 0 ? undefined : end).matchAll(ATTRIBUTE);
  return new Map([...matches].map(([, name = '', quoted = '']) => [name, quoted.slice(1, -1)]));
}

/** The name of the element (of a relationship, its type) where the attribute is one that leads outside and is followed. */
function followedBy(tag: string, attribute: string, value: string, depth: number): string | undefined {
  const name = /^<[?!]?(?:[^\s"'<>=/:]+:)?([^\s"'<>=/:]+)\s/.exec(tag)?.[1] ?? '';
  if (name === 'a') return undefined;
  // Its value is the name of a relationship, of whatever type.
  if (attribute === 'link') return name === 'blip' && value !== '' ? name : undefined;
  if (attribute !== 'target') return isOutside(value, depth) ? name : undefined;
  if (name !== 'Relationship') return undefined;
  const attributes = attributesOf(tag);
  const type = /\/(\w+)$/.exec(attributes.get('Type') ?? '')?.[1] ?? '';
  if (type === 'hyperlink') return undefined;
  const mode = plainOf(attributes.get('TargetMode') ?? '')?.toLowerCase();
  return (mode !== '' && mode !== 'internal') || isUrl(value) ? type : undefined;
}

/** Inside of a package a path may begin at its root, and go up. */
function isUrl(value: string): boolean {
  const plain = plainOf(value);
  return plain === undefined || /^(?:[a-z][a-z0-9+.-]*:|\/\/|\\)/i.test(plain);
}

/** Whether a reference leads out of the document, or to where that cannot be told. */
function isOutside(value: string, depth: number): boolean {
  const plain = plainOf(value);
  if (plain === undefined) return true;
  if (/^data:/i.test(plain)) return isPictureOutside(plain, depth);
  if (/^vnd\.sun\.star\.package:/i.test(plain)) return false;
  return /^(?:[a-z][a-z0-9+.-]*:|[/\\~])|(?:^|[/\\])\.\.(?:[/\\]|$)/i.test(plain);
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Without references to characters, spaces and control characters; undefined where an entity is none that is known. */
function plainOf(value: string): string | undefined {
  let isKnown = true;
  const plain = value.replace(/&(?:#(\d+)|#x([0-9a-f]+)|([^;&]*));?/gi, (_match, decimal, hex, name) => {
    if (name !== undefined) {
      isKnown &&= Object.hasOwn(NAMED, name as string);
      return NAMED[name as string] ?? '';
    }
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
  return isKnown ? [...plain].filter((character) => character > ' ' && character !== '\x7f').join('') : undefined;
}

function isPictureOutside(dataUrl: string, depth: number): boolean {
  const comma = dataUrl.indexOf(',');
  const isBase64 = /;base64$/i.test(dataUrl.slice(0, comma));
  const data = dataUrl.slice(comma + 1);
  return refersOutside(isBase64 ? Buffer.from(data, 'base64') : Buffer.from(unescaped(data), 'latin1'), depth);
}

function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function refersOutside(picture: Buffer, depth: number): boolean {
  try {
    return withoutExternal(picture, () => undefined, depth + 1) !== undefined;
  } catch (error) {
    if (error instanceof UnreadablePart) return true;
    throw error;
  }
}

/** An address that nobody serves: a path would be looked for in the package, and missed. */
function overwritten(quoted: string): string {
  const quote = quoted.slice(0, 1);
  const length = quoted.length - 2;
  return quote + (length < 2 ? '#'.repeat(length) : `x:${'x'.repeat(length - 2)}`) + quote;
}
