// Right pixels of every format: depth, polarity, order of rows and channels, opacity.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type DecodedImage, decodeImage, identifyImage } from '../../src/images/index.js';
import { concat, makeBmp, makeGif, makeJbig2, makeJpeg, makePng, makeTiff, type TiffTag } from './make-images.js';
import {
  ALPHA_JP2,
  bareCodestream,
  FAX_G3_2D_TIFF,
  FAX_G3_TIFF,
  FAX_G4_STRIP_BYTES,
  FAX_G4_TIFF,
  FAX_HEIGHT,
  FAX_WIDTH,
  faxPattern,
  GRAY_ALPHA_JP2,
  GRAY_JP2,
  inColorSpace,
  RGB_JP2,
  RGB_WEBP,
} from './samples.js';

const hasJbig2dec = spawnSync('jbig2dec', ['--version']).error === undefined;
const decode = (bytes: Uint8Array): Promise<DecodedImage> => decodeImage(identifyImage(bytes, 'part')!);
const pixels = async (bytes: Uint8Array): Promise<number[][]> => {
  const { rgba } = await decode(bytes);
  return Array.from({ length: rgba.length / 4 }, (_, i) => [...rgba.subarray(i * 4, i * 4 + 4)]);
};
const row = (...values: number[]) => Uint8Array.from(values);

describe('PNG', () => {
  it.each([
    [1, 0b01000000, [0, 255]],
    [2, 0b01100000, [85, 170]],
    [4, 0x3c, [51, 204]],
  ])('grey of %i bits', async (bitDepth, byte, [first, second]) => {
    const png = makePng({ width: 2, height: 1, bitDepth, colorType: 0, rows: [row(byte)] });
    expect(await pixels(png)).toEqual([
      [first, first, first, 255],
      [second, second, second, 255],
    ]);
  });

  it('keeps straight alpha exactly, even where nearly clear', async () => {
    const png = makePng({
      width: 2,
      height: 1,
      bitDepth: 8,
      colorType: 6,
      rows: [row(201, 102, 3, 1, 9, 8, 7, 0)],
    });
    expect(await pixels(png)).toEqual([
      [201, 102, 3, 1],
      [9, 8, 7, 0],
    ]);
    expect((await decode(png)).hasAlpha).toBe(true);
  });

  it('says that opaque alpha is none', async () => {
    const png = makePng({ width: 1, height: 1, bitDepth: 8, colorType: 4, rows: [row(50, 255)] });
    expect(await decode(png)).toMatchObject({ hasAlpha: false });
    expect(await pixels(png)).toEqual([[50, 50, 50, 255]]);
  });

  it('takes the high byte of 16 bits', async () => {
    const png = makePng({
      width: 1,
      height: 1,
      bitDepth: 16,
      colorType: 6,
      rows: [row(200, 9, 100, 9, 50, 9, 128, 9)],
    });
    expect(await pixels(png)).toEqual([[200, 100, 50, 128]]);
  });

  it('palette with transparency of its first colours, an index beyond it black', async () => {
    const png = makePng({
      width: 3,
      height: 1,
      bitDepth: 4,
      colorType: 3,
      palette: [255, 0, 0, 0, 255, 0],
      transparency: [7],
      rows: [row(0x01, 0xf0)],
    });
    expect(await pixels(png)).toEqual([
      [255, 0, 0, 7],
      [0, 255, 0, 255],
      [0, 0, 0, 255],
    ]);
  });

  it('one colour made clear', async () => {
    const png = makePng({
      width: 2,
      height: 1,
      bitDepth: 8,
      colorType: 2,
      transparency: [0, 1, 0, 2, 0, 3],
      rows: [row(1, 2, 3, 1, 2, 4)],
    });
    expect((await pixels(png)).map((p) => p[3])).toEqual([0, 255]);
  });

  it('all filters', async () => {
    const rows = [0, 1, 2, 3, 4].map((y) => Uint8Array.from({ length: 21 }, (_, x) => (x * 37 + y * 91) & 255));
    const plain = makePng({ width: 7, height: 5, bitDepth: 8, colorType: 2, rows });
    const filtered = makePng({ width: 7, height: 5, bitDepth: 8, colorType: 2, rows, filters: [1, 4, 3, 2, 4] });
    expect(await pixels(filtered)).toEqual(await pixels(plain));
  });

  it('interlaced', async () => {
    // 5 × 5, value = 10·y + x; passes 1, 2, 4, 5, 6, 7 have pixels in Adam's order.
    const at = (y: number, ...xs: number[]) => Uint8Array.from(xs.map((x) => 10 * y + x));
    const rows = [
      at(0, 0),
      at(0, 4),
      concat(at(4, 0), at(4, 4)),
      at(0, 2),
      at(4, 2),
      at(2, 0, 2, 4),
      at(0, 1, 3),
      at(2, 1, 3),
      at(4, 1, 3),
      at(1, 0, 1, 2, 3, 4),
      at(3, 0, 1, 2, 3, 4),
    ];
    const png = makePng({ width: 5, height: 5, bitDepth: 8, colorType: 0, rows, isInterlaced: true });
    const gray = (await pixels(png)).map((p) => p[0]);
    expect(gray).toEqual(Array.from({ length: 25 }, (_, i) => 10 * Math.floor(i / 5) + (i % 5)));
  });
});

