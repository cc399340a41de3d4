/** The three kinds of glyph descriptions behind one interface: TrueType, CFF and Type 1. */
import { Path } from '../display/geometry.js';
import { i16 } from './bytes.js';
import { type CffTables, OP } from './cff.js';
import type { GlyfTable } from './glyf.js';
import { characterOfGlyphName, standardEncodingSid, standardString } from './glyph-names.js';
import { drawType1 } from './type1.js';
import type { Type1Program } from './type1-program.js';
import { drawType2, type Type2Context } from './type2.js';

type Matrix6 = readonly [number, number, number, number, number, number];

export interface Glyph {
  /** Font units, y up. */
  readonly path: Path;
  /** Advance that the description itself gives, in font units; TrueType gives none. */
  readonly advance: number | undefined;
}

export interface GlyphProgram {
  readonly kind: 'truetype' | 'cff' | 'type1';
  readonly glyphCount: number;
  draw(glyphId: number): Glyph;
}

export class TrueTypeProgram implements GlyphProgram {
  readonly kind = 'truetype';
  readonly glyphs: GlyfTable;
  readonly #bearing: (glyphId: number) => number | undefined;

  constructor(glyphs: GlyfTable, bearing: (glyphId: number) => number | undefined) {
    this.glyphs = glyphs;
    this.#bearing = bearing;
  }

  get glyphCount(): number {
    return this.glyphs.glyphCount;
  }

  draw(glyphId: number): Glyph {
    return { path: this.glyphs.outline(glyphId, this.#bearing), advance: undefined };
  }

  /** Left side bearing that leaves the glyph where `draw` puts it. */
  bearing(glyphId: number): number {
    return this.#bearing(glyphId) ?? i16(this.glyphs.bytes(glyphId), 2);
  }
}

export class CffProgram implements GlyphProgram {
  readonly kind = 'cff';
  readonly tables: CffTables;
  readonly #unitsPerEm: number;

  /** `unitsPerEm` of the sfnt around the table rules; a bare font's own matrix does otherwise. */
  constructor(tables: CffTables, unitsPerEm: number) {
    this.tables = tables;
    this.#unitsPerEm = unitsPerEm;
  }

  get glyphCount(): number {
    return this.tables.charStrings.count;
  }

  draw(glyphId: number): Glyph {
    const font = this.tables.privateOf(glyphId);
    const { path, widthDelta } = drawType2(this.tables.charStrings.item(glyphId), this.context(glyphId));
    const width = widthDelta === undefined ? font.defaultWidth : font.nominalWidth + widthDelta;
    const matrix = this.transform(glyphId);
    return matrix ? { path: path.transformed(matrix), advance: width * matrix[0] } : { path, advance: width };
  }

  context(glyphId: number): Type2Context {
    const { tables } = this;
    return {
      globalSubrs: tables.globalSubrs,
      localSubrs: tables.privateOf(glyphId).localSubrs,
      standardGlyph(code) {
        if (tables.isCidKeyed) return undefined;
        const component = tables.glyphOfSid(standardEncodingSid(code));
        return component === undefined ? undefined : tables.charStrings.item(component);
      },
    };
  }

  /** Charstring space → font units where the two differ (a FontMatrix that is not 1/unitsPerEm). */
  transform(glyphId: number): Matrix6 | undefined {
    const matrix = cffFontMatrix(this.tables, this.tables.fontDictOf(glyphId));
    if (matrix === undefined) return undefined;
    const scaled = matrix.map((v) => v * this.#unitsPerEm) as unknown as Matrix6;
    const isPlain = [1, 0, 0, 1, 0, 0].every((v, i) => Math.abs(scaled[i]! - v) < 1e-4);
    return isPlain ? undefined : scaled;
  }
}

/**
 * Charstring space → em of a font dictionary: its own FontMatrix on top of the font's. Undefined where neither is
 * given (0.001). Writers that give 0.001 in both places mean it once.
 */
export function cffFontMatrix(tables: CffTables, fontDict: number): Matrix6 | undefined {
  const top = matrixOf(tables.top.get(OP.fontMatrix));
  const own = tables.isCidKeyed ? matrixOf(tables.fontDict(fontDict).fontMatrix) : undefined;
  if (top === undefined || own === undefined) return own ?? top;
  if (Math.abs(top[0]) < 0.1 && Math.abs(own[0]) < 0.1) return own;
  const [a, b, c, d, e, f] = top;
  const [g, h, i, j, k, l] = own;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

function matrixOf(values: readonly number[] | undefined): Matrix6 | undefined {
  if (values?.length !== 6 || !values.every(Number.isFinite)) return undefined;
  const [a, b, c, d] = values as unknown as Matrix6;
  return Math.abs(a * d - b * c) < 1e-16 ? undefined : (values as unknown as Matrix6);
}

export class Type1GlyphProgram implements GlyphProgram {
  readonly kind = 'type1';
  readonly program: Type1Program;
  readonly #scale: Matrix6 | undefined;
  readonly #glyphOfName: ReadonlyMap<string, number>;

  constructor(program: Type1Program, unitsPerEm: number) {
    this.program = program;
    const scaled = matrixOf(program.fontMatrix)?.map((v) => v * unitsPerEm) as Matrix6 | undefined;
    const isPlain = scaled === undefined || [1, 0, 0, 1, 0, 0].every((v, i) => Math.abs(scaled[i]! - v) < 1e-4);
    this.#scale = isPlain ? undefined : scaled;
    this.#glyphOfName = new Map(program.glyphNames.map((name, i) => [name, i]));
  }

  get glyphCount(): number {
    return this.program.charStrings.length;
  }

  draw(glyphId: number): Glyph {
    const charString = this.program.charStrings[glyphId];
    if (charString === undefined) return { path: new Path(), advance: undefined };
    const { path, width } = drawType1(charString, {
      subrs: this.program.subrs,
      standardGlyph: (code) => {
        const glyph = this.#glyphOfName.get(standardString(standardEncodingSid(code)));
        return glyph === undefined ? undefined : this.program.charStrings[glyph];
      },
    });
    const scale = this.#scale;
    return scale ? { path: path.transformed(scale), advance: width * scale[0] } : { path, advance: width };
  }
}

/** Characters → glyphs by glyph names; undefined where no name means a character. */
export function mapByGlyphNames(count: number, nameOf: (glyphId: number) => string): Map<number, number> | undefined {
  const map = new Map<number, number>();
  for (let glyphId = 1; glyphId < count; glyphId++) {
    const codePoint = characterOfGlyphName(nameOf(glyphId));
    if (codePoint !== undefined && !map.has(codePoint)) map.set(codePoint, glyphId);
  }
  return map.size > 0 ? map : undefined;
}
