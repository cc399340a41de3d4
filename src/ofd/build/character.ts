/** What kind of thing a code point is, as far as drawing cares. */

/** White space: it never has ink, whatever a font says. */
export function isBlank(codePoint: number): boolean {
  return (
    codePoint === 0x20 ||
    codePoint === 0xa0 ||
    codePoint === 0x3000 ||
    codePoint === 0x09 ||
    (codePoint >= 0x2000 && codePoint <= 0x200a) ||
    codePoint === 0x202f ||
    codePoint === 0x205f ||
    codePoint === 0x1680
  );
}

/**
 * Controls, marks of direction and joining, selectors of variants, halves of pairs, and what stands for no character: no
 * ink, no text.
 */
export function isInkless(codePoint: number): boolean {
  if (codePoint < 0xa0) return codePoint < 0x20 ? codePoint !== 0x09 : codePoint >= 0x7f;
  if (codePoint < 0x200b) return codePoint === 0xad;
  return (
    codePoint <= 0x200f ||
    (codePoint >= 0x2028 && codePoint <= 0x202e) ||
    (codePoint >= 0x2060 && codePoint <= 0x206f) ||
    (codePoint >= 0xd800 && codePoint <= 0xdfff) ||
    (codePoint >= 0xfdd0 && codePoint <= 0xfdef) ||
    (codePoint >= 0xfe00 && codePoint <= 0xfe0f) ||
    codePoint === 0xfeff ||
    (codePoint >= 0xfff9 && codePoint <= 0xfffb) ||
    codePoint === 0xfffd ||
    (codePoint & 0xfffe) === 0xfffe ||
    (codePoint >= 0xe0000 && codePoint <= 0xe01ef)
  );
}

/** Latin letters, digits and Han: a visible outline is sure. */
export function isLetter(codePoint: number): boolean {
  return (
    (codePoint >= 0x30 && codePoint <= 0x39) ||
    (codePoint >= 0x41 && codePoint <= 0x5a) ||
    (codePoint >= 0x61 && codePoint <= 0x7a) ||
    (codePoint >= 0x3400 && codePoint <= 0x9fff) ||
    (codePoint >= 0x20000 && codePoint <= 0x3ffff)
  );
}

/** Characters that every Chinese face sets on a full em. */
export function isWide(codePoint: number): boolean {
  return (
    (codePoint >= 0x2e80 && codePoint <= 0xd7a3) ||
    (codePoint >= 0xf900 && codePoint <= 0xfaff) ||
    (codePoint >= 0xfe30 && codePoint <= 0xfe4f) ||
    (codePoint >= 0xff01 && codePoint <= 0xff60) ||
    (codePoint >= 0xffe0 && codePoint <= 0xffe6) ||
    (codePoint >= 0x20000 && codePoint <= 0x3ffff)
  );
}
