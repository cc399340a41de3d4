/** Plain text in whatever encoding it comes (UTF-8, UTF-16, GB18030 with GBK and GB2312 in it) becomes UTF-8. */
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'gb18030';

const RIGHT_TO_WRONG = 10;

export interface TextFacts {
  readonly encoding: TextEncoding;
  /** Bytes that are no text in that encoding stand as U+FFFD. */
  readonly isDamaged: boolean;
}

/**
 * A byte order mark decides; else it is UTF-8 where nearly all of it can be, else GB18030.
 * @param onPiece called for each piece of text that was written
 */
export async function copyAsUtf8(from: string, to: string, onPiece?: (text: string) => void): Promise<TextFacts> {
  const encoding = await encodingOf(from);
  const decoder = new TextDecoder(encoding);
  let isDamaged = false;
  const check = (text: string): string => {
    isDamaged ||= text.includes('\ufffd');
    onPiece?.(text);
    return text;
  };
  await pipeline(
    createReadStream(from),
    async function* decode(pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) yield check(decoder.decode(piece, { stream: true }));
      yield check(decoder.decode());
    },
    createWriteStream(to, { mode: 0o600, flags: 'wx' }),
  );
  return { encoding, isDamaged };
}

async function encodingOf(path: string): Promise<TextEncoding> {
  const decoder = new TextDecoder('utf-8');
  let wrong = 0;
  let right = 0;
  const count = (text: string): void => {
    for (const character of text.match(/\P{ASCII}/gu) ?? []) {
      if (character === '\ufffd') wrong++;
      else right++;
    }
  };
  let isFirst = true;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    if (isFirst && piece[0] === 0xff && piece[1] === 0xfe) return 'utf-16le';
    if (isFirst && piece[0] === 0xfe && piece[1] === 0xff) return 'utf-16be';
    isFirst = false;
    count(decoder.decode(piece, { stream: true }));
  }
  count(decoder.decode());
  // Chinese in GB18030 is hardly ever right as UTF-8: a few wrong bytes among many right ones are damage.
  return wrong === 0 || right > RIGHT_TO_WRONG * wrong ? 'utf-8' : 'gb18030';
}
