/** Pixels of any picture, after a look at how many there will be. */
import type { EncodedImage } from '../display/list.js';
import { decodeBmp } from './bmp.js';
import { decodeWithCanvas } from './canvas-decoder.js';
import { ImageError } from './error.js';
import { jbig2Segments } from './jbig2-segments.js';
import { decodeJpeg } from './jpeg.js';
import { jpeg2000Header } from './jpeg2000-header.js';
import { decodeJbig2, decodeJpeg2000 } from './pdfjs-decoders.js';
import { decodePng, hasTransparency } from './png.js';
import { decodeTiff } from './tiff.js';
import { DEFAULT_IMAGE_LIMITS, type DecodedImage, type ImageLimits } from './types.js';

/** Numbers of colour spaces in a JPEG 2000. */
const CMYK = 12;
const YCC = 18;

/** Throws ImageError: too many pixels by the header, or nothing that can be decoded. A cut picture gives what there is. */
export async function decodeImage(
  image: EncodedImage,
  limits: ImageLimits = DEFAULT_IMAGE_LIMITS,
): Promise<DecodedImage> {
  checkSize(image, limits);
  let decoded: DecodedImage | undefined;
  try {
    decoded = await decodeByFormat(image);
  } catch (cause) {
    throw undecodable(image, { cause });
  }
  if (decoded === undefined) throw undecodable(image);
  return decoded;
}

/** Throws ImageError where the header claims more pixels than the limit. */
export function checkSize(image: EncodedImage, limits: ImageLimits): void {
  if (image.widthPx * image.heightPx <= limits.maxPixels) return;
  const size = `${image.widthPx} × ${image.heightPx}`;
  throw new ImageError('too_large', `${image.part}: ${size} pixels are more than the limit of ${limits.maxPixels}`);
}

function undecodable(image: EncodedImage, options?: ErrorOptions): ImageError {
  const what = `${image.format} picture of ${image.bytes.length} bytes`;
  return new ImageError(
    'undecodable',
    `${image.part}: the ${what} is damaged or of a kind that is not supported`,
    options,
  );
}

async function decodeByFormat(image: EncodedImage): Promise<DecodedImage | undefined> {
  const { bytes } = image;
  switch (image.format) {
    case 'png':
      return decodePng(bytes);
    case 'jpeg':
      return decodeJpeg(bytes);
    case 'bmp':
      return decodeBmp(bytes);
    case 'gif':
    case 'webp':
      return decodeWithCanvas(bytes, { width: image.widthPx, height: image.heightPx });
    case 'tiff':
      return decodeTiff(bytes);
    case 'jbig2':
      return decodeBilevel(image);
    case 'jpeg2000':
      return decodeWavelets(image);
  }
}

async function decodeBilevel(image: EncodedImage): Promise<DecodedImage | undefined> {
  const { widthPx, heightPx } = image;
  const gray = await decodeJbig2(image.bytes, { width: widthPx, height: heightPx });
  if (gray === undefined) return undefined;
  const isPartial = !jbig2Segments(image.bytes).isComplete;
  return { ...fromSamples(gray, widthPx, heightPx, 1), isPartial };
}

/** Inks and YCC become RGB here: the decoder gives the samples as they are coded. */
async function decodeWavelets(image: EncodedImage): Promise<DecodedImage | undefined> {
  const header = jpeg2000Header(image.bytes);
  const isGrayAndAlpha = header?.components.length === 2 && !header.hasPalette;
  const samples = await decodeJpeg2000(image.bytes, isGrayAndAlpha);
  const perPixel = (samples?.length ?? 0) / (image.widthPx * image.heightPx);
  if (samples === undefined || ![1, 3, 4].includes(perPixel)) return undefined;
  if (header?.colorSpace === CMYK && perPixel === 4) inksToRgb(samples);
  if (header?.colorSpace === YCC && perPixel >= 3) yccToRgb(samples, perPixel);
  return fromSamples(samples, image.widthPx, image.heightPx, perPixel);
}

/** Each colour becomes (1 − ink)·(1 − black), opaque. */
function inksToRgb(samples: Uint8ClampedArray): void {
  for (let i = 0; i < samples.length; i += 4) {
    const light = (255 - samples[i + 3]!) / 255;
    for (let c = 0; c < 3; c++) samples[i + c] = (255 - samples[i + c]!) * light;
    samples[i + 3] = 255;
  }
}

/** The colours of JPEG, whose two differences lie around 128. */
function yccToRgb(samples: Uint8ClampedArray, perPixel: number): void {
  for (let i = 0; i < samples.length; i += perPixel) {
    const y = samples[i]!;
    const blue = samples[i + 1]! - 128;
    const red = samples[i + 2]! - 128;
    samples[i] = y + 1.402 * red;
    samples[i + 1] = y - 0.344136 * blue - 0.714136 * red;
    samples[i + 2] = y + 1.772 * blue;
  }
}

/** One sample is grey, three are RGB, four are RGB and alpha. */
function fromSamples(samples: Uint8ClampedArray, widthPx: number, heightPx: number, perPixel: number): DecodedImage {
  const rgba = new Uint8Array(widthPx * heightPx * 4);
  const green = perPixel === 1 ? 0 : 1;
  const blue = perPixel === 1 ? 0 : 2;
  for (let from = 0, to = 0; to < rgba.length; from += perPixel, to += 4) {
    rgba[to] = samples[from]!;
    rgba[to + 1] = samples[from + green]!;
    rgba[to + 2] = samples[from + blue]!;
    rgba[to + 3] = perPixel === 4 ? samples[from + 3]! : 255;
  }
  return { widthPx, heightPx, rgba, hasAlpha: perPixel === 4 && hasTransparency(rgba), isPartial: false };
}
