// Fonts of boxes for the characters that no font has: which those are, and that each has a glyph of its own.
import { describe, expect, it } from 'vitest';
import { missingCharacters, placeholderFonts } from '../../src/fonts/placeholder.js';
import { openFace } from '../../src/fonts/sfnt.js';
import { bytesSource } from '../../src/fonts/source.js';
import { namedFontTables, sfnt } from './make-truetype.js';

const file = (characters: string): Uint8Array =>
  sfnt(namedFontTables({ family: 'Some', chineseFamily: '某', characters }));

describe('missing characters', () => {
  it('are all that show something, without those of the faces', async () => {
    const files: Readonly<Record<string, Uint8Array>> = { a: file('A中'), b: file('B') };
    const record = (name: string) => ({ file: name, member: 0 }) as never;
    const missing = await missingCharacters({ faces: [record('a'), record('b')] }, (name) => bytesSource(files[name]!));
    const has = (text: string): boolean[] => [...text].map((character) => missing.includes(character.codePointAt(0)!));
    expect(has('A中B')).toEqual([false, false, false]);
    expect(has('C文𪚥👨\ue000ि')).toEqual([true, true, true, true, true, true]);
    expect(has(' \n\u200d\ufe0f\u{e0100}\ud800\uffff')).not.toContain(true);
    expect(missing).toEqual([...missing].sort((a, b) => a - b));
  });
});

describe('placeholder fonts', () => {
  it('have a box for each character, and each box a number', () => {
    const characters = Array.from({ length: 70_000 }, (_, i) => 0x20000 + 2 * i);
    const fonts = [...placeholderFonts(characters)].map((bytes) => openFace(bytesSource(bytes), { key: '' })!);
    expect(fonts.map(({ postScriptName }) => postScriptName)).toEqual(['MissingCharacters1', 'MissingCharacters2']);
    const [first, second] = fonts;
    const glyphs = characters.map((codePoint) => [
      first!.glyphForCodePoint(codePoint),
      second!.glyphForCodePoint(codePoint),
    ]);
    expect(glyphs[0]).toEqual([2, 0]);
    expect(glyphs[59_999]).toEqual([60_001, 0]);
    expect(glyphs[60_000]).toEqual([0, 2]);
    expect(glyphs[69_999]).toEqual([0, 10_001]);
    expect(first!.glyphForCodePoint(0x20001)).toBe(0);
    for (const glyphId of [2, 60_001]) {
      expect(first!.advance(glyphId)).toBe(1000);
      expect(first!.outline(glyphId)).toEqual(first!.outline(1));
    }
    expect(first!.outline(1).coordinates.slice(0, 4)).toEqual([90, -20, 90, 780]);
  });
});
