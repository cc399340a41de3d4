// Pictures as input: what Pillow wrote comes out as pages of the right size, upright, in its own coding (issue 6).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConversionOptions } from '../../src/convert/converter-types.js';
import { picturesEngine } from '../../src/convert/engines/pictures.js';
import type { FormatId } from '../../src/formats.js';
import { concat, makePng, uint32 } from '../images/make-images.js';
import { type EngineProducts, runEngine } from '../support/engine-run.js';
import { temporaryFolder } from '../support/jobs.js';
import { pagesOfPdf, rasterOfPdf } from '../support/rendering.js';

/** 120 × 80 pixels: red in the left upper quarter, blue elsewhere. */
const PICTURES = `
from PIL import Image
import sys
folder = sys.argv[1] + '/'
image = Image.new('RGB', (120, 80), (0, 0, 255))
image.paste((255, 0, 0), (0, 0, 60, 40))
bits = Image.new('1', (120, 80), 1)
bits.paste(0, (0, 0, 60, 40))
image.save(folder + 'plain.png')
image.save(folder + 'dpi.png', dpi=(150, 150))
image.quantize(4).save(folder + 'palette.png')
Image.new('I;16', (120, 80), 40000).save(folder + 'deep.png')
faint = image.convert('RGBA'); faint.putalpha(128); faint.save(folder + 'alpha.png')
image.save(folder + 'dpi.jpeg', quality=95, dpi=(72, 72))
image.convert('CMYK').save(folder + 'inks.jpeg', quality=95)
image.save(folder + 'dpi.bmp', dpi=(200, 200))
image.save(folder + 'plain.webp', lossless=True)
for turn in range(1, 9):
    exif = Image.Exif(); exif[274] = turn
    image.save(folder + 'turn-%d.jpeg' % turn, quality=95, exif=exif)
bits.save(folder + 'fax.tiff', compression='group4', dpi=(204, 98))
small = image.resize((60, 40))
bits.save(folder + 'pages.tiff', save_all=True, append_images=[image, small.quantize(4), small.convert('CMYK')], compression='tiff_lzw', dpi=(100, 100))
image.save(folder + 'zip.tiff', compression='tiff_adobe_deflate')
image.save(folder + 'jpeg.tiff', compression='jpeg', quality=95)
`;

let folder: ReturnType<typeof temporaryFolder>;

beforeAll(() => {
  folder = temporaryFolder('pictures');
  execFileSync('/usr/bin/python3', ['-c', PICTURES, folder.path]);
});
afterAll(() => folder.remove());

function convert(input: Uint8Array, from: FormatId, options?: ConversionOptions): Promise<EngineProducts> {
  return runEngine(picturesEngine, input, { from, to: 'pdf' }, folder.path, options);
}

async function convertFile(name: string, options?: ConversionOptions): Promise<EngineProducts & { pdf: string }> {
  const from = name.split('.').at(-1) as FormatId;
  const made = await convert(readFileSync(join(folder.path, name)), from, options);
  const pdf = made.files.get('output.pdf')!;
  execFileSync('qpdf', ['--check', pdf]);
  return { ...made, pdf };
}

/** Width and height of each page in pixels of `dpi`. */
function sizes(pdf: string, dpi: number): number[][] {
  return pagesOfPdf(pdf).map(({ widthMm, heightMm }) => [widthMm, heightMm].map((mm) => Math.round((mm / 25.4) * dpi)));
}

/** Colours in the middle of the quarters: left upper, right upper, left lower, right lower. */
async function quarters(pdf: string, page = 1): Promise<string> {
  const { widthPx, heightPx, rgba } = await rasterOfPdf(pdf, page, folder.path);
  const letter = (x: number, y: number): string => {
    const at = 4 * (Math.floor(y * heightPx) * widthPx + Math.floor(x * widthPx));
    const [red, green, blue] = [rgba[at]!, rgba[at + 1]!, rgba[at + 2]!];
    if (red > 180 && green > 180 && blue > 180) return 'w';
    if (red < 80 && green < 80 && blue < 80) return 'k';
    return red > blue ? 'r' : 'b';
  };
  return [letter(0.25, 0.25), letter(0.75, 0.25), letter(0.25, 0.75), letter(0.75, 0.75)].join('');
}

