/** Two pages side by side on one sheet (an open booklet, a licence): each is read by itself (spec 16.2). */
import type { Fragment } from './fragment.js';
import type { Rules } from './rules.js';

export interface Half {
  readonly fragments: readonly Fragment[];
  readonly rules: Rules | undefined;
}

interface Sheet extends Half {
  readonly widthMm: number;
  readonly heightMm: number;
}

/** A sheet is this much wider than high. */
const LANDSCAPE = 1.2;
/** The fold is in this part of the width, and nothing stands there over so many millimetres. */
const MIDDLE = [0.4, 0.6] as const;
const MIN_FOLD_MM = 5;
/** Both pages have text over this share of the height, and so many letters. */
const FILLED = 0.5;
const MIN_LETTERS = 40;
/** Of the lines on one page, how many may have a line of their size beside them: in a form with two columns all have. */
const MAX_BESIDE = 0.5;
/** Rules this near to the upper or the lower edge are a frame round both pages. */
const FRAME = 0.1;

/** The sheet as it is, or its two pages from left to right. What is turned comes with the last. */
export function facingPages(sheet: Sheet): readonly Half[] {
  const whole: Half = { fragments: sheet.fragments, rules: sheet.rules };
  if (sheet.widthMm < LANDSCAPE * sheet.heightMm) return [whole];
  const level = sheet.fragments.filter((fragment) => fragment.angle === 0);
  const fold = foldOf(sheet, level);
  if (fold === undefined) return [whole];
  const [left, right] = [level.filter((f) => f.left < fold), level.filter((f) => f.left >= fold)];
  const isPage = (half: readonly Fragment[]) => isFilled(half, sheet.heightMm);
  if (!isPage(left) || !isPage(right) || shareBeside(left, right) > MAX_BESIDE) return [whole];
  const turned = sheet.fragments.filter((fragment) => fragment.angle !== 0);
  return [
    { fragments: left, rules: sheet.rules && rulesWithin(sheet.rules, 0, fold) },
    { fragments: [...right, ...turned], rules: sheet.rules && rulesWithin(sheet.rules, fold, Infinity) },
  ];
}

/** The middle of the widest strip that no letter and no rule touches; undefined where it is too narrow. */
function foldOf({ widthMm, heightMm, rules }: Sheet, level: readonly Fragment[]): number | undefined {
  const isInside = ({ at }: { at: number }) => at > FRAME * heightMm && at < (1 - FRAME) * heightMm;
  const taken = [
    ...level.map(({ left, right }) => [left, right] as const),
    ...(rules?.level ?? []).filter(isInside).map(({ start, end }) => [start, end] as const),
    ...(rules?.plumb ?? []).map(({ at }) => [at, at] as const),
  ].sort((a, b) => a[0] - b[0]);
  let reached = MIDDLE[0] * widthMm;
  let best: { readonly at: number; readonly width: number } | undefined;
  for (const [left, right] of [...taken, [MIDDLE[1] * widthMm, Infinity] as const]) {
    const width = Math.min(left, MIDDLE[1] * widthMm) - reached;
    if (width >= Math.max(MIN_FOLD_MM, best?.width ?? 0)) best = { at: reached + width / 2, width };
    reached = Math.max(reached, right);
  }
  return best?.at;
}

function isFilled(fragments: readonly Fragment[], heightMm: number): boolean {
  let top = Infinity;
  let bottom = -Infinity;
  let letters = 0;
  for (const fragment of fragments) {
    top = Math.min(top, fragment.baseline);
    bottom = Math.max(bottom, fragment.baseline);
    letters += fragment.letters.length;
  }
  return letters >= MIN_LETTERS && bottom - top >= FILLED * heightMm;
}

function shareBeside(left: readonly Fragment[], right: readonly Fragment[]): number {
  const lineOf = ({ baseline, sizeMm }: Fragment, shift = 0) =>
    `${Math.round(baseline) + shift} ${Math.round(sizeMm * 2)}`;
  const beside = new Set(right.flatMap((fragment) => [-1, 0, 1].map((shift) => lineOf(fragment, shift))));
  const lines = new Set(left.map((fragment) => lineOf(fragment)));
  return [...lines].filter((line) => beside.has(line)).length / lines.size;
}

function rulesWithin({ level, plumb }: Rules, from: number, to: number): Rules {
  return {
    level: level.filter(({ start, end }) => start >= from && end <= to),
    plumb: plumb.filter(({ at }) => at >= from && at < to),
  };
}
