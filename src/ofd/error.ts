/** Why a package cannot be shown at all; everything less is a Diagnostic. */
export type OfdFaultReason = 'not_ofd' | 'corrupt' | 'encrypted' | 'unsafe' | 'too_large';

export class OfdError extends Error {
  override readonly name = 'OfdError';
  readonly reason: OfdFaultReason;

  /** `message` names the part and value at fault, for the client to read. */
  constructor(reason: OfdFaultReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
