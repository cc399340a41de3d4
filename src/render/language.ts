/** The language of a text, as far as its letters tell. */

/** Share of letters that must be Han for a text to be Chinese. */
const MOSTLY = 0.5;

/** `zh` for a text that is mostly Chinese; undefined for any other. */
export function languageOf(characters: Iterable<string>): string | undefined {
  let letters = 0;
  let han = 0;
  for (const text of characters) {
    if (/[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text)) return undefined;
    if (/\p{L}/u.test(text)) letters++;
    if (/\p{Script=Han}/u.test(text)) han++;
  }
  return han > letters * MOSTLY ? 'zh' : undefined;
}
