/** Small TrueType fonts made by hand: every table can be left out, broken or replaced. */

export type Contour = readonly (readonly [x: number, y: number, onCurve: boolean])[];

export function bytesOf(...values: readonly (number | Uint8Array)[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => (typeof value === 'number' ? [value & 0xff] : [...value])));
}

export function word(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [(value >> 8) & 0xff, value & 0xff]));
}

export function long(...values: readonly number[]): Uint8Array {
  return bytesOf(...values.map((value) => word(value >>> 16, value)));
}

export const SQUARE: Contour = [
  [100, 0, true],
  [100, 700, true],
  [800, 700, true],
  [800, 0, true],
];

/** A simple glyph with 16-bit steps; its box is that of its points. */
export function simpleGlyph(contours: readonly Contour[], instructions: readonly number[] = []): Uint8Array {
  const points = contours.flat();
  const xs = points.map(([x]) => x);
  const ys = points.map(([, y]) => y);
  let last = -1;
  const ends = contours.map((contour) => {
    last += contour.length;
    return last;
  });
  const steps = (values: readonly number[]): Uint8Array => word(...values.map((v, i) => v - (values[i - 1] ?? 0)));
  return bytesOf(
    word(contours.length, Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), ...ends),
    word(instructions.length),
    Uint8Array.from(instructions),
    Uint8Array.from(points, ([, , onCurve]) => (onCurve ? 1 : 0)),
    steps(xs),
    steps(ys),
  );
}

export interface Part {
  readonly glyphId: number;
  readonly dx: number;
  readonly dy: number;
  readonly scale?: number;
  readonly flags?: number;
}

export function compositeGlyph(parts: readonly Part[], xMin = 0): Uint8Array {
  return bytesOf(
    word(-1, xMin, 0, 1000, 1000),
    ...parts.map(({ glyphId, dx, dy, scale, flags = 0x0002 }, i) =>
      bytesOf(
        word(
          flags | 0x0001 | (scale === undefined ? 0 : 0x0008) | (i + 1 < parts.length ? 0x0020 : 0),
          glyphId,
          dx,
          dy,
        ),
        scale === undefined ? new Uint8Array(0) : word(Math.round(scale * 16384)),
      ),
    ),
  );
}

export type Subtable = readonly [platform: number, encoding: number, bytes: Uint8Array];

export function cmapTable(...subtables: readonly Subtable[]): Uint8Array {
  let offset = 4 + subtables.length * 8;
  const records = subtables.map(([platform, encoding, bytes]) => {
    const record = bytesOf(word(platform, encoding), long(offset));
    offset += bytes.length;
    return record;
  });
  return bytesOf(word(0, subtables.length), ...records, ...subtables.map(([, , bytes]) => bytes));
}

/** Format 4 with one segment a character. */
export function cmapFormat4(map: Readonly<Record<number, number>>): Uint8Array {
  const codes = Object.keys(map).map(Number);
  const ends = [...codes, 0xffff];
  const deltas = [...codes.map((code) => map[code]! - code), 1];
  const body = bytesOf(word(...ends), word(0), word(...ends), word(...deltas), word(...ends.map(() => 0)));
  return bytesOf(word(4, 14 + body.length, 0, ends.length * 2, 0, 0, 0), body);
}

export function cmapFormat12(format: 12 | 13, groups: readonly (readonly [number, number, number])[]): Uint8Array {
  return bytesOf(word(format, 0), long(16 + groups.length * 12, 0, groups.length), ...groups.map((g) => long(...g)));
}

export function nameTable(names: readonly (readonly [nameId: number, language: number, text: string])[]): Uint8Array {
  const texts = names.map(([, , text]) => word(...Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))));
  let offset = 0;
  const records = names.map(([nameId, language], i) => {
    const record = word(3, 1, language, nameId, texts[i]!.length, offset);
    offset += texts[i]!.length;
    return record;
  });
  return bytesOf(word(0, names.length, 6 + names.length * 12), ...records, ...texts);
}

export interface Os2 {
  readonly weight?: number;
  readonly width?: number;
  readonly selection?: number;
  readonly coversHan?: boolean;
}

export function os2Table({ weight = 400, width = 5, selection = 0, coversHan = false }: Os2): Uint8Array {
  const table = new Uint8Array(86);
  table.set(word(4, 500, weight, width), 0);
  table[46] = coversHan ? 0x08 : 0;
  table.set(word(selection), 62);
  table.set(word(880, -120), 68);
  return table;
}

