/** A composite font as objects: Type0 over a CID font, its descriptor, widths, character map and the subset program. */
import { createHash } from 'node:crypto';
import type { Face } from '../../display/face.js';
import { type SubsetFont, subsetFace } from '../../fonts/index.js';
import type { CodedFont, CodedGlyph } from './coded-font.js';
import type { PdfFile } from './file.js';
import { PDFString, type Reference } from './pdf-lib.js';
import { toUnicodeMap } from './to-unicode.js';

/** Bits of a descriptor's flags. */
const FIXED_PITCH = 1;
const SERIF = 2;
const SYMBOLIC = 4;
const ITALIC = 64;

/** Widths that the widths array need not repeat: a full-width glyph. */
const DEFAULT_WIDTH = 1000;

/** What no face tells us; readers only use it to imitate a font that they do not have. */
const STEM_REGULAR = 80;
const STEM_BOLD = 140;
const SLANT_DEGREES = -12;
const CAP_HEIGHT_OF_ASCENT = 0.8;

/** PDF's limit for the length of a name, less the subset's tag. */
const LONGEST_NAME = 100;

export function writeFont(file: PdfFile, font: CodedFont): void {
  const { face, glyphs } = font;
  const subset = subsetFace(
    face,
    glyphs.map((glyph) => glyph.glyphId),
  );
  const name = `${subsetTag(face, glyphs)}+${postScriptName(face)}`;
  const isTrueType = subset.kind === 'truetype';
  const descendant = file.add(
    file.object({
      Type: 'Font',
      Subtype: isTrueType ? 'CIDFontType2' : 'CIDFontType0',
      BaseFont: name,
      CIDSystemInfo: { Registry: PDFString.of('Adobe'), Ordering: PDFString.of('Identity'), Supplement: 0 },
      DW: DEFAULT_WIDTH,
      W: widthsArray(glyphs),
      FontDescriptor: writeDescriptor(file, font, subset, name),
      ...(isTrueType ? { CIDToGIDMap: 'Identity' } : {}),
    }),
  );
  const map = toUnicodeMap(glyphs.map((glyph) => glyph.characters));
  file.add(
    file.object({
      Type: 'Font',
      Subtype: 'Type0',
      BaseFont: name,
      Encoding: 'Identity-H',
      DescendantFonts: [descendant],
      ToUnicode: file.addStream({}, Buffer.from(map, 'latin1')),
    }),
    font.reference,
  );
}

function writeDescriptor(file: PdfFile, font: CodedFont, subset: SubsetFont, name: string): Reference {
  const { face } = font;
  const perMille = (units: number): number => Math.round((units * 1000) / face.unitsPerEm);
  return file.add(
    file.object({
      Type: 'FontDescriptor',
      FontName: name,
      Flags:
        SYMBOLIC | (face.isFixedPitch ? FIXED_PITCH : 0) | (face.isSerif ? SERIF : 0) | (face.isItalic ? ITALIC : 0),
      FontBBox: fontBox(font, subset),
      ItalicAngle: face.isItalic ? SLANT_DEGREES : 0,
      Ascent: perMille(face.ascent),
      Descent: perMille(face.descent),
      CapHeight: perMille(capHeight(face)),
      StemV: face.isBold ? STEM_BOLD : STEM_REGULAR,
      ...writeProgram(file, subset),
    }),
  );
}

function writeProgram(file: PdfFile, subset: SubsetFont): Record<string, Reference> {
  if (subset.kind === 'truetype') return { FontFile2: file.addStream({ Length1: subset.bytes.length }, subset.bytes) };
  return { FontFile3: file.addStream({ Subtype: 'CIDFontType0C' }, subset.bytes) };
}

/** The box around all glyphs: of a TrueType program from its header, else as far as the face's metrics tell. */
function fontBox({ face, glyphs }: CodedFont, subset: SubsetFont): number[] {
  const perMille = (units: number): number => Math.round((units * 1000) / face.unitsPerEm);
  const ofHeader = subset.kind === 'truetype' ? trueTypeBounds(subset.bytes) : undefined;
  if (ofHeader) return ofHeader.map(perMille);
  const widest = glyphs.reduce((most, glyph) => Math.max(most, glyph.width), 0);
  return [0, perMille(face.descent), widest, perMille(face.ascent)];
}

/** xMin yMin xMax yMax of the `head` table. */
function trueTypeBounds(bytes: Uint8Array): number[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tables = view.getUint16(4);
  for (let i = 0; i < tables; i++) {
    const record = 12 + 16 * i;
    if (view.getUint32(record) !== 0x68656164) continue;
    const at = view.getUint32(record + 8) + 36;
    return [0, 2, 4, 6].map((offset) => view.getInt16(at + offset));
  }
  return undefined;
}

function capHeight(face: Face): number {
  const bounds = face.outline(face.glyphForCodePoint('H'.codePointAt(0)!)).controlBounds();
  return bounds && bounds.height > 0 ? bounds.y + bounds.height : face.ascent * CAP_HEIGHT_OF_ASCENT;
}

/** Six letters that are the same for the same glyphs of the same face. */
function subsetTag(face: Face, glyphs: readonly CodedGlyph[]): string {
  const hash = createHash('sha256').update(face.key);
  for (const glyph of glyphs) hash.update(`\n${glyph.glyphId} ${glyph.characters}`);
  return Array.from(hash.digest().subarray(0, 6), (byte) => String.fromCharCode(65 + (byte % 26))).join('');
}

/** A name that every reader can take: printable ASCII without delimiters. */
function postScriptName(face: Face): string {
  const clean = (name: string): string => name.replace(/[^A-Za-z0-9_.-]/g, '').slice(0, LONGEST_NAME);
  return clean(face.postScriptName) || clean(face.familyName) || 'Font';
}

/** `c [w …]` for each stretch of codes that are not of the default width. */
function widthsArray(glyphs: readonly CodedGlyph[]): (number | number[])[] {
  const widths: (number | number[])[] = [];
  let stretch: number[] | undefined;
  for (const [code, { width }] of glyphs.entries()) {
    if (width === DEFAULT_WIDTH) {
      stretch = undefined;
      continue;
    }
    if (stretch) {
      stretch.push(width);
    } else {
      stretch = [width];
      widths.push(code, stretch);
    }
  }
  return widths;
}
