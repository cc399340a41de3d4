// Bombs are refused by their headers; cut and damaged files end as pixels or as ImageError, soon.
import { deflateSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { decodeImage, ImageError, identifyImage, pdfImage } from '../../src/images/index.js';
import { processorClock } from '../support/processor-time.js';
import { chunk, concat, makeBmp, makeGif, makeJbig2, makeJpeg, makePng, makeTiff, uint32 } from './make-images.js';
import { ALPHA_JP2, FAX_G3_2D_TIFF, FAX_G4_TIFF, RGB_WEBP } from './samples.js';

const LIMITS = { maxPixels: 50_000_000 };
const SOON_MS = 2_000;

const noise = (length: number, start = 7) => {
  let seed = start;
  return Uint8Array.from({ length }, () => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed >> 16;
  });
};
const rows = (height: number, stride: number) => Array.from({ length: height }, (_, y) => noise(stride, 7 + y));
const tag = (number: number, ...values: number[]) => ({ tag: number, type: 3 as const, values });
const tiff = (compression: number, strip: Uint8Array) =>
  makeTiff(true, [tag(256, 60), tag(257, 40), tag(258, 8), tag(259, compression), tag(262, 1)], [strip]);

const SAMPLES: readonly (readonly [string, Uint8Array])[] = [
  ['png', makePng({ width: 40, height: 40, bitDepth: 8, colorType: 6, rows: rows(40, 160), filters: [4, 3, 2, 1] })],
  [
    'png with a palette',
    makePng({ width: 64, height: 40, bitDepth: 4, colorType: 3, palette: [1, 2, 3], rows: rows(40, 32) }),
  ],
  ['jpeg', makeJpeg({ blocks: Array.from({ length: 60 }, (_, i) => [i, 128, 200]) })],
  ['jpeg of inks', makeJpeg({ blocks: Array.from({ length: 60 }, (_, i) => [i, 128, 200, 9]) })],
  [
    'gif',
    makeGif(
      40,
      40,
      [1, 2, 3],
      [...noise(1600)].map((v) => v & 127),
    ),
  ],
  ['bmp', makeBmp({ width: 20, height: 20, bitsPerPixel: 24, data: [...noise(1200)] })],
  [
    'bmp with runs',
    makeBmp({
      width: 60,
      height: 60,
      bitsPerPixel: 8,
      compression: 1,
      palette: [...noise(1024)],
      data: [...noise(900)],
    }),
  ],
  ['group 4', FAX_G4_TIFF],
  ['group 3', FAX_G3_2D_TIFF],
  ['LZW', tiff(5, noise(1500))],
  ['PackBits', tiff(32773, noise(1500))],
  ['deflated tiff', tiff(8, deflateSync(noise(2400)))],
  ['jbig2', makeJbig2(2700, 48, FAX_G4_TIFF.subarray(8, 705))],
  ['jpeg 2000', ALPHA_JP2],
  ['webp', RGB_WEBP],
];

/** Runs both ways out; anything but pixels or ImageError fails. */
async function survive(bytes: Uint8Array): Promise<void> {
  const image = identifyImage(bytes, 'Res/cut');
  if (image === undefined) return;
  for (const work of [() => decodeImage(image, LIMITS), () => pdfImage(image, LIMITS)]) {
    const took = processorClock();
    await work().catch((error: unknown) => expect(error).toBeInstanceOf(ImageError));
    expect(took()).toBeLessThan(SOON_MS);
  }
}

describe.each(SAMPLES)('%s', (_name, whole) => {
  it('decodes whole', async () => {
    await decodeImage(identifyImage(whole, 'Res/whole')!, LIMITS);
  });

  it('cut at every 97th byte', async () => {
    for (let length = 1; length < whole.length; length += 97) await survive(whole.slice(0, length));
  });

  it('with wrong bytes', async () => {
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 30)) {
      const wrong = whole.slice();
      wrong[at] = wrong[at]! ^ 0xff;
      await survive(wrong);
    }
  });
});

