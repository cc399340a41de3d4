/** Decodes pictures for a run and tells of each undecodable one once. */
import type { Diagnostic, EncodedImage, Report } from '../display/list.js';
import { type DecodedImage, decodeImage, ImageError } from '../images/index.js';

export class ImageDecoder {
  readonly #report: Report;
  readonly #failed = new WeakSet<Uint8Array>();
  readonly #partial = new WeakSet<Uint8Array>();
  /** From 1; set by the backend as it goes. */
  pageNumber = 1;

  constructor(report: Report) {
    this.#report = report;
  }

  /** The pixels, or undefined after a warning. */
  async decode(image: EncodedImage): Promise<DecodedImage | undefined> {
    if (this.#failed.has(image.bytes)) return undefined;
    try {
      const decoded = await decodeImage(image);
      if (decoded.isPartial) this.#tellPartial(image);
      return decoded;
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      this.#failed.add(image.bytes);
      const { pageNumber: page } = this;
      this.#report({ code: undecodedCode(error), message: error.message, page, part: image.part });
      return undefined;
    }
  }

  #tellPartial(image: EncodedImage): void {
    if (this.#partial.has(image.bytes)) return;
    this.#partial.add(image.bytes);
    this.#report(partialPicture(image, this.pageNumber));
  }
}

/** The code of the warning for a picture that gave `error` instead of pixels. */
export function undecodedCode(error: unknown): 'image_too_large' | 'image_undecodable' {
  return error instanceof ImageError && error.reason === 'too_large' ? 'image_too_large' : 'image_undecodable';
}

/** The warning for a picture that is shown as far as its data go. */
export function partialPicture(image: EncodedImage, page: number): Diagnostic {
  const message = `picture ${image.part} ends early or is damaged: it is shown as far as its data go`;
  return { code: 'image_partial', message, page, part: image.part };
}
