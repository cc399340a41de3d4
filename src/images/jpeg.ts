/** Decodes JPEG: the canvas for nearly all, a decoder of its own for inks without Adobe's marker. */
import { decodeWithCanvas } from './canvas-decoder.js';
import { isJpegComplete, type JpegHeader, jpegHeader, segments } from './jpeg-header.js';
import { decodeInks } from './pdfjs-decoders.js';
import type { DecodedImage } from './types.js';

/** Rows of pixels that are coded together, at most. */
const MCU_ROWS = 16;
const END_OF_IMAGE = Uint8Array.from([0xff, 0xd9]);
const EXIF = 0xe1;
const COLOR_PROFILE = 0xe2;

/** Undefined where no decoder makes anything of it. EXIF's orientation and colour profiles are not applied (spec 8.2, 8.3). */
export async function decodeJpeg(bytes: Uint8Array): Promise<DecodedImage | undefined> {
  const header = jpegHeader(bytes);
  if (header === undefined || !header.hasScan || header.bitsPerComponent !== 8) return undefined; // of 12 bits all come out black
  if (header.componentCount === 4 && header.adobeTransform === undefined) return decodePlainCmyk(bytes, header);
  const isPartial = !isJpegComplete(bytes);
  const decoded = await decodeWithCanvas(withoutMetadata(bytes), header);
  const isEndMissing = isPartial && (decoded === undefined || clearRows(decoded) <= MCU_ROWS || isClear(decoded));
  // With an end marker the decoder gives its last rows too, which it otherwise holds back.
  const ended = isEndMissing ? await decodeWithCanvas(withoutMetadata(concatEnd(bytes)), header) : decoded;
  // Rows that are missing come out clear; the library gives a clear picture too where it could read none.
  return ended === undefined || isClear(ended) ? undefined : { ...ended, isPartial };
}

function concatEnd(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([bytes, END_OF_IMAGE]);
}

/** How many rows at the bottom hold no pixel. */
function clearRows({ rgba, widthPx }: DecodedImage): number {
  let at = rgba.length - 1;
  while (at >= 0 && rgba[at] === 0) at -= 4;
  return Math.floor((rgba.length - 1 - at) / (4 * widthPx));
}

function isClear(decoded: DecodedImage): boolean {
  return decoded.hasAlpha && clearRows(decoded) === decoded.heightPx;
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
