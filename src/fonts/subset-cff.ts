/** The used glyphs of any face as a CID-keyed CFF font: taken over where it is CFF already, else drawn anew. */
import type { Face } from '../display/face.js';
import { ByteWriter } from './bytes.js';
import { type CffPrivate, OP, readDict } from './cff.js';
import { writeCidFont } from './cff-writer.js';
import type { CffProgram } from './glyph-program.js';
import { writeCharstring } from './type2-encode.js';
import { flattenType2 } from './type2-flatten.js';

/** Hints and widths of a Private DICT; what points elsewhere (Subrs) stays behind. */
const KEPT_PRIVATE: ReadonlySet<number> = new Set([
  ...[6, 7, 8, 9, 10, 11, OP.defaultWidth, OP.nominalWidth],
  ...[9, 10, 11, 12, 13, 14, 17, 18, 19].map((second) => 0x0c00 | second),
]);

/** CFF bytes of the font whose glyph (and CID) i is `glyphIds[i]`. */
export function subsetToCff(face: Face, program: CffProgram | undefined, glyphIds: readonly number[]): Uint8Array {
  const fontDicts = new Map<number, number>();
  const fontDictOf: number[] = [];
  const charStrings: Uint8Array[] = [];
  const writer = new ByteWriter();
  for (const glyphId of glyphIds) {
    const source = program?.tables.fontDictOf(glyphId) ?? 0;
    if (!fontDicts.has(source)) fontDicts.set(source, fontDicts.size);
    fontDictOf.push(fontDicts.get(source)!);
    writer.truncate(0);
    writeGlyph(writer, face, program, glyphId);
    charStrings.push(writer.take());
  }
  const privates = [...fontDicts.keys()].map((i) => keptPrivate(program?.tables.fontDict(i)));
  return writeCidFont({
    name: face.postScriptName.replace(/[^\x21-\x7e]|[[\](){}<>/%]/g, '').slice(0, 63) || 'Subset',
    unitsPerEm: face.unitsPerEm,
    charStrings,
    fontDictOf,
    privates: privates.length > 0 ? privates : [new Uint8Array(0)],
  });
}

function writeGlyph(writer: ByteWriter, face: Face, program: CffProgram | undefined, glyphId: number): void {
  const font = program?.tables.privateOf(glyphId);
  const width = face.advance(glyphId);
  const widthDelta = width === (font?.defaultWidth ?? 0) ? undefined : width - (font?.nominalWidth ?? 0);
  if (program !== undefined && program.transform(glyphId) === undefined) {
    const charString = program.tables.charStrings.item(glyphId);
    if (flattenType2(writer, charString, program.context(glyphId), widthDelta)) return;
  }
  writeCharstring(writer, face.outline(glyphId), widthDelta);
}

function keptPrivate(font: CffPrivate | undefined): Uint8Array {
  const writer = new ByteWriter();
  if (font === undefined) return writer.take();
  readDict(font.bytes, (operator, operands) => {
    if (!KEPT_PRIVATE.has(operator)) return;
    writer.bytes(operands);
    if (operator >= 0x0c00) writer.u8(12);
    writer.u8(operator & 0xff);
  });
  return writer.take();
}
