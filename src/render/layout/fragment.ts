/** A piece of text that a reader takes in one go, and its letters. */

/** One glyph's characters. Coordinates are of the fragment's frame: x along the letters' own baseline, y down across it. */
export interface Letter {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** To where the letter's cell ends: its advance, at most to the next letter of its run. */
  readonly right: number;
  /** The letter after it in its text stands to its left, as the document says. */
  readonly isBackward?: true;
}

export interface Fragment {
  /** At least one; neither the first nor the last is blank. */
  readonly letters: readonly Letter[];
  /** Whole degrees, clockwise, by which the letters are turned; coordinates are turned back by it. */
  readonly angle: number;
  /** Letters stand upright, one below the other. */
  readonly isVertical: boolean;
  readonly sizeMm: number;
  readonly left: number;
  readonly right: number;
  /** Of the first letter. */
  readonly baseline: number;
  /** Of the last letter; differs from `baseline` in vertical text. */
  readonly lastBaseline: number;
  readonly isBold: boolean;
  /** Blank characters were cut off at that end. */
  readonly hasBlankBefore: boolean;
  readonly hasBlankAfter: boolean;
  /** A blank stands at that end as a run of its own. */
  readonly hasBlankRunBefore: boolean;
  readonly hasBlankRunAfter: boolean;
  /** Rank in paint order. */
  readonly order: number;
}