/** How `pdfimages` finds the pictures coded: `jpeg`, `ccitt`, `image`. */
function codings(pdf: string): string[] {
  const lines = execFileSync('pdfimages', ['-list', pdf], { encoding: 'utf8' }).trim().split('\n').slice(2);
  return lines.map((line) => line.trim().split(/\s+/)).map((fields) => `${fields[2]} ${fields[8]}`);
}

describe('a picture', () => {
  it.each([
    ['plain.png', 96, 'image image'],
    ['dpi.png', 150, 'image image'],
    ['palette.png', 96, 'image image'],
    ['dpi.jpeg', 72, 'image jpeg'],
    ['inks.jpeg', 96, 'image jpeg'],
    ['dpi.bmp', 200, 'image image'],
    ['plain.webp', 96, 'image image'],
    ['zip.tiff', 96, 'image image'],
    ['jpeg.tiff', 96, 'image image'],
  ])('%s is a page of its size', async (name, dpi, coding) => {
    const made = await convertFile(name);
    expect(made).toMatchObject({ pages: 1, opened: [name.split('.')[1]], progress: ['1/1'], warnings: [] });
    expect(sizes(made.pdf, dpi)).toEqual([[120, 80]]);
    expect(codings(made.pdf)).toEqual([coding]);
    expect(await quarters(made.pdf)).toBe('rbbb');
  });

  it('keeps its opacity, and 16 bits as 8', async () => {
    const alpha = await convertFile('alpha.png');
    expect(codings(alpha.pdf)).toEqual(['image image', 'smask image']);
    expect((await convertFile('deep.png')).warnings).toEqual([]);
  });

  it.each([
    [1, 'rbbb'],
    [2, 'brbb'],
    [3, 'bbbr'],
    [4, 'bbrb'],
    [5, 'rbbb'],
    [6, 'brbb'],
    [7, 'bbbr'],
    [8, 'bbrb'],
  ])('turned by Exif orientation %i stands upright, its data untouched', async (turn, colors) => {
    const made = await convertFile(`turn-${turn}.jpeg`);
    expect(sizes(made.pdf, 96)).toEqual([turn < 5 ? [120, 80] : [80, 120]]);
    expect(await quarters(made.pdf)).toBe(colors);
    expect(codings(made.pdf)).toEqual(['image jpeg']);
  });

  it('is a PDF/A, and the same bytes each time', async () => {
    const made = await convertFile('dpi.jpeg');
    expect(made.bytes('output.pdf').toString('latin1')).toContain('pdfaid:part');
    expect((await convertFile('dpi.jpeg')).bytes('output.pdf').equals(made.bytes('output.pdf'))).toBe(true);
  });
});

