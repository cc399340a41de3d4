/** Small CFF fonts made by hand, name-keyed or CID-keyed. */
import { bytesOf, word } from './make-truetype.js';

export type Token = number | keyof typeof OPERATORS | Uint8Array;

/** A charstring written as numbers and names: `cs(100, 'hmoveto', …)`. Bytes (hint masks) stand as they are. */
export function cs(...tokens: readonly Token[]): Uint8Array {
  return bytesOf(
    ...tokens.map((token) => {
      if (typeof token === 'number') return charstringNumber(token);
      return typeof token === 'string' ? Uint8Array.from(OPERATORS[token]) : token;
    }),
  );
}

const OPERATORS = {
  hstem: [1],
  vstem: [3],
  vmoveto: [4],
  rlineto: [5],
  hlineto: [6],
  vlineto: [7],
  rrcurveto: [8],
  closepath: [9],
  callsubr: [10],
  return: [11],
  hsbw: [13],
  endchar: [14],
  hstemhm: [18],
  hintmask: [19],
  rmoveto: [21],
  hmoveto: [22],
  rcurveline: [24],
  rlinecurve: [25],
  vvcurveto: [26],
  hhcurveto: [27],
  callgsubr: [29],
  vhcurveto: [30],
  hvcurveto: [31],
  seac: [12, 6],
  add: [12, 10],
  sub: [12, 11],
  div: [12, 12],
  callothersubr: [12, 16],
  pop: [12, 17],
  ifelse: [12, 22],
  exch: [12, 28],
  roll: [12, 30],
  setcurrentpoint: [12, 33],
  hflex: [12, 34],
  flex: [12, 35],
  hflex1: [12, 36],
  flex1: [12, 37],
} as const;

function charstringNumber(value: number): Uint8Array {
  if (!Number.isInteger(value))
    return bytesOf(255, word(Math.floor(value), Math.round((value - Math.floor(value)) * 65536)));
  if (value >= -107 && value <= 107) return Uint8Array.of(value + 139);
  if (value >= 108 && value <= 1131) return Uint8Array.of(247 + ((value - 108) >> 8), (value - 108) & 0xff);
  if (value <= -108 && value >= -1131) return Uint8Array.of(251 + ((-value - 108) >> 8), (-value - 108) & 0xff);
  return bytesOf(28, word(value));
}

function index(items: readonly Uint8Array[]): Uint8Array {
  if (items.length === 0) return word(0);
  let offset = 1;
  const offsets = [1, ...items.map((item) => (offset += item.length))];
  return bytesOf(word(items.length), 2, word(...offsets), ...items);
}

/** Operands of a DICT: integers in five bytes, text as a real number. */
function dict(
  ...entries: readonly (readonly [operator: readonly number[], operands: readonly (number | string)[]])[]
): Uint8Array {
  return bytesOf(
    ...entries.map(([operator, operands]) =>
      bytesOf(
        ...operands.map((v) => (typeof v === 'string' ? real(v) : bytesOf(29, word(v >> 16, v)))),
        Uint8Array.from(operator),
      ),
    ),
  );
}

function real(text: string): Uint8Array {
  const nibbles = Array.from(text, (c) => (c === '.' ? 10 : c === '-' ? 14 : Number(c)));
  nibbles.push(15);
  if (nibbles.length % 2 === 1) nibbles.push(15);
  return bytesOf(30, ...nibbles.flatMap((n, i) => (i % 2 === 0 ? [n * 16 + nibbles[i + 1]!] : [])));
}

export interface CffOptions {
  readonly charStrings: readonly Uint8Array[];
  readonly globalSubrs?: readonly Uint8Array[];
  readonly localSubrs?: readonly Uint8Array[];
  readonly fontMatrix?: readonly string[];
  /** String ids (or CIDs) of the glyphs after the first. */
  readonly charset?: readonly number[];
  readonly strings?: readonly string[];
  readonly widths?: readonly [defaultWidth: number, nominalWidth: number];
  /** Makes the font CID-keyed: the font dictionary of each glyph, and the matrix of each dictionary. */
  readonly cid?: { readonly select: readonly number[]; readonly matrices: readonly (readonly string[] | undefined)[] };
}

const FONT_MATRIX = [12, 7];

export function cff(options: CffOptions): Uint8Array {
  const { charStrings, globalSubrs = [], localSubrs = [], widths = [0, 0], cid } = options;
  const charset = options.charset ?? charStrings.slice(1).map((_, i) => i + 1);
  const text = (s: string): Uint8Array => Uint8Array.from(s, (c) => c.charCodeAt(0));
  const strings = index([...(cid ? ['Adobe', 'GB1'] : []), ...(options.strings ?? [])].map(text));
  const head = (top: Uint8Array): Uint8Array =>
    bytesOf(1, 0, 4, 2, index([text('ABCDEF+Hand')]), index([top]), strings, index(globalSubrs));
  const privateDict = (): Uint8Array => dict([[20], [widths[0]]], [[21], [widths[1]]], [[19], [3 * 6]]);
  const top = (at: Record<string, number>): Uint8Array =>
    dict(
      ...(cid
        ? ([
            [
              [12, 30],
              [391, 392, 0],
            ],
          ] as const)
        : []),
      ...(options.fontMatrix ? ([[FONT_MATRIX, options.fontMatrix]] as const) : []),
      [[15], [at.charset!]],
      [[17], [at.charStrings!]],
      ...(cid
        ? ([
            [[12, 36], [at.fdArray!]],
            [[12, 37], [at.fdSelect!]],
          ] as const)
        : ([[[18], [privateDict().length, at.private!]]] as const)),
    );
  const at: Record<string, number> = { charset: 0, charStrings: 0, private: 0, fdArray: 0, fdSelect: 0 };
  const parts: [string, () => Uint8Array][] = [
    ['charset', () => bytesOf(0, word(...charset))],
    ['charStrings', () => index(charStrings)],
    ['private', () => bytesOf(privateDict(), index(localSubrs))],
    ['fdSelect', () => bytesOf(0, ...(cid?.select ?? []))],
    [
      'fdArray',
      () =>
        index(
          (cid?.matrices ?? []).map((matrix) =>
            dict(...(matrix ? ([[FONT_MATRIX, matrix]] as const) : []), [[18], [privateDict().length, at.private!]]),
          ),
        ),
    ],
  ];
  let offset = head(top(at)).length;
  for (const [name, bytes] of parts) {
    at[name] = offset;
    offset += bytes().length;
  }
  return bytesOf(head(top(at)), ...parts.map(([, bytes]) => bytes()));
}
