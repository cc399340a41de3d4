// Format and size come from the bytes alone; what is no picture, or claims no sensible size, is refused.
import { describe, expect, it } from 'vitest';
import { identifyImage } from '../../src/images/index.js';
import { ascii, concat, makeBmp, makeGif, makeJbig2, makeJpeg, makePng, makeTiff, uint32 } from './make-images.js';
import { ALPHA_JP2, FAX_G4_TIFF, RGB_WEBP } from './samples.js';

const png = (width: number, height: number) =>
  makePng({ width, height, bitDepth: 8, colorType: 0, rows: [new Uint8Array(1)] });
const size = (bytes: Uint8Array) => {
  const image = identifyImage(bytes, 'Res/a.png');
  return image && [image.format, image.widthPx, image.heightPx];
};
const tags = (width: number, height: number) => [
  { tag: 256, type: 3, values: [width] } as const,
  { tag: 257, type: 4, values: [height] } as const,
];

describe('identifyImage', () => {
  it('reads the size of every format', () => {
    expect(size(png(3, 70_000))).toEqual(['png', 3, 70_000]);
    expect(size(makeJpeg({ blocks: [[1], [2], [3]] }))).toEqual(['jpeg', 24, 8]);
    expect(size(makeGif(300, 2, [], [0]))).toEqual(['gif', 300, 2]);
    expect(size(makeBmp({ width: 5, height: -6, bitsPerPixel: 24, data: [0] }))).toEqual(['bmp', 5, 6]);
    expect(size(makeTiff(true, tags(9, 100_000), []))).toEqual(['tiff', 9, 100_000]);
    expect(size(makeTiff(false, tags(9, 8), []))).toEqual(['tiff', 9, 8]);
    expect(size(FAX_G4_TIFF)).toEqual(['tiff', 2700, 48]);
    expect(size(makeJbig2(11, 12, new Uint8Array(4)))).toEqual(['jbig2', 11, 12]);
    expect(size(ALPHA_JP2)).toEqual(['jpeg2000', 40, 20]);
    expect(size(ALPHA_JP2.subarray(ALPHA_JP2.findIndex((b, i) => b === 0xff && ALPHA_JP2[i + 1] === 0x4f)))).toEqual([
      'jpeg2000',
      40,
      20,
    ]);
    expect(size(RGB_WEBP)).toEqual(['webp', 40, 20]);
  });

  it('keeps the bytes and the name of the part', () => {
    const bytes = png(1, 1);
    expect(identifyImage(bytes, 'Doc_0/Res/seal.jpg')).toMatchObject({
      bytes,
      part: 'Doc_0/Res/seal.jpg',
      format: 'png',
    });
  });

  it('looks past segments to the frame of a JPEG', () => {
    const jpeg = makeJpeg({ blocks: [[0, 0, 0]], orientation: 6, adobeTransform: 1 });
    expect(size(jpeg)).toEqual(['jpeg', 8, 8]);
  });

  it('takes what is decoded, not what a header says of it', () => {
    const gif = makeGif(2, 2, [], [0]);
    const frame = gif.lastIndexOf(0x2c, gif.length - 10);
    const beyond = gif.slice();
    // Left 3, top 4, width 0x2886, height 0x691d: decoders make room for all of it.
    beyond.set([3, 0, 4, 0, 0x86, 0x28, 0x1d, 0x69], frame + 1);
    expect(size(beyond)).toEqual(['gif', 0x2886 + 3, 0x691d + 4]);
    const box = ALPHA_JP2.findIndex((_, i) => ascii('ihdr').every((byte, j) => ALPHA_JP2[i + j] === byte));
    const claimsLess = ALPHA_JP2.slice();
    claimsLess.set(uint32(1), box + 4);
    claimsLess.set(uint32(1), box + 8);
    expect(size(claimsLess)).toEqual(['jpeg2000', 40, 20]);
  });

  it('takes the height of a striped JBIG2 page from its last stripe', () => {
    const file = makeJbig2(11, 0xffffffff, new Uint8Array(4));
    expect(size(file)).toBeUndefined();
    const stripeEnd = concat(uint32(2), [50, 0, 1], uint32(4), uint32(29));
    const at = file.length - 22; // before the end of page and the end of file
    expect(size(concat(file.subarray(0, at), stripeEnd, file.subarray(at)))).toEqual(['jbig2', 11, 30]);
  });

  it.each([
    ['nothing', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'],
    ['HTML', '<!DOCTYPE html><img src=x>'],
    ['a metafile', '\x01\x00\x09\x00\x00\x03'],
    ['an enhanced metafile', '\x01\x00\x00\x00\x6c\x00\x00\x00'],
    ['a ZIP', 'PK\x03\x04'],
    ['a bare signature', '\x89PNG\r\n\x1a\n'],
    ['a JPEG without a frame', '\xff\xd8\xff\xd9'],
    ['a TIFF whose directory lies outside', 'II*\0\xff\xff\xff\x7f'],
    ['a JBIG2 signature', '\x97JB2\r\n\x1a\n'],
    ['a RIFF that is sound', 'RIFF\x00\x00\x00\x00WAVEfmt '],
  ])('refuses %s', (_name, text) => {
    expect(identifyImage(ascii(text), 'x')).toBeUndefined();
  });

  it('refuses empty and absurd sizes', () => {
    expect(size(png(0, 5))).toBeUndefined();
    expect(size(png(5, 0))).toBeUndefined();
    expect(size(png(0x7fffffff, 5))).toBeUndefined();
    expect(size(makeTiff(true, tags(0, 0), []))).toBeUndefined();
  });
});
