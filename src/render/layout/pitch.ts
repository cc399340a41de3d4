/** Finds the fonts of a page whose narrow letters all have one pitch, though the faces at hand would not have them so. */

/** What a run says of its letters. */
export interface PitchRun {
  /** The font as the document names it, and the face that stands in for it. */
  readonly fontKey: string;
  readonly sizeMm: number;
  readonly letters: readonly { readonly text: string; readonly x: number; readonly naturalAdvance: number }[];
}

/** Fewer steps prove nothing. */
const LEAST_STEPS = 24;
/** Of the steps, how many have to be like the usual one, and how like, in sizes. */
const MOST = 0.9;
const LIKE = 0.03;
/** Of the letters, how many have to be of another width in the face, and how much, in sizes. */
const SOME = 0.25;
const UNLIKE = 0.08;

interface Steps {
  readonly steps: number[];
  readonly advances: number[];
}

/** The pitch of each such font, in sizes; other fonts have none. */
export function pitchesOf(runs: readonly PitchRun[]): ReadonlyMap<string, number> {
  const fonts = new Map<string, Steps>();
  for (const run of runs) {
    let font = fonts.get(run.fontKey);
    if (font === undefined) {
      font = { steps: [], advances: [] };
      fonts.set(run.fontKey, font);
    }
    addSteps(run, font);
  }
  const pitches = new Map<string, number>();
  for (const [key, font] of fonts) {
    const pitch = pitchOf(font);
    if (pitch !== undefined) pitches.set(key, pitch);
  }
  return pitches;
}

/** Latin letters, digits and their signs; a dash and the like is as wide as a Han letter in many a font of one pitch. */
export function isNarrow(text: string): boolean {
  return text < '\u0250' && text.trim() !== '';
}

function addSteps({ letters, sizeMm }: PitchRun, { steps, advances }: Steps): void {
  for (let i = 1; i < letters.length; i++) {
    const [before, after] = [letters[i - 1]!, letters[i]!];
    if (!isNarrow(before.text) || !isNarrow(after.text)) continue;
    steps.push((after.x - before.x) / sizeMm);
    advances.push(before.naturalAdvance / sizeMm);
  }
}

function pitchOf({ steps, advances }: Steps): number | undefined {
  if (steps.length < LEAST_STEPS) return undefined;
  const pitch = [...steps].sort((a, b) => a - b)[steps.length >> 1]!;
  const like = steps.filter((step) => Math.abs(step - pitch) <= LIKE).length;
  const unlike = advances.filter((advance) => Math.abs(advance - pitch) > UNLIKE).length;
  return pitch > 0 && like >= MOST * steps.length && unlike >= SOME * steps.length ? pitch : undefined;
}
