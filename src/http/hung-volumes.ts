/**
 * Nothing is sent to a volume that hangs: each call would take a thread that everything else needs (contract V3). Nor is
 * anything begun that needs one which takes no file.
 */
import { ServiceError } from '../errors.js';
import type { Hindrance, Readiness } from './services.js';

const RETRY_SECONDS = 5;

/** Throws `unavailable` where one of the volumes hangs. */
export function requireVolumes(readiness: Readiness, ...keys: readonly Parameters<Readiness['hung']>[0][]): void {
  for (const key of keys) {
    const hung = readiness.hung(key);
    if (hung) throw unavailable('A volume does not answer', hung);
  }
}

/** Throws `unavailable` where no job of any kind could run: a volume that all of them need hangs, or takes no file. */
export function requireVolumesOfJobs(readiness: Readiness): void {
  requireVolumes(readiness, 'db_path', 'temp_dir');
  const broken = readiness
    .hindrances()
    .find(({ kinds, reason }) => kinds === undefined && reason === 'volume_unavailable');
  if (broken) throw unavailable('A volume cannot be used', broken);
}

function unavailable(what: string, { text }: Hindrance): ServiceError {
  return new ServiceError('unavailable', `${what}: ${text}`, { retryAfterSeconds: RETRY_SECONDS });
}
