/** Decodes JPEG: the canvas for nearly all, a decoder of its own for inks without Adobe's marker. */
import { decodeWithCanvas } from './canvas-decoder.js';
import { isJpegComplete, type JpegHeader, jpegHeader, segments } from './jpeg-header.js';
import { decodeInks } from './pdfjs-decoders.js';
import type { DecodedImage } from './types.js';

const EXIF = 0xe1;
const COLOR_PROFILE = 0xe2;

/** Undefined where no decoder makes anything of it. EXIF's orientation and colour profiles are not applied (spec 8.2, 8.3). */
export async function decodeJpeg(bytes: Uint8Array): Promise<DecodedImage | undefined> {
  const header = jpegHeader(bytes);
  if (header === undefined || !header.hasScan || header.bitsPerComponent !== 8) return undefined; // of 12 bits all come out black
  if (header.componentCount === 4 && header.adobeTransform === undefined) return decodePlainCmyk(bytes, header);
  const decoded = await decodeWithCanvas(withoutMetadata(bytes), header);
  // Rows that are missing come out clear; the library gives a clear picture too where it could read none.
  if (decoded === undefined || (decoded.hasAlpha && isClear(decoded.rgba))) return undefined;
  return { ...decoded, isPartial: decoded.hasAlpha || !isJpegComplete(bytes) };
}

function isClear(rgba: Uint8Array): boolean {
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] !== 0) return false;
  return true;
}

/** The canvas takes all four-component files for inverted, as Adobe writes them; without its marker they are not. */
async function decodePlainCmyk(bytes: Uint8Array, header: JpegHeader): Promise<DecodedImage | undefined> {
  const inks = await decodeInks(bytes, header);
  if (inks === undefined) return undefined;
  const rgba = new Uint8Array(header.width * header.height * 4);
  for (let i = 0; i < rgba.length; i += 4) {
    const light = (255 - inks[i + 3]!) / 255;
    for (let c = 0; c < 3; c++) rgba[i + c] = (255 - inks[i + c]!) * light + 0.5;
    rgba[i + 3] = 255;
  }
  return { widthPx: header.width, heightPx: header.height, rgba, hasAlpha: false, isPartial: !isJpegComplete(bytes) };
}

function withoutMetadata(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { marker, at, length } of segments(bytes)) {
    if (marker === 0xda) break;
    if (marker !== EXIF && marker !== COLOR_PROFILE) continue;
    parts.push(bytes.subarray(from, at - 2));
    from = at + length;
  }
  return from === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)]);
}
