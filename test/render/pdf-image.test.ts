// Pictures: where they stand, what coding they keep, and that each is in the file once.
import { deflateSync } from 'node:zlib';
import { createCanvas } from '@napi-rs/canvas';
import { describe, expect, it } from 'vitest';
import type { EncodedImage } from '../../src/display/list.js';
import {
  BLUE,
  faultsOf,
  group,
  imageItem,
  isNear,
  makePdf,
  page,
  pixels,
  RED,
  unpacked,
  WHITE,
} from './pdf-support.js';

/** A PNG from rows of pixels; `colorType` 0 grey, 2 RGB, 6 RGB and opacity. */
function png(part: string, colorType: 0 | 2 | 6, rows: readonly (readonly number[])[]): EncodedImage {
  const channels = { 0: 1, 2: 3, 6: 4 }[colorType];
  const widthPx = rows[0]!.length / channels;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(widthPx, 0);
  header.writeUInt32BE(rows.length, 4);
  header.set([8, colorType, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer): Buffer => {
    const frame = Buffer.alloc(12 + data.length);
    frame.writeUInt32BE(data.length, 0);
    frame.write(type, 4, 'latin1');
    frame.set(data, 8);
    return frame;
  };
  const data = deflateSync(Buffer.from(rows.flatMap((row) => [0, ...row])));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const bytes = Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
  return { bytes, format: 'png', widthPx, heightPx: rows.length, part };
}

/** Red, green over blue, white. */
const FOUR = png('Res/four.png', 2, [
  [255, 0, 0, 0, 255, 0],
  [0, 0, 255, 255, 255, 255],
]);

describe('pictures', () => {
  it('fill the unit square of their matrix from the top left', async () => {
    const { bytes } = await makePdf([page([imageItem(FOUR, { matrix: [40, 0, 0, 20, 10, 30] })])]);
    expect(faultsOf(bytes)).toBe('');
    const at = pixels(bytes);
    expect([at(20, 35), at(40, 35), at(20, 45), at(40, 45), at(5, 35)]).toEqual([RED, [0, 255, 0], BLUE, WHITE, WHITE]);
  });

  it('turn with their matrix', async () => {
    const { bytes } = await makePdf([page([imageItem(FOUR, { matrix: [0, 40, -20, 0, 50, 10] })])]);
    const at = pixels(bytes);
    expect([at(45, 20), at(45, 40), at(35, 20)]).toEqual([RED, [0, 255, 0], BLUE]);
  });

  it('keep the coding of JPEG', async () => {
    const canvas = createCanvas(16, 16);
    const context = canvas.getContext('2d');
    context.fillStyle = '#f00';
    context.fillRect(0, 0, 16, 16);
    const jpeg = canvas.toBuffer('image/jpeg', 95);
    const image: EncodedImage = { bytes: jpeg, format: 'jpeg', widthPx: 16, heightPx: 16, part: 'Res/red.jpg' };
    const { bytes } = await makePdf([page([imageItem(image, { matrix: [80, 0, 0, 80, 10, 10] })])]);
    expect(bytes.includes(jpeg)).toBe(true);
    expect(unpacked(bytes)).toContain('/Filter /DCTDecode');
    expect(isNear(pixels(bytes)(50, 50), RED, 8)).toBe(true);
  });

  it('are written once, however often and in however many parts they stand', async () => {
    const twin: EncodedImage = { ...FOUR, bytes: Buffer.from(FOUR.bytes), part: 'Res/twin.png' };
    const lists = [1, 2].map((number) =>
      page(
        [
          imageItem(FOUR, { matrix: [10, 0, 0, 10, 0, 0] }),
          imageItem(twin, { matrix: [10, 0, 0, 10, 20, 0] }),
          group([imageItem(FOUR, { matrix: [10, 0, 0, 10, 40, 0] })], { isShared: true }),
        ],
        number,
      ),
    );
    const { bytes } = await makePdf(lists);
    expect(unpacked(bytes).match(/\/Subtype \/Image/g)).toHaveLength(1);
    const at = pixels(bytes);
    expect([at(2, 2), at(22, 2), at(42, 2)]).toEqual([RED, RED, RED]);
  });

  it('are as transparent as they say', async () => {
    const image = png('Res/alpha.png', 6, [[255, 0, 0, 255, 255, 0, 0, 128]]);
    const { bytes } = await makePdf([
      page([
        imageItem(image, { matrix: [40, 0, 0, 20, 0, 0] }),
        imageItem(FOUR, { matrix: [40, 0, 0, 20, 0, 50], alpha: 0.5 }),
      ]),
    ]);
    expect(faultsOf(bytes)).toBe('');
    const at = pixels(bytes);
    expect(at(10, 10)).toEqual(RED);
    expect(isNear(at(30, 10), [255, 127, 127])).toBe(true);
    expect(isNear(at(10, 55), [255, 127, 127])).toBe(true);
  });

  it('show where a mask is white', async () => {
    const mask = png('Res/mask.png', 0, [[255, 0, 128]]);
    const colored = png('Res/colored.png', 2, [[255, 255, 255, 0, 0, 0, 128, 128, 128]]);
    const half = png('Res/half.png', 6, [[255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 128]]);
    const red = png('Res/red.png', 2, [[255, 0, 0, 255, 0, 0, 255, 0, 0]]);
    const { bytes } = await makePdf([
      page([
        imageItem(red, { matrix: [30, 0, 0, 10, 0, 0], mask }),
        imageItem(red, { matrix: [30, 0, 0, 10, 0, 20], mask: colored }),
        imageItem(half, { matrix: [30, 0, 0, 10, 0, 40], mask }),
      ]),
    ]);
    expect(faultsOf(bytes)).toBe('');
    const at = pixels(bytes);
    for (const y of [5, 25, 45]) {
      expect(at(5, y)).toEqual(RED);
      expect(at(15, y)).toEqual(WHITE);
    }
    expect(isNear(at(25, 5), [255, 127, 127])).toBe(true);
    expect(isNear(at(25, 25), [255, 127, 127])).toBe(true);
    expect(isNear(at(25, 45), [255, 191, 191])).toBe(true);
  });

  it('never ask for blended pixels, which PDF/A forbids', async () => {
    const { bytes } = await makePdf([
      page([
        imageItem(FOUR, { matrix: [30, 0, 0, 30, 0, 0], smooth: false }),
        imageItem(FOUR, { matrix: [30, 0, 0, 30, 50, 0], smooth: true }),
      ]),
    ]);
    expect(unpacked(bytes)).not.toContain('/Interpolate');
  });

  it('that nobody can read are left out and told once', async () => {
    const broken: EncodedImage = { ...FOUR, bytes: FOUR.bytes.subarray(0, 20), part: 'Res/broken.png' };
    const item = imageItem(broken, { matrix: [30, 0, 0, 30, 0, 0] });
    const { bytes, diagnostics } = await makePdf([page([item], 7), page([item], 8)]);
    expect(faultsOf(bytes)).toBe('');
    expect(diagnostics).toMatchObject([{ code: 'image_undecodable', page: 7, part: 'Res/broken.png' }]);
  });
});