describe('bombs', () => {
  it('a PNG of 30,000 × 30,000 in few bytes is refused at once', async () => {
    const header = concat(uint32(30_000), uint32(30_000), [8, 0, 0, 0, 0]);
    const data = deflateSync(new Uint8Array(20_000_000));
    const bomb = concat([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], chunk('IHDR', header), chunk('IDAT', data));
    const image = identifyImage(bomb, 'Res/bomb.png')!;
    const took = processorClock();
    await expect(decodeImage(image, LIMITS)).rejects.toMatchObject({ name: 'ImageError', reason: 'too_large' });
    await expect(pdfImage(image, LIMITS)).rejects.toThrow(/Res\/bomb\.png: 30000 × 30000 pixels/);
    expect(took()).toBeLessThan(100);
  });

  it('rows beyond the height are not inflated', async () => {
    const png = makePng({ width: 1, height: 1, bitDepth: 8, colorType: 0, rows: rows(2000, 1) });
    expect((await decodeImage(identifyImage(png, 'x')!, LIMITS)).rgba).toHaveLength(4);
  });

  it('fax codes that add up to endless runs', async () => {
    const strip = new Uint8Array(200_000).fill(0b00000001); // make-up codes of 2560 and the like, never ended
    await survive(makeTiff(true, [tag(256, 2000), tag(257, 2000), tag(259, 4), tag(262, 0)], [strip]));
    await survive(makeTiff(true, [tag(256, 2000), tag(257, 2000), tag(259, 3), tag(262, 0)], [strip]));
  });

  it('a JBIG2 that asks for symbols without end', async () => {
    const whole = makeJbig2(64, 64, new Uint8Array(8));
    const pageEnd = 13 + 11 + 19; // after the file's header and the page information
    const nearest = [3, 0xff, 0xfd, 0xff, 2, 0xfe, 0xfe, 0xfe];
    const dictionary = concat([0, 0], nearest, uint32(0xffffffff), uint32(0xffffffff), noise(100));
    const segment = concat(uint32(9), [0, 0, 1], uint32(dictionary.length), dictionary);
    await survive(concat(whole.subarray(0, pageEnd), segment, whole.subarray(pageEnd)));
  });

  it('a JBIG2 whose regions are far larger than the page', async () => {
    const whole = makeJbig2(64, 64, new Uint8Array(8));
    whole.set([0x7f, 0xff, 0xff, 0xff], 13 + 11 + 19 + 11); // the region's width
    const image = identifyImage(whole, 'x')!;
    await expect(decodeImage(image, LIMITS)).rejects.toMatchObject({ reason: 'undecodable' });
    await expect(pdfImage(image, LIMITS)).rejects.toMatchObject({ reason: 'undecodable' });
  });

  it('a TIFF whose tiles are far larger than the picture', async () => {
    const tags = [tag(256, 1), tag(257, 1), tag(258, 8), tag(262, 1), tag(322, 65_000), tag(323, 65_000)];
    const image = identifyImage(makeTiff(true, tags, [new Uint8Array(10)], [324, 325]), 'x')!;
    await expect(decodeImage(image, LIMITS)).rejects.toMatchObject({ reason: 'undecodable' });
  });
});

describe('what is cut is shown as far as it goes', () => {
  it('PNG', async () => {
    const whole = makePng({ width: 50, height: 50, bitDepth: 8, colorType: 0, rows: rows(50, 50) });
    const { rgba } = await decodeImage(identifyImage(whole.subarray(0, whole.length - 1000), 'x')!, LIMITS);
    expect(rgba.subarray(0, 4)).toEqual(Uint8Array.from([noise(1)[0]!, noise(1)[0]!, noise(1)[0]!, 255]));
    expect(rgba.at(-1)).toBe(0);
  });

  it.each([
    ['png', SAMPLES[0]![1], 1000],
    ['jpeg', SAMPLES[2]![1], 2],
    ['bmp', SAMPLES[5]![1], 30],
  ])('and said so: %s', async (_name, whole, missing) => {
    const decode = (bytes: Uint8Array) => decodeImage(identifyImage(bytes, 'x')!, LIMITS);
    expect(await decode(whole)).toMatchObject({ isPartial: false });
    const cut = whole.subarray(0, whole.length - missing);
    expect(await decode(cut)).toMatchObject({ isPartial: true });
    expect(await pdfImage(identifyImage(cut, 'x')!, LIMITS)).toMatchObject({ isPartial: true });
  });

  it('a TIFF without its last strip', async () => {
    const tags = [tag(256, 4), tag(257, 2), tag(258, 8), tag(262, 1), tag(278, 1)];
    const whole = makeTiff(true, tags, [noise(4)]);
    expect(await decodeImage(identifyImage(whole, 'x')!, LIMITS)).toMatchObject({ isPartial: true });
  });

  it('nothing at all is an error that names the part', async () => {
    const whole = makePng({ width: 50, height: 50, bitDepth: 8, colorType: 0, rows: rows(50, 50) });
    const cut = identifyImage(whole.subarray(0, 45), 'Doc_0/Res/logo.png')!;
    await expect(decodeImage(cut, LIMITS)).rejects.toThrow(/^Doc_0\/Res\/logo\.png: /);
  });
});

describe('JBIG2', () => {
  it('with a header that refers to half a billion segments is shown up to it', async () => {
    const bytes = Uint8Array.from(makeJbig2(2700, 48, FAX_G4_TIFF.subarray(8, 705)));
    // The last two segments, which end the page and the file, have headers of eleven bytes and nothing else.
    bytes.fill(0xff, bytes.length - 22 + 5, bytes.length - 22 + 9);
    const image = identifyImage(bytes, 'Res/cut')!;
    const { rgba } = await decodeImage(image, LIMITS);
    expect(rgba.some((value, i) => i % 4 === 0 && value === 0)).toBe(true);
    await survive(bytes);
  });
});

describe('JPEG 2000', () => {
  it('that is damaged is told by our own warnings and nowhere else', async () => {
    const console = [vi.spyOn(globalThis.console, 'warn'), vi.spyOn(globalThis.console, 'error')];
    for (let length = 120; length < ALPHA_JP2.length; length += 60) await survive(ALPHA_JP2.subarray(0, length));
    for (const spy of console) expect(spy).not.toHaveBeenCalled();
    await decodeImage(identifyImage(ALPHA_JP2, 'Res/whole')!, LIMITS);
  });
});
