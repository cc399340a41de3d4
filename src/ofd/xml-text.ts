/** From the bytes of an XML part to its characters, whatever its declaration claims. */
import { isUtf8 } from 'node:buffer';

export interface XmlText {
  readonly text: string;
  /** What was wrong with the encoding, for a diagnostic; undefined where nothing was. */
  readonly fault?: string;
}

/** A document in GB18030 that is valid UTF-8 by chance has very few characters beyond ASCII. */
const SURELY_UTF8_CHARACTERS = 8;
const DECLARATION_BYTES = 256;

/**
 * Decodes by byte order mark, else by declaration where the bytes agree with it, else as UTF-8, else as GB18030.
 * Never throws.
 */
export function decodeXml(bytes: Uint8Array): XmlText {
  const marked = encodingOfMark(bytes);
  if (marked !== undefined && marked !== 'utf-8') return { text: decode(bytes, marked) };
  const declared = marked ?? declaredEncoding(bytes);
  if (isUtf8(bytes)) {
    const text = decode(bytes, 'utf-8');
    return declared === 'gb18030' && !isSurelyUtf8(text) ? { text: decode(bytes, 'gb18030') } : { text };
  }
  if (declared !== undefined && declared !== 'utf-8') return { text: decode(bytes, declared) };
  return decodeBroken(bytes);
}

function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding).decode(bytes);
}

/** The encoding that the first bytes prove; the mark itself is dropped by the decoder. */
function encodingOfMark(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0)) return 'utf-16le';
  if ((a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c)) return 'utf-16be';
  return undefined;
}

/** The canonical name of a declared encoding, or undefined where none, unknown, or contradicted by being readable here. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, DECLARATION_BYTES));
  const label = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(head)?.[1];
  if (label === undefined) return undefined;
  try {
    const name = new TextDecoder(label).encoding;
    if (name.startsWith('utf-16')) return undefined;
    return name === 'gbk' ? 'gb18030' : name;
  } catch {
    return undefined;
  }
}

function isSurelyUtf8(text: string): boolean {
  let beyondAscii = 0;
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f && ++beyondAscii >= SURELY_UTF8_CHARACTERS) return true;
  }
  return beyondAscii === 0;
}

/** Neither valid UTF-8 nor declared as something else: GB18030, unless most of it is UTF-8 with a few spoilt bytes. */
function decodeBroken(bytes: Uint8Array): XmlText {
  const asUtf8 = decode(bytes, 'utf-8');
  let whole = 0;
  let spoilt = 0;
  for (let i = 0; i < asUtf8.length; i++) {
    const code = asUtf8.charCodeAt(i);
    if (code === 0xfffd) spoilt++;
    else if (code > 0x7f) whole++;
  }
  if (whole > spoilt) return { text: asUtf8, fault: 'some bytes are not UTF-8' };
  return { text: decode(bytes, 'gb18030'), fault: 'the bytes are not UTF-8 and are read as GB18030' };
}