describe('BMP', () => {
  it('24 bits, lowest row first, padded rows', async () => {
    const data = [3, 2, 1, 0, 6, 5, 4, 0];
    expect(await pixels(makeBmp({ width: 1, height: 2, bitsPerPixel: 24, data }))).toEqual([
      [4, 5, 6, 255],
      [1, 2, 3, 255],
    ]);
    expect(await pixels(makeBmp({ width: 1, height: -2, bitsPerPixel: 24, data }))).toEqual([
      [1, 2, 3, 255],
      [4, 5, 6, 255],
    ]);
  });

  it.each([
    [1, [0b01000000, 0, 0, 0]],
    [4, [0x01, 0, 0, 0]],
    [8, [0, 1, 0, 0]],
  ])('palette of %i bits', async (bitsPerPixel, data) => {
    const palette = new Array(4 << bitsPerPixel).fill(0);
    palette.splice(0, 8, 30, 20, 10, 0, 60, 50, 40, 0);
    expect(await pixels(makeBmp({ width: 2, height: 1, bitsPerPixel, palette, data }))).toEqual([
      [10, 20, 30, 255],
      [40, 50, 60, 255],
    ]);
  });

  it('16 bits are five a channel', async () => {
    const bmp = makeBmp({ width: 2, height: 1, bitsPerPixel: 16, data: [0x1f, 0x00, 0xe0, 0x7f] });
    expect(await pixels(bmp)).toEqual([
      [0, 0, 255, 255],
      [255, 255, 0, 255],
    ]);
  });

  it('32 bits without an alpha mask are opaque whatever the fourth byte says', async () => {
    const bmp = makeBmp({ width: 2, height: 1, bitsPerPixel: 32, data: [3, 2, 1, 0, 6, 5, 4, 77] });
    expect(await pixels(bmp)).toEqual([
      [1, 2, 3, 255],
      [4, 5, 6, 255],
    ]);
  });

  it('a declared alpha counts, unless it is zero everywhere', async () => {
    const masks = [0xff0000, 0xff00, 0xff, 0xff000000];
    const bmp = (data: number[]) => makeBmp({ width: 2, height: 1, bitsPerPixel: 32, compression: 3, masks, data });
    expect(await pixels(bmp([3, 2, 1, 128, 6, 5, 4, 0]))).toEqual([
      [1, 2, 3, 128],
      [4, 5, 6, 0],
    ]);
    expect((await pixels(bmp([3, 2, 1, 0, 6, 5, 4, 0]))).map((p) => p[3])).toEqual([255, 255]);
  });

  it('run lengths with literals, jumps and ends of line', async () => {
    const palette = new Array(1024).fill(0);
    palette.splice(0, 12, 0, 0, 0, 0, 1, 1, 1, 0, 2, 2, 2, 0);
    const data = [3, 1, 0, 0, 0, 3, 1, 2, 1, 0, 0, 1];
    const gray = (await pixels(makeBmp({ width: 3, height: 2, bitsPerPixel: 8, compression: 1, palette, data }))).map(
      (p) => p[0],
    );
    expect(gray).toEqual([1, 2, 1, 1, 1, 1]);
    const nibbles = [3, 0x12, 0, 2, 0, 1, 0, 3, 0x21, 0x20, 0, 1];
    const bmp = makeBmp({
      width: 3,
      height: 2,
      bitsPerPixel: 4,
      compression: 2,
      palette: palette.slice(0, 64),
      data: nibbles,
    });
    expect((await pixels(bmp)).map((p) => p[0]).slice(3)).toEqual([1, 2, 1]);
  });
});

