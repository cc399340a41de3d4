/** The key check (contract A1): before a body is read, in constant time, over digests of equal length. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../config/key.js';
import { ServiceError } from '../errors.js';

/** Headers arrive as Latin-1 text whose characters are the bytes sent. */
function digest(text: string, encoding: 'utf8' | 'latin1'): Buffer {
  return hash('sha256', Buffer.from(text, encoding), 'buffer');
}

export class KeyCheck {
  readonly #digest: Buffer;

  constructor(apiKey: Secret) {
    this.#digest = digest(apiKey.reveal(), 'utf8');
  }

  /** Throws `unauthorized` unless one of the two headers carries the key. */
  require(headers: IncomingHttpHeaders): void {
    const bearer = /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
    const own = headers['x-ofd-api-key'];
    const candidates = [bearer, Array.isArray(own) ? own[0] : own].filter((candidate) => candidate !== undefined);
    if (candidates.some((candidate) => timingSafeEqual(digest(candidate, 'latin1'), this.#digest))) return;
    throw new ServiceError(
      'unauthorized',
      candidates.length > 0
        ? 'The key is not the right one'
        : 'A key is needed: send "Authorization: Bearer KEY" or "X-OFD-Api-Key: KEY"',
    );
  }
}
