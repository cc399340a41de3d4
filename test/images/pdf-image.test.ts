// What PDF can take as it stands goes as it stands; the rest is deflated with the fewest bits, and shows the same pixels.
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeImage, identifyImage, type PdfImageData, pdfImage } from '../../src/images/index.js';
import { makeBmp, makeGif, makeJbig2, makeJpeg, makePng, makeTiff } from './make-images.js';
import {
  ALPHA_JP2,
  bareCodestream,
  FAX_G3_2D_TIFF,
  FAX_G4_STRIP_BYTES,
  FAX_G4_TIFF,
  GRAY_ALPHA_JP2,
  GRAY_JP2,
  inColorSpace,
  RGB_JP2,
  RGB_WEBP,
} from './samples.js';

const toPdf = (bytes: Uint8Array): Promise<PdfImageData> => pdfImage(identifyImage(bytes, 'part')!);
const row = (...values: number[]) => Uint8Array.from(values);

/** Samples of a FlateDecode picture as a reader of PDF sees them: unpacked, predictor undone, palette looked up. */
function readFlate(image: PdfImageData): number[][] {
  const { width, height, bitsPerComponent: bits, colorSpace } = image;
  const colors = colorSpace === 'DeviceRGB' ? 3 : 1;
  const stride = Math.ceil((width * colors * bits) / 8);
  const step = Math.max(1, (colors * bits) >> 3);
  const raw = inflateSync(image.data);
  const hasPredictor = image.decodeParms !== undefined;
  expect(raw.length).toBe(height * (stride + (hasPredictor ? 1 : 0)));
  let above = new Uint8Array(stride);
  const pixels: number[][] = [];
  for (let y = 0; y < height; y++) {
    const at = y * (stride + (hasPredictor ? 1 : 0));
    const line = Uint8Array.from(raw.subarray(at + (hasPredictor ? 1 : 0), at + (hasPredictor ? 1 : 0) + stride));
    if (hasPredictor) undoFilter(raw[at]!, line, above, step);
    above = line;
    for (let x = 0; x < width; x++) {
      const samples = Array.from({ length: colors }, (_, c) => {
        const bit = (x * colors + c) * bits;
        return (line[bit >> 3]! >> (8 - bits - (bit & 7))) & ((1 << bits) - 1);
      });
      if (typeof colorSpace === 'string') pixels.push(samples.map((s) => (s * 255) / ((1 << bits) - 1)));
      else pixels.push([...colorSpace.palette.subarray(samples[0]! * 3, samples[0]! * 3 + 3)]);
    }
  }
  return pixels;
}

function undoFilter(filter: number, line: Uint8Array, above: Uint8Array, step: number): void {
  for (let i = 0; i < line.length; i++) {
    const a = i < step ? 0 : line[i - step]!;
    const b = above[i]!;
    const c = i < step ? 0 : above[i - step]!;
    const p = a + b - c;
    const nearest = [a, b, c].reduce((best, v) => (Math.abs(p - v) < Math.abs(p - best) ? v : best));
    line[i] = line[i]! + [0, a, b, (a + b) >> 1, nearest][filter]!;
  }
}

/** The PDF form shows what decoding shows. */
async function expectSamePixels(bytes: Uint8Array): Promise<PdfImageData> {
  const image = await toPdf(bytes);
  const { rgba } = await decodeImage(identifyImage(bytes, 'part')!);
  const theirs = readFlate(image).map((p) => (p.length === 1 ? [p[0], p[0], p[0]] : p));
  const ours = Array.from({ length: rgba.length / 4 }, (_, i) => [...rgba.subarray(i * 4, i * 4 + 3)]);
  expect(theirs).toEqual(ours);
  return image;
}

describe('JPEG', () => {
  it.each([
    [1, 'DeviceGray'],
    [3, 'DeviceRGB'],
  ])('of %i components goes untouched', async (count, colorSpace) => {
    const bytes = makeJpeg({ blocks: [new Array(count).fill(9)] });
    const image = await toPdf(bytes);
    expect(image).toEqual({ filter: 'DCTDecode', data: bytes, width: 8, height: 8, bitsPerComponent: 8, colorSpace });
  });

  it('of inks is inverted by Decode where Adobe marks it', async () => {
    const inks = [9, 9, 9, 9];
    const marked = await toPdf(makeJpeg({ blocks: [inks], adobeTransform: 2 }));
    expect(marked).toMatchObject({ colorSpace: 'DeviceCMYK', decode: [1, 0, 1, 0, 1, 0, 1, 0] });
    expect(await toPdf(makeJpeg({ blocks: [inks] }))).not.toHaveProperty('decode');
  });

  it('that is cut goes decoded', async () => {
    const whole = makeJpeg({ blocks: Array.from({ length: 40 }, (_, i) => [i * 5]) });
    expect(await toPdf(whole.subarray(0, whole.length - 9))).toMatchObject({ filter: 'FlateDecode', width: 320 });
  });

  it('of twelve bits is refused', async () => {
    await expect(toPdf(makeJpeg({ blocks: [[9]], bitsPerComponent: 12, frameMarker: 0xc1 }))).rejects.toMatchObject({
      reason: 'undecodable',
    });
  });
});