export interface FontOptions {
  readonly glyphs: readonly Uint8Array[];
  /** Advance and side bearing of each glyph. */
  readonly metrics?: readonly (readonly [number, number])[];
  readonly unitsPerEm?: number;
  readonly tables?: Readonly<Record<string, Uint8Array | undefined>>;
}

/** The tables of a font in directory order; `tables` replaces, adds or (with undefined) drops some. */
export function trueTypeTables(options: FontOptions): Record<string, Uint8Array> {
  const { glyphs, metrics = glyphs.map(() => [1000, 0] as const), unitsPerEm = 1000 } = options;
  const padded = glyphs.map((glyph) => bytesOf(glyph, new Uint8Array((4 - (glyph.length % 4)) % 4)));
  let offset = 0;
  const loca = padded.map((glyph) => {
    offset += glyph.length;
    return offset;
  });
  const head = new Uint8Array(54);
  head.set(word(unitsPerEm), 18);
  head.set(word(1), 50);
  const hhea = new Uint8Array(36);
  hhea.set(word(900, -100), 4);
  hhea.set(word(metrics.length), 34);
  const tables: Record<string, Uint8Array | undefined> = {
    head,
    hhea,
    maxp: bytesOf(long(0x00010000), word(glyphs.length), new Uint8Array(26)),
    hmtx: bytesOf(...metrics.map(([advance, bearing]) => word(advance, bearing))),
    loca: long(0, ...loca),
    glyf: bytesOf(...padded),
    ...options.tables,
  };
  return Object.fromEntries(Object.entries(tables).filter((entry): entry is [string, Uint8Array] => !!entry[1]));
}

/** An sfnt with its tables in the given order and zeros for checksums and search fields. */
export function sfnt(tables: Readonly<Record<string, Uint8Array>>, version = 0x00010000, fileOffset = 0): Uint8Array {
  const entries = Object.entries(tables);
  let offset = fileOffset + 12 + entries.length * 16;
  const directory = entries.map(([tag, bytes]) => {
    const record = bytesOf(
      Uint8Array.from(tag, (c) => c.charCodeAt(0)),
      long(0, offset, bytes.length),
    );
    offset += bytes.length;
    return record;
  });
  return bytesOf(long(version), word(entries.length, 0, 0, 0), ...directory, ...entries.map(([, bytes]) => bytes));
}

export function trueType(options: FontOptions): Uint8Array {
  return sfnt(trueTypeTables(options));
}

/** A collection whose members share nothing. */
export function collection(members: readonly Readonly<Record<string, Uint8Array>>[]): Uint8Array {
  let offset = 12 + members.length * 4;
  const fonts = members.map((tables) => {
    const bytes = sfnt(tables, 0x00010000, offset);
    const at = offset;
    offset += bytes.length;
    return { bytes, at };
  });
  const tag = Uint8Array.from('ttcf', (c) => c.charCodeAt(0));
  return bytesOf(
    tag,
    long(0x00010000, members.length, ...fonts.map(({ at }) => at)),
    ...fonts.map(({ bytes }) => bytes),
  );
}

export interface NamedFont {
  readonly family: string;
  readonly chineseFamily?: string;
  readonly fullName?: string;
  readonly postScriptName?: string;
  readonly characters: string;
  readonly os2?: Os2;
}

/** Tables of a font with names and a square for each of its characters. */
export function namedFontTables(font: NamedFont): Record<string, Uint8Array> {
  const characters = [...new Set(font.characters)].sort();
  const map = Object.fromEntries(characters.map((character, i) => [character.codePointAt(0)!, i + 1]));
  const names: [number, number, string][] = [
    [1, 0x409, font.family],
    [4, 0x409, font.fullName ?? font.family],
    [6, 0x409, font.postScriptName ?? font.family.replaceAll(' ', '')],
  ];
  if (font.chineseFamily !== undefined) names.push([1, 0x804, font.chineseFamily]);
  return trueTypeTables({
    glyphs: ['', ...characters].map(() => simpleGlyph([SQUARE])),
    tables: {
      cmap: cmapTable([3, 1, cmapFormat4(map)]),
      name: nameTable(names),
      'OS/2': os2Table({ coversHan: /\p{Script=Han}/u.test(font.characters), ...font.os2 }),
    },
  });
}