describe('JPEG', () => {
  it('grey and colour', async () => {
    const gray = await pixels(makeJpeg({ blocks: [[40], [200]] }));
    expect(gray[0]).toEqual([40, 40, 40, 255]);
    expect(gray[15]).toEqual([200, 200, 200, 255]);
    const red = (await pixels(makeJpeg({ blocks: [[76, 85, 255]] })))[0]!;
    expect(red[0]).toBeGreaterThan(250);
    expect(Math.max(red[1]!, red[2]!)).toBeLessThan(5);
  });

  it('three components are RGB where Adobe says so', async () => {
    expect((await pixels(makeJpeg({ blocks: [[10, 120, 230]], adobeTransform: 0 })))[0]).toEqual([10, 120, 230, 255]);
  });

  it('inks are inverted with the marker of Adobe, plain without', async () => {
    const [red, blue] = [
      [255, 0, 0, 255],
      [0, 0, 255, 255],
    ];
    const inverted = await pixels(makeJpeg({ blocks: [red, blue], adobeTransform: 0 }));
    expect([inverted[0], inverted[15]]).toEqual([red, blue]);
    const plain = await pixels(makeJpeg({ blocks: [red, blue].map((c) => c.map((v) => 255 - v)) }));
    expect([plain[0], plain[15]]).toEqual([red, blue]);
  });

  it('YCCK is turned into inks first', async () => {
    // Red's inks are stored as 255, 0, 0, 255; what is coded is 255 less the first three, as YCbCr: cyan.
    const [r, g, b] = (await pixels(makeJpeg({ blocks: [[179, 171, 1, 255]], adobeTransform: 2 })))[0]!;
    expect(r).toBeGreaterThan(245);
    expect(Math.max(g!, b!)).toBeLessThan(12);
  });

  it("does not turn by EXIF's orientation", async () => {
    expect(await decode(makeJpeg({ blocks: [[0], [255]], orientation: 6 }))).toMatchObject({
      widthPx: 16,
      heightPx: 8,
    });
  });
});

describe('GIF, WebP, JPEG 2000', () => {
  it('GIF', async () => {
    expect(await pixels(makeGif(2, 1, [1, 2, 3, 250, 100, 50], [1, 0]))).toEqual([
      [250, 100, 50, 255],
      [1, 2, 3, 255],
    ]);
  });

  it.each([
    ['WebP', RGB_WEBP, [0, 0, 255, 255], [255, 0, 0, 255]],
    ['JPEG 2000 with alpha', ALPHA_JP2, [0, 0, 255, 100], [255, 0, 0, 100]],
    ['grey JPEG 2000', GRAY_JP2, [29, 29, 29, 255], [76, 76, 76, 255]],
  ])('%s', async (_name, bytes, corner, rest) => {
    const all = await pixels(bytes);
    expect([all[0], all[399], all[20], all[799]]).toEqual([corner, rest, rest, rest]);
  });
});

