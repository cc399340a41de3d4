/** Writes a CID-keyed CFF font (Adobe-Identity-0, CID = glyph id): the form in which PDF embeds outlines of CFF. */
import { ByteWriter } from './bytes.js';

export interface CidFont {
  readonly name: string;
  readonly unitsPerEm: number;
  readonly charStrings: readonly Uint8Array[];
  /** Font dictionary of each glyph. */
  readonly fontDictOf: readonly number[];
  /** Private DICT of each font dictionary, without subroutines. */
  readonly privates: readonly Uint8Array[];
}

const FIRST_OWN_STRING = 391;

export function writeCidFont(font: CidFont): Uint8Array {
  // All offsets have five bytes, so the parts before them have one size whatever they say.
  const topSize = topDict(font, 0, 0, 0, 0).length;
  const front = (top: Uint8Array): ByteWriter => {
    const writer = new ByteWriter();
    writer.bytes(Uint8Array.of(1, 0, 4, 4));
    writeIndex(writer, [latin1Bytes(font.name)]);
    writeIndex(writer, [top]);
    writeIndex(writer, [latin1Bytes('Adobe'), latin1Bytes('Identity')]);
    writeIndex(writer, []);
    return writer;
  };
  const charsetAt = front(new Uint8Array(topSize)).length;
  const body = new ByteWriter();
  writeCharset(body, font.charStrings.length);
  const fdSelectAt = charsetAt + body.length;
  writeFdSelect(body, font.fontDictOf);
  const charStringsAt = charsetAt + body.length;
  writeIndex(body, font.charStrings);
  const privateOffsets: number[] = [];
  for (const bytes of font.privates) {
    privateOffsets.push(charsetAt + body.length);
    body.bytes(bytes);
  }
  const fdArrayAt = charsetAt + body.length;
  writeIndex(
    body,
    font.privates.map((bytes, i) => privateEntry(bytes.length, privateOffsets[i]!)),
  );
  const writer = front(topDict(font, charsetAt, fdSelectAt, charStringsAt, fdArrayAt));
  writer.bytes(body.take());
  return writer.take();
}

function topDict(font: CidFont, charset: number, fdSelect: number, charStrings: number, fdArray: number): Uint8Array {
  const dict = new ByteWriter();
  writeDictInteger(dict, FIRST_OWN_STRING);
  writeDictInteger(dict, FIRST_OWN_STRING + 1);
  writeDictInteger(dict, 0);
  dict.bytes(Uint8Array.of(12, 30));
  if (font.unitsPerEm !== 1000) {
    for (const value of [1 / font.unitsPerEm, 0, 0, 1 / font.unitsPerEm, 0, 0]) writeDictReal(dict, value);
    dict.bytes(Uint8Array.of(12, 7));
  }
  writeDictInteger(dict, font.charStrings.length);
  dict.bytes(Uint8Array.of(12, 34));
  for (const [offset, operator] of [
    [charset, [15]],
    [charStrings, [17]],
    [fdArray, [12, 36]],
    [fdSelect, [12, 37]],
  ] as const) {
    writeDictInteger(dict, offset, true);
    dict.bytes(Uint8Array.from(operator));
  }
  return dict.take();
}

function privateEntry(size: number, offset: number): Uint8Array {
  const dict = new ByteWriter();
  writeDictInteger(dict, size, true);
  writeDictInteger(dict, offset, true);
  dict.u8(18);
  return dict.take();
}

function writeCharset(writer: ByteWriter, glyphCount: number): void {
  if (glyphCount < 2) {
    writer.u8(0);
    return;
  }
  writer.u8(2);
  writer.u16(1);
  writer.u16(glyphCount - 2);
}

function writeFdSelect(writer: ByteWriter, fontDictOf: readonly number[]): void {
  const starts = fontDictOf.map((_, i) => i).filter((i) => i === 0 || fontDictOf[i] !== fontDictOf[i - 1]);
  writer.u8(3);
  writer.u16(starts.length);
  for (const start of starts) {
    writer.u16(start);
    writer.u8(fontDictOf[start]!);
  }
  writer.u16(fontDictOf.length);
}

function writeIndex(writer: ByteWriter, items: readonly Uint8Array[]): void {
  writer.u16(items.length);
  if (items.length === 0) return;
  const total = items.reduce((sum, item) => sum + item.length, 1);
  const size = total < 0x100 ? 1 : total < 0x10000 ? 2 : total < 0x1000000 ? 3 : 4;
  writer.u8(size);
  let offset = 1;
  const writeOffset = (): void => {
    for (let shift = (size - 1) * 8; shift >= 0; shift -= 8) writer.u8(offset >>> shift);
  };
  writeOffset();
  for (const item of items) {
    offset += item.length;
    writeOffset();
  }
  for (const item of items) writer.bytes(item);
}

/** Appends an integer operand of a DICT; with `isWide` always in five bytes. */
export function writeDictInteger(writer: ByteWriter, value: number, isWide = false): void {
  if (isWide || value < -32768 || value > 32767) {
    writer.u8(29);
    writer.u32(value >>> 0);
  } else if (value >= -107 && value <= 107) writer.u8(value + 139);
  else {
    writer.u8(28);
    writer.u16(value & 0xffff);
  }
}

function writeDictReal(writer: ByteWriter, value: number): void {
  const text = value === 0 ? '0' : String(Number(value.toPrecision(9))).replace('e-', 'c');
  const nibbles = Array.from(text, (c) => (c === '.' ? 10 : c === 'c' ? 12 : c === '-' ? 14 : Number(c)));
  nibbles.push(15);
  if (nibbles.length % 2 === 1) nibbles.push(15);
  writer.u8(30);
  for (let i = 0; i < nibbles.length; i += 2) writer.u8(nibbles[i]! * 16 + nibbles[i + 1]!);
}

function latin1Bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (c) => c.charCodeAt(0));
}
