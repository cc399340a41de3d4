/** A picture in the form that a PDF takes it: its own coding where PDF knows that coding, else deflated pixels. */
import type { EncodedImage } from '../display/list.js';
import { checkSize, decodeImage } from './decode.js';
import { flatePdfImage } from './pdf-flate.js';
import { passFaxTiff, passJbig2, passJpeg, passJpeg2000, passPng } from './pdf-passthrough.js';
import { DEFAULT_IMAGE_LIMITS, type ImageLimits, type PdfImageData } from './types.js';

/** Throws ImageError, like `decodeImage`. The same bytes always give the same result. */
export async function pdfImage(image: EncodedImage, limits: ImageLimits = DEFAULT_IMAGE_LIMITS): Promise<PdfImageData> {
  checkSize(image, limits);
  return (await passThrough(image)) ?? flatePdfImage(await decodeImage(image, limits));
}

async function passThrough(image: EncodedImage): Promise<PdfImageData | undefined> {
  try {
    switch (image.format) {
      case 'jpeg':
        return passJpeg(image);
      case 'png':
        return await passPng(image);
      case 'jbig2':
        return passJbig2(image);
      case 'tiff':
        return passFaxTiff(image);
      case 'jpeg2000':
        return passJpeg2000(image);
      default:
        return undefined;
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined; // a header that ends early: the decoder will say so
    throw error;
  }
}
