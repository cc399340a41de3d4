/** The image layer's door: what a picture is, its pixels, and its form in a PDF. */

export { decodeImage } from './decode.js';
export { ImageError, type ImageFaultReason } from './error.js';
export { foreignFormat } from './foreign.js';
export { identifyImage } from './identify.js';
export { pdfImage } from './pdf-image.js';
export { type PrintSize, printSize } from './print-size.js';
export { tiffPage, tiffPages } from './tiff-pages.js';
export {
  DEFAULT_IMAGE_LIMITS,
  type DecodedImage,
  type DecodeParameters,
  type ImageLimits,
  type IndexedColors,
  type PdfImageData,
} from './types.js';
