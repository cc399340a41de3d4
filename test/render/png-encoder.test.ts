// Our own PNG files, read back by the raster library.
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { describe, expect, it } from 'vitest';
import { encodePng, pixelRows } from '../../src/render/png-encoder.js';

/** Pixels by a function of place. */
function picture(widthPx: number, heightPx: number, colorAt: (x: number, y: number) => readonly number[]) {
  const rgba = new Uint8Array(widthPx * heightPx * 4);
  for (let y = 0; y < heightPx; y++) {
    for (let x = 0; x < widthPx; x++) rgba.set(colorAt(x, y), (y * widthPx + x) * 4);
  }
  return { widthPx, heightPx, rgba };
}

async function readBack(file: Uint8Array): Promise<Uint8ClampedArray> {
  const image = await loadImage(Buffer.from(file));
  const context = createCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, image.width, image.height).data;
}

const BYTE_OF_DEPTH = 24;
const BYTE_OF_COLOR_TYPE = 25;

describe('png files', () => {
  it.each([
    ['black and white', 1, 0, (x: number, y: number) => ((x * y) % 3 ? [0, 0, 0, 255] : [255, 255, 255, 255])],
    ['grey', 8, 0, (x: number, y: number) => [x + y, x + y, x + y, 255]],
    ['grey with alpha', 8, 4, (x: number) => [0, 0, 0, x * 3]],
    ['colour', 8, 2, (x: number, y: number) => [x * 2, y * 5, (x * 7 + y * 11) & 255, 255]],
    ['colour with alpha', 8, 6, (x: number) => (x % 2 ? [255, 0, 255, 255] : [0, 0, 0, 0])],
    ['flat colour', 8, 2, () => [200, 30, 30, 255]],
  ] as const)('keep %s pixels exactly, in as few bits as they need', async (_name, depth, colorType, colorAt) => {
    const pixels = picture(77, 45, colorAt);
    const file = await encodePng(pixelRows(pixels));
    expect([file[BYTE_OF_DEPTH], file[BYTE_OF_COLOR_TYPE]]).toEqual([depth, colorType]);
    expect(Buffer.from(await readBack(file))).toEqual(Buffer.from(pixels.rgba));
  });

  it('keep pixels that come in many bands', async () => {
    const pixels = picture(700, 1100, (x, y) => [x & 255, y & 255, (x * y) & 255, 255]);
    const read = await readBack(await encodePng(pixelRows(pixels)));
    // Matchers compare byte by byte, for half a minute.
    expect(Buffer.from(read).equals(pixels.rgba)).toBe(true);
  });
});
