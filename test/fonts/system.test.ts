import { mkdirSync, mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFontFile, scanFonts, systemFontBook } from '../../src/fonts/system.js';
import { collection, namedFontTables, sfnt } from './make-truetype.js';

let dir = '';

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'fonts-'));
  mkdirSync(join(dir, 'b/deep'), { recursive: true });
  const font = (family: string) => namedFontTables({ family, characters: 'A中' });
  writeFileSync(join(dir, 'b/deep/One.TTF'), sfnt(font('One')));
  writeFileSync(join(dir, 'a.ttc'), collection([font('Two'), font('Three')]));
  writeFileSync(join(dir, 'broken.ttf'), new Uint8Array(100));
  writeFileSync(join(dir, 'notes.txt'), 'no font');
  symlinkSync(dir, join(dir, 'b/loop'));
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ours = (folder: string) => scanFonts([folder]).faces.filter((face) => face.file.startsWith(folder));

describe('faces of the machine', () => {
  it('finds files and members below a folder, in order, each once', () => {
    expect(ours(dir).map((face) => [face.families[0], face.member])).toEqual([
      ['Two', 0],
      ['Three', 1],
      ['One', 0],
    ]);
    expect(scanFonts([dir]).faces[0]!.families).toEqual(['Two']);
    expect(scanFonts([dir, join(dir, 'b')])).toEqual(scanFonts([dir]));
  });

  it('is plain data', () => {
    expect(structuredClone(scanFonts([dir]))).toEqual(scanFonts([dir]));
  });

  it('skips folders that are not there', () => {
    expect(scanFonts(['/nonexistent/fonts']).faces.length).toBe(scanFonts([]).faces.length);
  });

  it('prefers faces of the given folders', () => {
    const font = systemFontBook([dir]).resolve({
      ...{ fontName: 'Three', bold: false, italic: false, serif: false, fixedWidth: false, weight: 400 },
    });
    expect(font.isSubstitute).toBe(false);
    expect(font.glyphFor(0x4e2d)!.face.key).toBe(`${join(dir, 'a.ttc')}#1`);
  });

  it('reads a file that has gone as empty', () => {
    const path = join(dir, 'gone.ttf');
    writeFileSync(path, 'x'.repeat(100));
    const source = openFontFile(path);
    unlinkSync(path);
    expect(source.read(0, 4).length).toBe(0);
    expect(openFontFile(path).byteLength).toBe(0);
  });

  it('keeps few files open', () => {
    const paths = Array.from({ length: 40 }, (_, i) => join(dir, `many-${i}.bin`));
    for (const path of paths) writeFileSync(path, path);
    const sources = paths.map(openFontFile);
    for (let round = 0; round < 2; round++) {
      sources.forEach((source, i) => {
        expect(Buffer.from(source.read(0, 500)).toString()).toBe(paths[i]);
      });
    }
  });
});
