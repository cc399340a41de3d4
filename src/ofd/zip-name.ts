/** Names of ZIP entries: from bytes in whatever encoding to paths that cannot leave the package. */
import { isAscii, isUtf8 } from 'node:buffer';
import { normalisePath } from './location.js';

const LATIN = new TextDecoder('latin1');
const UTF8 = new TextDecoder('utf-8');
const GB18030 = new TextDecoder('gb18030');

export interface EntryName {
  /** As decoded, for messages. */
  readonly name: string;
  /** '' for a folder; undefined where the name is unsafe. */
  readonly path: string | undefined;
  /** What the name reads in the other encoding, where its bytes allow two readings. */
  readonly otherPath?: string;
}

/**
 * UTF-8 where the bytes are valid UTF-8, else GB18030: producers set the flag or not as they like. Without the flag, a
 * name whose characters all take two bytes is GB18030 all the same: many Chinese words are valid UTF-8 by chance (图片
 * reads as ͼƬ). Backslashes separate too, slashes in front are dropped.
 */
export function readEntryName(raw: Uint8Array, isUtf8Claimed: boolean): EntryName {
  if (isAscii(raw)) return entryName(LATIN.decode(raw));
  const chinese = GB18030.decode(raw);
  if (!isUtf8(raw)) return entryName(chinese);
  const plain = UTF8.decode(raw);
  const isChance = !isUtf8Claimed && !/[\u0800-\uffff]/.test(plain) && !chinese.includes('\ufffd');
  const other = safePath(isChance ? plain : chinese);
  return { ...entryName(isChance ? chinese : plain), ...(other ? { otherPath: other } : {}) };
}

function entryName(name: string): EntryName {
  return { name, path: safePath(name) };
}

/** Undefined for names that climb out of the package, start at a drive, or hold control characters. */
function safePath(name: string): string | undefined {
  const path = name.replaceAll('\\', '/');
  if (/^\/*[A-Za-z]:/.test(path) || hasControlCharacter(path) || climbsOut(path)) return undefined;
  return path.endsWith('/') ? '' : normalisePath(path);
}

function hasControlCharacter(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 0x20) return true;
  return false;
}

function climbsOut(path: string): boolean {
  if (!path.includes('..')) return false;
  let depth = 0;
  for (const segment of path.split('/')) {
    if (segment === '..') depth--;
    else if (segment !== '' && segment !== '.') depth++;
    if (depth < 0) return true;
  }
  return false;
}
