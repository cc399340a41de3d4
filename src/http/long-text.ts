/** The escapes of a long JSON text, resolved as it comes on its way to base64: some clients write every / as \/. */
import { ServiceError } from '../errors.js';
import type { Base64Decoder } from './base64.js';

const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const SHORT_ESCAPE = 2;
const LONG_ESCAPE = 6;

const MEANINGS: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Takes the text as sent, in pieces of any size, and gives the bytes that its base64 stands for. */
export class LongTextDecoder {
  readonly #base64: Base64Decoder;
  /** The beginning of an escape whose end has not come. */
  #kept: Buffer = Buffer.alloc(0);

  constructor(base64: Base64Decoder) {
    this.#base64 = base64;
  }

  push(piece: Buffer): Buffer {
    if (this.#kept.length === 0 && !piece.includes(BACKSLASH)) return this.#base64.push(piece);
    return this.#base64.push(this.#unescape(Buffer.concat([this.#kept, piece])));
  }

  end(): Buffer {
    if (this.#kept.length > 0) throw badEscape();
    return this.#base64.end();
  }

  #unescape(text: Buffer): Buffer {
    const parts: Buffer[] = [];
    this.#kept = Buffer.alloc(0);
    for (let at = 0; at < text.length; ) {
      const start = text.indexOf(BACKSLASH, at);
      parts.push(text.subarray(at, start < 0 ? text.length : start));
      if (start < 0) break;
      const length = text[start + 1] === LOWER_U ? LONG_ESCAPE : SHORT_ESCAPE;
      if (start + length > text.length) {
        this.#kept = Buffer.from(text.subarray(start));
        break;
      }
      parts.push(meaningOf(text.toString('latin1', start + 1, start + length)));
      at = start + length;
    }
    return Buffer.concat(parts);
  }
}

/** @param sequence without its backslash */
function meaningOf(sequence: string): Buffer {
  const character = /^u[\da-f]{4}$/i.test(sequence)
    ? String.fromCharCode(Number.parseInt(sequence.slice(1), 16))
    : MEANINGS[sequence];
  if (character === undefined) throw badEscape();
  return Buffer.from(character, 'utf8');
}

function badEscape(): ServiceError {
  return new ServiceError('invalid_request', 'The body is no valid JSON: a long text holds an invalid escape');
}
