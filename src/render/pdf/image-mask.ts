/** Masks given as pictures: white shows, black hides. */

import type { EncodedImage } from '../../display/list.js';
import { type DecodedImage, decodeImage, type PdfImageData, pdfImage } from '../../images/index.js';
import { deflateSync } from '../../zlib.js';

/**
 * The opacity of `image` (given as `data`) under `mask`: the mask's own data where that is plain grey, else its
 * luminance times the opacity that the picture has by itself. Throws ImageError where the mask cannot be decoded.
 */
export async function coverageMask(image: EncodedImage, data: PdfImageData, mask: EncodedImage): Promise<PdfImageData> {
  if (!data.softMask) {
    const coded = await pdfImage(mask);
    if (coded.colorSpace === 'DeviceGray' && !coded.softMask) return coded;
  }
  const coverage = await decodeImage(mask);
  return deflated(coverage, data.softMask ? await decodeImage(image) : undefined);
}

/** Grey samples of the larger of both pictures, the other one stretched over it without blending. */
function deflated(coverage: DecodedImage, own: DecodedImage | undefined): PdfImageData {
  const width = Math.max(coverage.widthPx, own?.widthPx ?? 0);
  const height = Math.max(coverage.heightPx, own?.heightPx ?? 0);
  const samples = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const alpha = own ? own.rgba[pixelAt(own, x / width, y / height) + 3]! / 255 : 1;
      samples[y * width + x] = Math.round(luminance(coverage, pixelAt(coverage, x / width, y / height)) * alpha);
    }
  }
  const data = deflateSync(samples);
  return { filter: 'FlateDecode', data, width, height, bitsPerComponent: 8, colorSpace: 'DeviceGray' };
}

function pixelAt(image: DecodedImage, x: number, y: number): number {
  return 4 * (Math.floor(y * image.heightPx) * image.widthPx + Math.floor(x * image.widthPx));
}

/** 0…255, what is transparent in the mask hiding too. */
function luminance({ rgba }: DecodedImage, at: number): number {
  return ((0.299 * rgba[at]! + 0.587 * rgba[at + 1]! + 0.114 * rgba[at + 2]!) * rgba[at + 3]!) / 255;
}
