/** What a document says of itself, as characters that text may have: the rule for text on pages, line breaks kept. */
import { isInkless } from './build/character.js';

/** Nothing but printable ASCII, which nearly all is. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Without controls, halves of pairs and what stands for no character; trimmed. */
export function factText(text: string): string {
  if (PLAIN.test(text)) return text.trim();
  let clean = '';
  for (const character of text) {
    const codePoint = character.codePointAt(0)!;
    if (codePoint === 0x0a || codePoint === 0x0d || !isInkless(codePoint)) clean += character;
  }
  return clean.trim();
}

/** The same in one line. */
export function factLine(text: string): string {
  return factText(text).replace(/\s+/g, ' ');
}