describe('JPEG 2000', () => {
  const corners = async (bytes: Uint8Array) => {
    const all = await pixels(bytes);
    return [all[0], all[7 * 16 + 7], all[8], all[255]];
  };

  it('RGB, in its file or bare', async () => {
    const [blue, red] = [
      [0, 0, 255, 255],
      [255, 0, 0, 255],
    ];
    expect(await corners(RGB_JP2)).toEqual([blue, blue, red, red]);
    expect(await corners(bareCodestream(RGB_JP2))).toEqual([blue, blue, red, red]);
  });

  it('grey with opacity', async () => {
    const [inner, outer] = [
      [29, 29, 29, 200],
      [76, 76, 76, 100],
    ];
    expect(await corners(GRAY_ALPHA_JP2)).toEqual([inner, inner, outer, outer]);
  });

  it('YCC becomes RGB', async () => {
    const all = await corners(inColorSpace(RGB_JP2, 18));
    // By JPEG's rule: Y 0, Cb 0, Cr 255 and Y 255, Cb 0, Cr 0.
    expect(all).toEqual([
      [178, 0, 0, 255],
      [178, 0, 0, 255],
      [76, 255, 28, 255],
      [76, 255, 28, 255],
    ]);
  });

  it('four inks become RGB, opaque', async () => {
    const all = await pixels(inColorSpace(ALPHA_JP2, 12));
    // Yellow, and cyan, under 100 of black.
    expect([all[0], all[799]]).toEqual([
      [155, 155, 0, 255],
      [0, 155, 155, 255],
    ]);
  });
});

const tag = (number: number, ...values: number[]): TiffTag => ({ tag: number, type: 3, values });
const rgbTags = [tag(256, 2), tag(257, 2), tag(258, 8, 8, 8), tag(262, 2), tag(277, 3)];
const RGB_ROWS = [row(1, 2, 3, 4, 5, 6), row(7, 8, 9, 10, 11, 12)];
const RGB_PIXELS = [
  [1, 2, 3, 255],
  [4, 5, 6, 255],
  [7, 8, 9, 255],
  [10, 11, 12, 255],
];

describe('TIFF', () => {
  it.each([true, false])('strips, little-endian: %s', async (isLittleEndian) => {
    expect(await pixels(makeTiff(isLittleEndian, [...rgbTags, tag(278, 1)], RGB_ROWS))).toEqual(RGB_PIXELS);
  });

  it('deflated with differences', async () => {
    const strip = deflateSync(concat(row(1, 2, 3, 3, 3, 3), row(7, 8, 9, 3, 3, 3)));
    expect(await pixels(makeTiff(true, [...rgbTags, tag(259, 8), tag(317, 2)], [strip]))).toEqual(RGB_PIXELS);
  });

  it('PackBits and LZW', async () => {
    const tags = [tag(256, 4), tag(257, 1), tag(258, 8), tag(262, 1)];
    const packed = row(0xfd, 9); // four times 9
    expect((await pixels(makeTiff(true, [...tags, tag(259, 32773)], [packed])))[3]).toEqual([9, 9, 9, 255]);
    // Nine-bit codes: clear, 7, 258 (7 7), 7, end.
    const bits = [256, 7, 258, 7, 257].map((code) => code.toString(2).padStart(9, '0')).join('');
    const lzw = bits.match(/.{1,8}/g)!.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2));
    expect((await pixels(makeTiff(true, [...tags, tag(259, 5)], [row(...lzw)]))).map((p) => p[0])).toEqual([
      7, 7, 7, 7,
    ]);
  });

  it('tiles and planes', async () => {
    const tiles = [row(1, 1, 1, 2, 2, 2), row(3, 3, 3, 9, 9, 9), row(4, 4, 4, 9, 9, 9)].map((t) => t.subarray(0, 3));
    const tiled = [tag(256, 3), tag(257, 1), tag(258, 8, 8, 8), tag(262, 2), tag(277, 3), tag(322, 1), tag(323, 1)];
    expect((await pixels(makeTiff(true, tiled, tiles, [324, 325]))).map((p) => p[0])).toEqual([1, 3, 4]);
    const planes = [row(1, 4, 7, 10), row(2, 5, 8, 11), row(3, 6, 9, 12)];
    expect(await pixels(makeTiff(true, [...rgbTags, tag(284, 2)], planes))).toEqual(RGB_PIXELS);
  });

  it('palette, inks, alpha', async () => {
    const map = [0, 0x1100, 0, 0, 0, 0x2200, 0, 0, 0, 0x3300, 0, 0];
    const palette = [tag(256, 1), tag(257, 1), tag(258, 2), tag(262, 3), tag(320, ...map)];
    expect(await pixels(makeTiff(true, palette, [row(0x40)]))).toEqual([[0x11, 0x22, 0x33, 255]]);
    const inks = [tag(256, 1), tag(257, 1), tag(258, 8, 8, 8, 8), tag(262, 5), tag(277, 4)];
    expect(await pixels(makeTiff(true, inks, [row(0, 255, 255, 0)]))).toEqual([[255, 0, 0, 255]]);
    const alpha = [tag(256, 1), tag(257, 1), tag(258, 8, 8, 8, 8), tag(262, 2), tag(277, 4), tag(338, 2)];
    expect(await pixels(makeTiff(true, alpha, [row(1, 2, 3, 4)]))).toEqual([[1, 2, 3, 4]]);
  });

  it('a JPEG in a strip keeps its colours as the TIFF names them', async () => {
    const tags = [tag(256, 8), tag(257, 8), tag(258, 8, 8, 8), tag(259, 7), tag(277, 3)];
    const strip = makeJpeg({ blocks: [[10, 120, 230]] });
    expect((await pixels(makeTiff(true, [...tags, tag(262, 2)], [strip])))[0]).toEqual([10, 120, 230, 255]);
  });

  it.each([
    ['group 4', FAX_G4_TIFF],
    ['group 3', FAX_G3_TIFF],
    ['group 3 in two dimensions', FAX_G3_2D_TIFF],
  ])('fax codes of %s', async (_name, bytes) => {
    expect(countDifferences(await blackPixels(bytes), faxPattern())).toBe(0);
  });
});