describe('a TIFF', () => {
  it('keeps its fax coding and the shape of its pixels', async () => {
    const made = await convertFile('fax.tiff');
    expect(codings(made.pdf)).toEqual(['image ccitt']);
    expect(sizes(made.pdf, 204)[0]![0]).toBe(120);
    expect(sizes(made.pdf, 98)[0]![1]).toBe(80);
    expect(await quarters(made.pdf)).toBe('kwww');
  });

  it('has all its pages, or those that are wanted', async () => {
    const made = await convertFile('pages.tiff');
    expect(made).toMatchObject({ pages: 4, progress: ['1/4', '2/4', '3/4', '4/4'], warnings: [] });
    expect(sizes(made.pdf, 100)).toEqual([
      [120, 80],
      [120, 80],
      [60, 40],
      [60, 40],
    ]);
    for (const [page, colors] of ['kwww', 'rbbb', 'rbbb', 'rbbb'].entries()) {
      expect(await quarters(made.pdf, page + 1)).toBe(colors);
    }
    const some = await convertFile('pages.tiff', { pages: '2-3' });
    expect(sizes(some.pdf, 100)).toEqual([
      [120, 80],
      [60, 40],
    ]);
    await expect(convertFile('pages.tiff', { pages: '7' })).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('whose directories form a ring ends, and one with damaged pages keeps the sound ones', async () => {
    const bytes = readFileSync(join(folder.path, 'pages.tiff'));
    const directories: number[] = [];
    for (let at = bytes.readUInt32LE(4); at !== 0; at = bytes.readUInt32LE(at + 2 + 12 * bytes.readUInt16LE(at))) {
      directories.push(at);
    }
    const last = directories.at(-1)!;
    const ring = Buffer.from(bytes);
    ring.writeUInt32LE(directories[0]!, last + 2 + 12 * bytes.readUInt16LE(last));
    expect((await convert(ring, 'tiff')).pages).toBe(4);
    const damaged = Buffer.from(bytes);
    damaged.fill(0xff, directories[1]! + 2, directories[1]! + 2 + 24);
    const made = await convert(damaged, 'tiff');
    expect(made.pages).toBe(4);
    expect(made.warnings).toMatchObject([{ code: 'image_undecodable', page: 2 }]);
  });

  it('takes no memory for blocks that lie over each other', async () => {
    const [blocks, blockBytes] = [500, 1024 * 1024];
    const directoryAt = blockBytes + 8 * blocks;
    const bytes = Buffer.alloc(directoryAt + 2 + 12 * 5 + 4);
    bytes.write('II*\0', 'latin1');
    bytes.writeUInt32LE(directoryAt, 4);
    for (let i = 0; i < blocks; i++) {
      bytes.writeUInt32LE(8, blockBytes + 4 * i);
      bytes.writeUInt32LE(blockBytes - i, blockBytes + 4 * (blocks + i));
    }
    const entries = [
      [256, 4, 1, 100],
      [257, 4, 1, 100],
      [258, 3, 1, 8],
      [273, 4, blocks, blockBytes],
      [279, 4, blocks, blockBytes + 4 * blocks],
    ] as const;
    bytes.writeUInt16LE(entries.length, directoryAt);
    for (const [i, [tag, type, count, value]] of entries.entries()) {
      const at = bytes.writeUInt16LE(type, bytes.writeUInt16LE(tag, directoryAt + 2 + 12 * i));
      bytes.writeUInt32LE(value, bytes.writeUInt32LE(count, at));
    }
    const before = process.resourceUsage().maxRSS;
    await expect(convert(bytes, 'tiff')).rejects.toMatchObject({ code: 'conversion_failed', reason: 'corrupt' });
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(100 * 1024);
  });
});

describe('what is no picture that can be shown', () => {
  const plain = makePng({
    width: 4,
    height: 4,
    bitDepth: 8,
    colorType: 0,
    rows: Array.from({ length: 4 }, () => new Uint8Array(4)),
  });
  const claiming = (width: number, height: number): Uint8Array =>
    concat(plain.subarray(0, 16), uint32(width), uint32(height), plain.subarray(24));

  it.each([
    ['is empty', new Uint8Array(0), 'corrupt'],
    ['is text', Buffer.from('no picture'), 'corrupt'],
    ['ends in its header', plain.subarray(0, 20), 'corrupt'],
    ['has no pixels', plain.subarray(0, 40), 'corrupt'],
    ['claims to have no width', claiming(0, 4), 'corrupt'],
    ['claims more pixels than may be', claiming(60_000, 60_000), 'too_large'],
    ['is of another kind', Buffer.from('GIF89a\x04\0\x04\0\0\0\0;', 'latin1'), 'unsupported'],
  ])('fails where it %s', async (_what, bytes, reason) => {
    await expect(convert(bytes, 'png')).rejects.toMatchObject({ code: 'conversion_failed', reason });
  });

  it('is shown as far as its data go', async () => {
    const jpeg = readFileSync(join(folder.path, 'dpi.jpeg'));
    const made = await convert(jpeg.subarray(0, jpeg.length - 60), 'jpeg');
    expect(made.warnings.map(({ code }) => code)).toEqual(['image_partial']);
  });

  it('of an enormous size gets the largest page that there is', async () => {
    const row = new Uint8Array(4000);
    const wide = makePng({ width: 32_000, height: 3, bitDepth: 1, colorType: 0, rows: [row, row, row] });
    const made = await convert(wide, 'png');
    expect(pagesOfPdf(made.files.get('output.pdf')!)[0]!.widthMm).toBeCloseTo(5000, 0);
  });
});
