/** Font names as documents write them: subset tags, styles, full-width digits, GBK read as Latin-1 (spec 7.8). */
import { decodeLegacy } from './legacy-encoding.js';

export interface ParsedFontName {
  /** As written, readable: repaired and without subset tag. */
  readonly text: string;
  /** For comparison: without style suffix too. */
  readonly plain: string;
  /** For comparison, with the style words still in it. */
  readonly whole: string;
  readonly isBold: boolean;
  readonly isItalic: boolean;
}

const STYLE_SUFFIX = /[,\-\s_](?:(bold)?[\s-]?(italic|oblique)?|regular|normal|roman|粗体|斜体)(?:mt|ps|psmt)?$/i;

/** Lower case, width-folded, without blanks, hyphens, underscores: two names are the same where these are. */
export function comparableName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\-_·'"]/g, '');
}

export function parseFontName(raw: string): ParsedFontName {
  const text = repaired(raw.normalize('NFKC').trim()).replace(/^[A-Z]{6}\+/, '');
  const base = text.replace(STYLE_SUFFIX, '');
  const suffix = text.slice(base.length);
  return {
    text,
    plain: comparableName(base.replaceAll(',', '')),
    whole: comparableName(text.replaceAll(',', '')),
    isBold: /bold|粗体/i.test(suffix) || /bold$/i.test(base),
    isItalic: /italic|oblique|斜/i.test(suffix),
  };
}

/** Undoes a name whose GBK or UTF-8 bytes were read as Latin-1; other names stay. */
function repaired(name: string): string {
  const codes = Array.from(name, (c) => c.codePointAt(0)!);
  if (codes.every((c) => c < 0x80) || codes.some((c) => c > 0xff)) return name;
  const bytes = Uint8Array.from(codes);
  const decoded = decodeLegacy('utf-8', bytes) ?? decodeLegacy('gbk', bytes);
  return decoded !== undefined && /\p{Script=Han}/u.test(decoded) ? decoded : name;
}
