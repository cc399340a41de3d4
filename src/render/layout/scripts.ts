/** Which characters are written without blanks between words, and which from right to left. */

/** Han characters and the full-width forms and signs that go with them, kana and hangul included. */
export function isHan(codePoint: number): boolean {
  return (
    (codePoint >= 0x2e80 && codePoint <= 0x9fff) ||
    (codePoint >= 0xac00 && codePoint <= 0xd7a3) ||
    (codePoint >= 0xf900 && codePoint <= 0xfaff) ||
    (codePoint >= 0xfe30 && codePoint <= 0xfe4f) ||
    (codePoint >= 0xff00 && codePoint <= 0xffef) ||
    (codePoint >= 0x20000 && codePoint <= 0x3ffff)
  );
}

export function endsInHan(text: string): boolean {
  const last = text.at(-1);
  if (last === undefined) return false;
  const isLowSurrogate = last >= '\udc00' && last <= '\udfff';
  return isHan(isLowSurrogate && text.length > 1 ? text.codePointAt(text.length - 2)! : last.codePointAt(0)!);
}

export function startsWithHan(text: string): boolean {
  return text !== '' && isHan(text.codePointAt(0)!);
}

const LEFTWARD = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Whether the text holds a letter of a script that is written from right to left. */
export function isLeftward(text: string): boolean {
  return text > '\u0590' && LEFTWARD.test(text) && !/^\p{N}+$/u.test(text);
}
