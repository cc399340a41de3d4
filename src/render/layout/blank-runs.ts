/** Blanks that the document writes as runs of their own: which pieces of text they stand beside. */

import type { Fragment } from './fragment.js';

/** A piece of text that is nothing but blanks. Coordinates are of its frame, as a fragment's are. */
export interface BlankRun {
  readonly isBlank: true;
  readonly angle: number;
  readonly sizeMm: number;
  readonly left: number;
  readonly right: number;
  readonly baseline: number;
}

/** Wider ones, in sizes, are the room of a form that another run may fill; they part by their width, if at all. */
const WIDEST = 1.5;
/** How far from a letter's cell its blank may stand, in sizes. */
const REACH = 0.5;
/** Room that is left to a blank at least, in sizes. */
const LEAST_ROOM = 0.1;
const SAME_LINE = 0.4;

/**
 * The fragments among `pieces`, which come in paint order. Each knows the blanks painted next to it, which stand where
 * it begins or ends.
 */
export function besideBlanks(pieces: readonly (Fragment | BlankRun)[]): Fragment[] {
  const fragments: Fragment[] = [];
  let blanks: BlankRun[] = [];
  for (const piece of pieces) {
    if ('isBlank' in piece) {
      blanks.push(piece);
      continue;
    }
    const previous = fragments.at(-1);
    const written = blanks.filter((blank) => isWritten(blank, previous, piece));
    if (previous !== undefined) fragments[fragments.length - 1] = beside(previous, written);
    fragments.push(beside(piece, written));
    blanks = [];
  }
  const last = fragments.at(-1);
  if (last !== undefined) fragments[fragments.length - 1] = beside(last, blanks.filter(isNarrowEnough));
  return fragments;
}

/** A blank on whose place the next letter stands is none to be seen. */
function isWritten(blank: BlankRun, previous: Fragment | undefined, next: Fragment): boolean {
  if (!isNarrowEnough(blank)) return false;
  const isFilled =
    previous !== undefined &&
    isOnLine(blank, previous, previous.lastBaseline) &&
    isOnLine(blank, next, next.baseline) &&
    next.left > previous.left &&
    next.left < blank.left + LEAST_ROOM * blank.sizeMm;
  return !isFilled;
}

function isNarrowEnough({ left, right, sizeMm }: BlankRun): boolean {
  return right - left <= WIDEST * sizeMm;
}

function beside(fragment: Fragment, blanks: readonly BlankRun[]): Fragment {
  const isBefore = blanks.some((blank) => isBeforeFragment(blank, fragment));
  const isAfter = blanks.some((blank) => isAfterFragment(blank, fragment));
  if (!isBefore && !isAfter) return fragment;
  return {
    ...fragment,
    hasBlankRunBefore: isBefore || fragment.hasBlankRunBefore,
    hasBlankRunAfter: isAfter || fragment.hasBlankRunAfter,
  };
}

function isBeforeFragment(blank: BlankRun, fragment: Fragment): boolean {
  const room = fragment.left - blank.left;
  const gap = fragment.left - blank.right;
  const isThere = room >= LEAST_ROOM * blank.sizeMm && gap <= REACH * blank.sizeMm;
  return isThere && isOnLine(blank, fragment, fragment.baseline);
}

function isAfterFragment(blank: BlankRun, fragment: Fragment): boolean {
  const step = blank.left - fragment.letters.at(-1)!.x;
  const gap = blank.left - fragment.right;
  const isThere = step >= LEAST_ROOM * blank.sizeMm && gap <= REACH * blank.sizeMm;
  return isThere && isOnLine(blank, fragment, fragment.lastBaseline);
}

function isOnLine(blank: BlankRun, fragment: Fragment, baseline: number): boolean {
  const isNear = Math.abs(blank.baseline - baseline) <= SAME_LINE * Math.max(blank.sizeMm, fragment.sizeMm);
  return isNear && blank.angle === fragment.angle && !fragment.isVertical;
}
