/** Sheets and margins as clients write them: "A4", "210x297", "20", "20,15,20,15" (contract B4). */

/** Thrown for a text that names no sheet or margins; the message says what would be right. */
export class PaperError extends Error {
  override readonly name = 'PaperError';
}

export interface Paper {
  readonly widthMm: number;
  readonly heightMm: number;
}

export interface Margins {
  readonly topMm: number;
  readonly rightMm: number;
  readonly bottomMm: number;
  readonly leftMm: number;
}

/** Upright. B sizes are those of ISO 216. */
const PAPERS: Readonly<Record<string, Paper>> = {
  A3: { widthMm: 297, heightMm: 420 },
  A4: { widthMm: 210, heightMm: 297 },
  A5: { widthMm: 148, heightMm: 210 },
  B4: { widthMm: 250, heightMm: 353 },
  B5: { widthMm: 176, heightMm: 250 },
  Letter: { widthMm: 215.9, heightMm: 279.4 },
  Legal: { widthMm: 215.9, heightMm: 355.6 },
  Tabloid: { widthMm: 279.4, heightMm: 431.8 },
};

const DEFAULT_MARGIN_MM = 10;

const DEFAULT_PAPER = 'A4';
/** Less than this leaves no room for a word. */
const LEAST_ROOM_MM = 10;

export const PAPER_NAMES = Object.keys(PAPERS);

/** What a PDF page can be at most is 200 inches. */
const LONGEST_SIDE_MM = 5080;
const SHORTEST_SIDE_MM = 20;
const WIDEST_MARGIN_MM = 500;

/** Names ignore case. Throws PaperError. */
export function parsePaper(text: string): Paper {
  const name = PAPER_NAMES.find((candidate) => candidate.toLowerCase() === text.trim().toLowerCase());
  if (name !== undefined) return PAPERS[name] as Paper;
  const sides = /^(\d{1,4}(?:\.\d{1,3})?)\s*[x×*]\s*(\d{1,4}(?:\.\d{1,3})?)(?:\s*mm)?$/i.exec(text.trim());
  const widthMm = Number(sides?.[1]);
  const heightMm = Number(sides?.[2]);
  const fits = (sideMm: number): boolean => sideMm >= SHORTEST_SIDE_MM && sideMm <= LONGEST_SIDE_MM;
  if (fits(widthMm) && fits(heightMm)) return { widthMm, heightMm };
  throw new PaperError(
    `${PAPER_NAMES.join(', ')}, or width and height in millimetres such as "210x297", each ${SHORTEST_SIDE_MM} to ${LONGEST_SIDE_MM}`,
  );
}

/** Millimetres of all sides, or as CSS orders them: top,right,bottom,left. Throws PaperError. */
export function parseMargins(text: string): Margins {
  const sides = text.split(',').map((part) => part.trim());
  const numbers = sides.map((side) => (/^\d{1,3}(?:\.\d{1,3})?$/.test(side) ? Number(side) : Number.NaN));
  const areRight = numbers.every((side) => side <= WIDEST_MARGIN_MM);
  if (areRight && numbers.length === 1) {
    const [side = 0] = numbers;
    return { topMm: side, rightMm: side, bottomMm: side, leftMm: side };
  }
  const [topMm, rightMm, bottomMm, leftMm] = numbers;
  if (areRight && numbers.length === 4) return { topMm, rightMm, bottomMm, leftMm } as Margins;
  throw new PaperError('millimetres such as "20", or four of them (top,right,bottom,left) such as "20,15,20,15"');
}

/** The sheet as it is printed: A4 where no paper is named. Throws PaperError. */
export function sheetSize(paper: string | undefined, isLandscape = false): Paper {
  const { widthMm, heightMm } = parsePaper(paper ?? DEFAULT_PAPER);
  return isLandscape ? { widthMm: heightMm, heightMm: widthMm } : { widthMm, heightMm };
}

/** Where nobody names margins: labels are smaller than the usual ones leave room for. */
export function defaultMargins({ widthMm, heightMm }: Paper): Margins {
  const side = Math.min(DEFAULT_MARGIN_MM, widthMm / 4, heightMm / 4);
  return { topMm: side, rightMm: side, bottomMm: side, leftMm: side };
}

/** Whether margins leave room on a sheet. All of it right by itself. */
export function hasRoom(paper: string | undefined, isLandscape: boolean | undefined, margins: string): boolean {
  const { widthMm, heightMm } = sheetSize(paper, isLandscape);
  const { topMm, rightMm, bottomMm, leftMm } = parseMargins(margins);
  return widthMm - leftMm - rightMm >= LEAST_ROOM_MM && heightMm - topMm - bottomMm >= LEAST_ROOM_MM;
}
