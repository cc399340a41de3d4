/** Nothing is sent to a volume that hangs: each call would take a thread that everything else needs (contract V3). */
import { ServiceError } from '../errors.js';
import type { Readiness } from './services.js';

const RETRY_SECONDS = 5;

/** Throws `unavailable` where one of the volumes hangs. */
export function requireVolumes(readiness: Readiness, ...keys: readonly Parameters<Readiness['hung']>[0][]): void {
  for (const key of keys) {
    const hung = readiness.hung(key);
    if (hung) {
      throw new ServiceError('unavailable', `A volume does not answer: ${hung.text}`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
  }
}
