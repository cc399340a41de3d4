/** Facts of a picture's header that decide how it is drawn: how many colours it can have, whether it has any opacity. */
import type { EncodedImage } from '../../display/list.js';

/** A palette of more pixels than this is a photograph or chart, not squares. */
const MAX_PALETTE_SIDE_PX = 400;

/** Whether the picture has one bit a pixel, or is small and has a palette. */
export function isLowDepth(image: EncodedImage): boolean {
  const { bytes } = image;
  const isSmall = Math.max(image.widthPx, image.heightPx) <= MAX_PALETTE_SIDE_PX;
  switch (image.format) {
    case 'jbig2':
      return true;
    case 'png':
      return bytes[24] === 1 || (bytes[25] === 3 && isSmall);
    case 'gif':
      return isSmall;
    case 'bmp': {
      const bits = bytes[28] ?? 0;
      return bits === 1 || (bits <= 8 && isSmall);
    }
    default:
      return false;
  }
}

/** Whether the file can hold transparent pixels; true says nothing of whether it does. */
export function canBeTransparent(image: EncodedImage): boolean {
  const { bytes } = image;
  switch (image.format) {
    case 'png':
      return bytes[25] === 4 || bytes[25] === 6 || hasPngTransparency(bytes);
    case 'gif':
      return hasGifTransparency(bytes);
    case 'webp':
    case 'jpeg2000':
    case 'tiff':
      return true;
    default:
      return false;
  }
}

/** Looks for a tRNS chunk before the first data. */
function hasPngTransparency(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 8;
  while (at + 8 <= bytes.length) {
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (type === 'tRNS') return true;
    if (type === 'IDAT') return false;
    at += 12 + view.getUint32(at);
  }
  return false;
}

/** Looks for a graphic control extension whose transparency flag is set. */
function hasGifTransparency(bytes: Uint8Array): boolean {
  for (let at = 13; at + 8 <= bytes.length; at++) {
    const isControl = bytes[at] === 0x21 && bytes[at + 1] === 0xf9 && bytes[at + 2] === 4 && bytes[at + 7] === 0;
    if (isControl) return (bytes[at + 3]! & 1) === 1;
  }
  return false;
}
