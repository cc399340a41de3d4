/** Weight, slant, serifs and pitch of a face, from its tables and, where they are missing or lie, from its names. */
import { i16, u16, u32 } from './bytes.js';

export interface FaceStyle {
  /** 1…1000, 400 regular. */
  readonly weight: number;
  /** 1…9, 5 normal. */
  readonly width: number;
  readonly isItalic: boolean;
  readonly isSerif: boolean;
  readonly isFixedPitch: boolean;
  /** Whether OS/2 says that it was made for Chinese, Japanese or Korean. */
  readonly coversHan: boolean;
}

const BOLD_NAME = /bold/i;
const HEAVY_NAME = /heavy|black|粗|特黑|超黑|大标宋|小标宋|xiaobiaosong|dabiaosong|fzxbs|fzdbs/i;
const LIGHT_BOLD_NAME = /semi-?bold|demi-?bold/i;
const ITALIC_NAME = /italic|oblique|斜体/i;
const SANS_NAME = /sans|gothic|hei|黑|圆|arial|helvetica|verdana|tahoma|calibri|mono(?!type)/i;
const SERIF_NAME =
  /serif|song|ming|sung|kai|fang|times|roman|georgia|garamond|cambria|minion|tinos|caladea|宋|明|楷|仿|隶|batang|mincho/i;
const FIXED_NAME = /mono(?!type)|courier|consol|typewriter|ocr|fixed|等宽|等寬/i;

/** A name of a face that is heavy by design: bold is never made of it (小标宋 and its like). */
export function isHeavyName(name: string): boolean {
  return HEAVY_NAME.test(name);
}

/** Tables may be empty; `names` is all names and style words in one string. */
export function readStyle(os2: Uint8Array, head: Uint8Array, post: Uint8Array, names: string): FaceStyle {
  const hasOs2 = os2.length >= 64;
  const macStyle = head.length >= 46 ? u16(head, 44) : 0;
  const selection = hasOs2 ? u16(os2, 62) : 0;
  const panose = hasOs2 && os2[32] === 2 ? os2.subarray(32, 42) : new Uint8Array(10);
  const isBold = (macStyle & 1) !== 0 || (selection & 0x20) !== 0 || BOLD_NAME.test(names) || HEAVY_NAME.test(names);
  const declared = hasOs2 ? normalWeight(u16(os2, 4)) : 400;
  return {
    weight: isBold && declared < 600 ? (LIGHT_BOLD_NAME.test(names) ? 600 : 700) : declared,
    width: hasOs2 ? Math.min(9, u16(os2, 6)) || 5 : 5,
    isItalic:
      (macStyle & 2) !== 0 ||
      (selection & 0x201) !== 0 ||
      (post.length >= 8 && i16(post, 4) !== 0) ||
      ITALIC_NAME.test(names),
    isSerif: isSerifStyle(hasOs2 ? os2[30]! : 0, panose[1]!, names),
    isFixedPitch: (post.length >= 16 && u32(post, 12) !== 0) || panose[3] === 9 || FIXED_NAME.test(names),
    coversHan: hasOs2 && ((os2[46]! & 0x08) !== 0 || (os2.length >= 82 && (os2[79]! & 0x36) !== 0)),
  };
}

/** Some old fonts count weights 1 to 9. */
function normalWeight(weight: number): number {
  if (weight >= 1 && weight <= 9) return weight * 100;
  return weight === 0 || weight > 1000 ? 400 : weight;
}

function isSerifStyle(familyClass: number, panoseSerif: number, names: string): boolean {
  if (SERIF_NAME.test(names) && !SANS_NAME.test(names)) return true;
  if (SANS_NAME.test(names)) return false;
  if (panoseSerif >= 2) return panoseSerif <= 10;
  return (familyClass >= 1 && familyClass <= 5) || familyClass === 7;
}
