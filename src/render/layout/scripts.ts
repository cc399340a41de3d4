/** Which characters are written without blanks between words. */

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
