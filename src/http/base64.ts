/** Strict base64 (RFC 4648, with padding, no line breaks), decoded as it comes. */
import { ServiceError } from '../errors.js';

const DASH = 0x2d;
const UNDERSCORE = 0x5f;
const EMPTY = Buffer.alloc(0);

/** Enough of the beginning to know a data URL. */
const HEAD_CHARACTERS = 5;

/** Decodes a text in pieces of any size. Errors are `invalid_request`, name `field`, the place and what was found there. */
export class Base64Decoder {
  readonly #field: string;
  /** One to four characters at the end of what came: only the last four of the text may hold padding. */
  #kept: Buffer = EMPTY;
  #head = '';
  /** Characters before `#kept`. */
  #decodedCharacters = 0;

  constructor(field: string) {
    this.#field = field;
  }

  /** The bytes that are certain after these characters, which are ASCII as sent. */
  push(text: Buffer): Buffer {
    if (this.#head.length < HEAD_CHARACTERS) this.#head += text.toString('latin1', 0, HEAD_CHARACTERS);
    const all = this.#kept.length === 0 ? text : Buffer.concat([this.#kept, text]);
    const usable = Math.max(0, Math.floor((all.length - 1) / 4) * 4);
    const decoded = usable === 0 ? EMPTY : this.#decode(all.subarray(0, usable), 0);
    // A copy: the piece that came is not to be held for four of its characters.
    this.#kept = Buffer.from(all.subarray(usable));
    this.#decodedCharacters += usable;
    return decoded;
  }

  /** The last bytes. */
  end(): Buffer {
    const last = this.#kept;
    if (last.length === 0) return EMPTY;
    if (last.length % 4 !== 0) {
      this.#refuseCharacter(withoutPadding(last));
      throw invalid(
        `${this.#field}: ${this.#decodedCharacters + last.length} characters of base64 are no multiple of 4; the text is cut or lacks its = at the end`,
      );
    }
    return this.#decode(last, last[2] === 0x3d && last[3] === 0x3d ? 2 : last[3] === 0x3d ? 1 : 0);
  }

  #decode(text: Buffer, padding: number): Buffer {
    // The decoder skips what it does not know and takes the URL alphabet as well: both are looked for.
    const decoded = Buffer.from(text.toString('latin1'), 'base64');
    const firstPad = text.indexOf('=');
    const isPadded = firstPad >= 0 && firstPad < text.length - padding;
    const isWhole = decoded.length === (text.length / 4) * 3 - padding;
    if (isWhole && !isPadded && !text.includes(DASH) && !text.includes(UNDERSCORE)) return decoded;
    this.#refuseCharacter(text);
    throw invalid(`${this.#field} is not valid base64`);
  }

  /** Throws for the first character of `text` that cannot stand where it stands. */
  #refuseCharacter(text: Buffer): void {
    if (/^data:/i.test(this.#head)) {
      throw invalid(`${this.#field} starts with "data:"; write the base64 after the comma alone`);
    }
    const content = text.toString('latin1');
    const at = content.search(/[^A-Za-z0-9+/]/);
    if (at < 0) return;
    const character = content[at] as string;
    const place = `character ${this.#decodedCharacters + at + 1} is ${JSON.stringify(character)}`;
    throw invalid(`${this.#field}: ${place}; ${adviceFor(character)}`);
  }
}

function withoutPadding(text: Buffer): Buffer {
  const firstPad = text.indexOf('=');
  return firstPad >= 0 && /^={1,2}$/.test(text.toString('latin1', firstPad)) ? text.subarray(0, firstPad) : text;
}

/** The bytes of a text that is there whole. */
export function decodeBase64(text: string, field: string): Buffer {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const decoded = Buffer.from(text, 'base64');
  // Whatever the decoder skips makes the bytes fewer; what it takes beyond the standard is looked for.
  const isWhole = text.length % 4 === 0 && decoded.length === (text.length / 4) * 3 - padding;
  if (isWhole && !/[-_]|=[^=]/.test(text)) return decoded;
  const decoder = new Base64Decoder(field);
  return Buffer.concat([decoder.push(Buffer.from(text, 'utf8')), decoder.end()]);
}

function adviceFor(character: string): string {
  if (/\s/.test(character)) return 'base64 is written without line breaks and spaces (base64 -w0)';
  if (/[-_]/.test(character)) return 'this is the URL alphabet; write + and / in place of - and _';
  return character === '=' ? 'padding stands at the end only' : 'base64 has A-Z a-z 0-9 + / alone';
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
