/** The image layer's door: what a picture is, its pixels, and its form in a PDF. */
import type { EncodedImage } from '../display/list.js';
import { ImageError } from './error.js';
import { DEFAULT_IMAGE_LIMITS, type DecodedImage, type ImageLimits, type PdfImageData } from './types.js';

export { ImageError, type ImageFaultReason } from './error.js';
export { identifyImage } from './identify.js';
export {
  DEFAULT_IMAGE_LIMITS,
  type DecodedImage,
  type DecodeParameters,
  type ImageLimits,
  type IndexedColors,
  type PdfImageData,
} from './types.js';

/** Pixels of a picture. Throws ImageError: too large by its header, or not decodable. */
export async function decodeImage(
  image: EncodedImage,
  limits: ImageLimits = DEFAULT_IMAGE_LIMITS,
): Promise<DecodedImage> {
  throw new ImageError('undecodable', `${image.part}: ${image.format} of ${limits.maxPixels} is not decoded yet`);
}

/** The picture as a PDF takes it: its own coded data where PDF knows the coding, else deflated. Throws ImageError. */
export async function pdfImage(image: EncodedImage, limits: ImageLimits = DEFAULT_IMAGE_LIMITS): Promise<PdfImageData> {
  throw new ImageError('undecodable', `${image.part}: ${image.format} of ${limits.maxPixels} is not decoded yet`);
}
