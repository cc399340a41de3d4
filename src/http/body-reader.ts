/** Reading a request's body piece by piece: up to a limit, no faster than the pieces are taken. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { ServiceError } from '../errors.js';

export interface BodyLimits {
  /** Content-Length; undefined where the client did not tell. */
  readonly declaredBytes: number | undefined;
  readonly limitBytes: number;
  /** What sets the limit, and a way out: the end of the message. */
  readonly advice: string;
}

/** The limits of a request, from its headers. */
export function limitsOf(headers: IncomingHttpHeaders, limitBytes: number, advice: string): BodyLimits {
  const length = headers['content-length'];
  return { declaredBytes: length === undefined ? undefined : Number(length), limitBytes, advice };
}

/**
 * Gives each piece to `take`; where that returns a promise, the next piece waits for it. Resolves at the end of the body.
 *
 * Rejects with what `take` throws, with `payload_too_large` as soon as the limit is passed, and with `cancelled` where
 * the client goes away. What still comes then is read and thrown away: a client that sends all of its body before it
 * reads would never see the answer otherwise.
 */
export async function readBody(
  body: Readable,
  { declaredBytes, limitBytes, advice }: BodyLimits,
  take: (piece: Buffer) => Promise<void> | undefined,
): Promise<void> {
  const tooLarge = (): ServiceError =>
    new ServiceError('payload_too_large', `The body is larger than ${limitBytes} bytes; ${advice}`);
  let sizeBytes = 0;
  let taking: Promise<void> | undefined;
  try {
    if (declaredBytes !== undefined && declaredBytes > limitBytes) throw tooLarge();
    await new Promise<void>((resolve, reject) => {
      const onData = (piece: Buffer): void => {
        sizeBytes += piece.length;
        if (sizeBytes > limitBytes) settle(() => reject(tooLarge()));
        else attempt(piece);
      };
      const attempt = (piece: Buffer): void => {
        try {
          taking = take(piece);
        } catch (error) {
          settle(() => reject(error));
          return;
        }
        if (!taking) return;
        body.pause();
        taking.then(
          () => body.resume(),
          (error: unknown) => settle(() => reject(error)),
        );
      };
      // The end is told as soon as the last piece is out, also while that one is being taken.
      const onEnd = (): void => settle(() => (taking ? taking.then(resolve, reject) : resolve()));
      const onGone = (): void =>
        settle(() => reject(new ServiceError('cancelled', 'The client went away before all of its request had come')));
      const settle = (then: () => void): void => {
        body.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
        then();
      };
      body.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
      if (body.destroyed) onGone();
    });
  } finally {
    body.on('error', () => undefined).resume();
    // Nothing is to be written any more when this is over.
    await taking?.catch(() => undefined);
  }
}

/** Reads a body that is of no interest. */
export function skipBody(body: Readable, limits: BodyLimits): Promise<void> {
  return readBody(body, limits, () => undefined);
}