describe('PNG', () => {
  it('without alpha keeps its compressed rows', async () => {
    const rows = [row(1, 2, 3, 4, 5, 6), row(7, 8, 9, 10, 11, 12)];
    const image = await expectSamePixels(
      makePng({ width: 2, height: 2, bitDepth: 8, colorType: 2, rows, filters: [1, 4] }),
    );
    expect(image.decodeParms).toEqual({ Predictor: 15, Colors: 3, BitsPerComponent: 8, Columns: 2 });
  });

  it('with a palette becomes Indexed, with no more colours than its bits name', async () => {
    const palette = Array.from({ length: 15 }, (_, i) => i);
    const png = makePng({ width: 3, height: 1, bitDepth: 2, colorType: 3, palette, rows: [row(0b00011000)] });
    const image = await expectSamePixels(png);
    expect(image.colorSpace).toEqual({ palette: Uint8Array.from(palette.slice(0, 12)) });
  });

  it('with alpha has a soft mask of the exact values', async () => {
    const png = makePng({ width: 2, height: 1, bitDepth: 8, colorType: 6, rows: [row(9, 8, 7, 1, 200, 100, 50, 254)] });
    const image = await expectSamePixels(png);
    expect(readFlate(image.softMask!)).toEqual([[1], [254]]);
  });

  it('with opaque alpha has none', async () => {
    const png = makePng({ width: 1, height: 1, bitDepth: 8, colorType: 6, rows: [row(9, 8, 7, 255)] });
    expect(await expectSamePixels(png)).not.toHaveProperty('softMask');
  });

  it('with alpha of all or nothing has a mask of one bit', async () => {
    const png = makePng({ width: 2, height: 1, bitDepth: 8, colorType: 4, rows: [row(9, 0, 200, 255)] });
    expect((await expectSamePixels(png)).softMask).toMatchObject({ bitsPerComponent: 1, colorSpace: 'DeviceGray' });
  });

  it('of 16 bits goes in 8', async () => {
    const png = makePng({ width: 1, height: 1, bitDepth: 16, colorType: 2, rows: [row(9, 1, 8, 1, 7, 1)] });
    expect(readFlate(await expectSamePixels(png))).toEqual([[9, 8, 7]]);
  });

  it('that lacks rows is not passed on', async () => {
    const png = makePng({ width: 2, height: 9, bitDepth: 8, colorType: 0, rows: [row(1, 2), row(3, 4)] });
    const image = await toPdf(png);
    expect(inflateSync(image.data).length).toBeGreaterThanOrEqual(9);
    expect(image.softMask).toBeDefined();
  });
});

describe('what PDF does not know', () => {
  it('keeps few colours in few bits', async () => {
    const gif = await expectSamePixels(makeGif(3, 1, [1, 2, 3, 250, 100, 50, 7, 7, 9], [1, 0, 2]));
    expect(gif).toMatchObject({ bitsPerComponent: 2, colorSpace: { palette: { length: 9 } } });
    expect((await expectSamePixels(RGB_WEBP)).bitsPerComponent).toBe(1);
    const bilevel = makeBmp({
      width: 9,
      height: 1,
      bitsPerPixel: 1,
      palette: [0, 0, 0, 0, 255, 255, 255, 0],
      data: [0xa0, 0, 0, 0],
    });
    expect(await expectSamePixels(bilevel)).toMatchObject({ bitsPerComponent: 1, colorSpace: 'DeviceGray' });
  });

  it('uses rows with predictors for photographs', async () => {
    const data = Array.from({ length: 40 * 60 }, (_, i) => (i * i + (i >> 3)) & 255);
    const image = await expectSamePixels(makeBmp({ width: 20, height: 40, bitsPerPixel: 24, data }));
    expect(image).toMatchObject({ colorSpace: 'DeviceRGB', decodeParms: { Predictor: 15, Colors: 3 } });
  });

  it('keeps the alpha of JPEG 2000', async () => {
    expect((await expectSamePixels(ALPHA_JP2)).softMask).toBeDefined();
  });

  it('gives the same bytes for the same picture', async () => {
    expect((await toPdf(ALPHA_JP2)).data).toEqual((await toPdf(ALPHA_JP2)).data);
  });
});

