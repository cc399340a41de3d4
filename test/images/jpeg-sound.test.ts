import { describe, expect, it } from 'vitest';
import { segments } from '../../src/images/jpeg-header.js';
import { isJpegSound } from '../../src/images/jpeg-sound.js';
import { makeJpeg } from './make-images.js';

const WHOLE = makeJpeg({
  blocks: [
    [200, 90, 30],
    [10, 20, 250],
  ],
});

/** A copy with other bytes from `offset` on in the body of the first segment of that kind. */
function spoilt(marker: number, offset: number, ...values: readonly number[]): Uint8Array {
  const copy = Uint8Array.from(WHOLE);
  for (const segment of segments(WHOLE)) {
    if (segment.marker !== marker) continue;
    copy.set(values, segment.at + 2 + offset);
    return copy;
  }
  throw new Error(`no segment ${marker}`);
}

describe('tables of a JPEG', () => {
  it.each([
    ['of colours', WHOLE],
    ['of grey', makeJpeg({ blocks: [[9]] })],
    ['of inks', makeJpeg({ blocks: [[1, 2, 3, 4]], adobeTransform: 2 })],
  ])('are sound: %s', (_, bytes) => {
    expect(isJpegSound(bytes)).toBe(true);
  });

  it.each([
    ['samples of no size', spoilt(0xc0, 7, 0x01)],
    ['samples beyond all size', spoilt(0xc0, 7, 0x5f)],
    ['a table that cannot be', spoilt(0xc0, 8, 9)],
    [
      'components of one name',
      spoilt(0xc0, 9, WHOLE[[...segments(WHOLE)].find(({ marker }) => marker === 0xc0)!.at + 8]!),
    ],
    ['a scan of something else', spoilt(0xda, 1, 77)],
    ['a scan of nothing', spoilt(0xda, 0, 0)],
    ['more codes than there can be', spoilt(0xc4, 1, 3)],
    ['codes without values', spoilt(0xc4, 8, 255)],
    ['a table of no kind', spoilt(0xc4, 0, 0x50)],
    ['nothing but a start', WHOLE.subarray(0, 4)],
  ])('are not: %s', (_, bytes) => {
    expect(isJpegSound(bytes)).toBe(false);
  });
});
