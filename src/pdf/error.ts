/** Why a PDF could not be read. */
export type PdfFaultReason = 'corrupt' | 'encrypted' | 'too_large' | 'unsupported' | 'internal';

/** Thrown by everything of this folder for a document that cannot be converted; the message is fit for a client. */
export class PdfError extends Error {
  override readonly name = 'PdfError';
  readonly reason: PdfFaultReason;

  constructor(reason: PdfFaultReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