describe('JPEG 2000', () => {
  it.each([
    ['RGB', RGB_JP2, 'DeviceRGB', 16],
    ['grey', GRAY_JP2, 'DeviceGray', 17],
  ])('of %s goes as it is coded, with one plain colour space', async (_name, bytes, colorSpace, number) => {
    const image = await toPdf(bytes);
    expect(image).toMatchObject({ filter: 'JPXDecode', bitsPerComponent: 8, colorSpace });
    expect(bareCodestream(image.data)).toEqual(Buffer.from(bareCodestream(bytes)));
    expect(image.data).toEqual(Buffer.from(inColorSpace(image.data, number)));
    // Read as a picture of its own it is the same one.
    const [theirs, ours] = await Promise.all(
      [image.data, bytes].map((file) => decodeImage(identifyImage(file, 'part')!)),
    );
    expect(theirs!.rgba).toEqual(ours!.rgba);
  });

  it('without a file around it gets one', async () => {
    expect((await toPdf(bareCodestream(RGB_JP2))).data).toEqual((await toPdf(RGB_JP2)).data);
  });

  it.each([
    ['with opacity', ALPHA_JP2],
    ['in grey with opacity', GRAY_ALPHA_JP2],
    ['in inks', inColorSpace(ALPHA_JP2, 12)],
    ['in YCC', inColorSpace(RGB_JP2, 18)],
  ])('%s goes decoded', async (_name, bytes) => {
    expect(await expectSamePixels(bytes)).toMatchObject({ filter: 'FlateDecode' });
  });

  it('that ends early is not passed on', async () => {
    await expect(toPdf(RGB_JP2.subarray(0, RGB_JP2.length - 20))).rejects.toMatchObject({ reason: 'undecodable' });
  });
});

describe('two-level codings', () => {
  it('a fax in one strip goes as CCITTFaxDecode with the right polarity', async () => {
    const image = await toPdf(FAX_G4_TIFF);
    expect(image).toMatchObject({ filter: 'CCITTFaxDecode', bitsPerComponent: 1, colorSpace: 'DeviceGray' });
    expect(image.decodeParms).toEqual({ K: -1, Columns: 2700, Rows: 48, BlackIs1: true });
    expect(image.data).toHaveLength(FAX_G4_STRIP_BYTES);
    expect((await toPdf(FAX_G3_2D_TIFF)).decodeParms).toMatchObject({ K: 1 });
  });

  it('white is zero without BlackIs1; reversed bits are turned', async () => {
    const tag = (number: number, value: number) => ({ tag: number, type: 3 as const, values: [value] });
    const strip = FAX_G4_TIFF.slice(8, 8 + FAX_G4_STRIP_BYTES);
    const tags = [tag(256, 2700), tag(257, 48), tag(259, 4), tag(262, 0)];
    const image = await toPdf(makeTiff(true, tags, [strip]));
    expect(image.decodeParms).toMatchObject({ BlackIs1: false });
    const reversed = strip.map((byte) => Number.parseInt([...byte.toString(2).padStart(8, '0')].reverse().join(''), 2));
    expect((await toPdf(makeTiff(true, [...tags, tag(266, 2)], [reversed]))).data).toEqual(image.data);
  });

  it('several strips go decoded, still in one bit', async () => {
    const tag = (number: number, value: number) => ({ tag: number, type: 3 as const, values: [value] });
    const tags = [tag(256, 8), tag(257, 2), tag(259, 1), tag(262, 0), tag(278, 1)];
    const image = await expectSamePixels(makeTiff(true, tags, [row(0xf0), row(0x0f)]));
    expect(image).toMatchObject({ filter: 'FlateDecode', bitsPerComponent: 1 });
  });

  it('JBIG2 loses its file header and ends, and is of page 1', async () => {
    const file = makeJbig2(2700, 48, FAX_G4_TIFF.subarray(8, 8 + FAX_G4_STRIP_BYTES), { page: 3 });
    const image = await toPdf(file);
    expect(image).toMatchObject({ filter: 'JBIG2Decode', width: 2700, height: 48, colorSpace: 'DeviceGray' });
    expect(image.data).toHaveLength(file.length - 13 - 11 - 11);
    expect([image.data[6], image.data[11 + 19 + 6]]).toEqual([1, 1]);
  });

  it('a cut JBIG2 is not passed on', async () => {
    const file = makeJbig2(2700, 48, FAX_G4_TIFF.subarray(8, 8 + FAX_G4_STRIP_BYTES));
    const result = await toPdf(file.subarray(0, 400)).catch((error: unknown) => error);
    expect(result).not.toMatchObject({ filter: 'JBIG2Decode' });
  });
});
