/** The one error that the image layer throws. */
export type ImageFaultReason = 'too_large' | 'undecodable';

export class ImageError extends Error {
  override readonly name = 'ImageError';
  readonly reason: ImageFaultReason;

  /** `message` names the part and what is wrong with it. */
  constructor(reason: ImageFaultReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
