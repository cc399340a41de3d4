/** Text in the encodings that Chinese documents come in. */

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'gb18030';

/** The encoding that a byte order mark tells; undefined where there is none. */
export function markedEncoding(bytes: Uint8Array): TextEncoding | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** Whether all of the bytes are text in that encoding. */
export function isTextIn(encoding: TextEncoding, bytes: Uint8Array): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * The text without its byte order mark: a mark decides, else it is UTF-8 where all of it can be, else GB18030. Bytes that
 * are no text stand as U+FFFD.
 */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly encoding: TextEncoding } {
  const encoding = markedEncoding(bytes) ?? (isTextIn('utf-8', bytes) ? 'utf-8' : 'gb18030');
  return { text: new TextDecoder(encoding).decode(bytes), encoding };
}