describe('JBIG2', () => {
  it('black is 1 and MMR regions are read', async () => {
    const file = makeJbig2(FAX_WIDTH, FAX_HEIGHT, FAX_G4_TIFF.subarray(8, 8 + FAX_G4_STRIP_BYTES));
    // The TIFF says that its zeros are black; in JBIG2 ones are.
    expect(
      countDifferences(
        await blackPixels(file),
        faxPattern().map((bit) => 1 - bit),
      ),
    ).toBe(0);
  });

  it.skipIf(!hasJbig2dec)('agrees with jbig2dec', async () => {
    const file = makeJbig2(FAX_WIDTH, FAX_HEIGHT, FAX_G4_TIFF.subarray(8, 8 + FAX_G4_STRIP_BYTES));
    const folder = mkdtempSync(join(tmpdir(), 'jbig2-'));
    writeFileSync(join(folder, 'in.jb2'), file);
    const pbm = execFileSync('jbig2dec', ['-t', 'pbm', '-o', '-', join(folder, 'in.jb2')]);
    rmSync(folder, { recursive: true });
    const packed = pbm.subarray(pbm.length - Math.ceil(FAX_WIDTH / 8) * FAX_HEIGHT);
    const theirs = Uint8Array.from({ length: FAX_WIDTH * FAX_HEIGHT }, (_, i) => {
      const x = i % FAX_WIDTH;
      return (packed[Math.floor(i / FAX_WIDTH) * Math.ceil(FAX_WIDTH / 8) + (x >> 3)]! >> (7 - (x & 7))) & 1;
    });
    expect(countDifferences(await blackPixels(file), theirs)).toBe(0);
  });
});

async function blackPixels(bytes: Uint8Array): Promise<Uint8Array> {
  const { rgba } = await decode(bytes);
  return Uint8Array.from({ length: rgba.length / 4 }, (_, i) => (rgba[i * 4] === 0 ? 1 : 0));
}

function countDifferences(a: Uint8Array, b: Uint8Array): number {
  return a.length !== b.length ? Infinity : a.reduce((count, value, i) => count + (value === b[i] ? 0 : 1), 0);
}
