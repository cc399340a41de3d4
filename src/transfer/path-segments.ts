/** Paths that clients name below a place of the service: the rules that hold for each component, wherever it lies. */
import { ServiceError } from '../errors.js';

/** Of one component, on every usual file system. */
const MAX_SEGMENT_BYTES = 255;

/**
 * The components of a path; empty ones and "." count for nothing. A leading slash is the caller's matter.
 * @param field how the client knows the path, for messages
 * @throws ServiceError `invalid_request`, naming the rule that is broken
 */
export function pathSegments(path: string, field: string, maxBytes: number): string[] {
  if (Buffer.byteLength(path) > maxBytes) refusePath(path, field, `must be at most ${maxBytes} bytes long`);
  if (path.includes('\\')) refusePath(path, field, 'must not contain a backslash');
  if (/[\p{Cc}\p{Cs}]/u.test(path)) refusePath(path, field, 'must not contain control characters');
  const segments = partsOf(path);
  if (segments.includes('..')) refusePath(path, field, 'must not contain a ".." component');
  if (segments.some((segment) => Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)) {
    refusePath(path, field, `must not have a component of more than ${MAX_SEGMENT_BYTES} bytes`);
  }
  return segments;
}

/** The components of a path that needs no check. */
export function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

export function refusePath(path: string, field: string, rule: string): never {
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  throw new ServiceError('invalid_request', `${field} ${rule}: ${JSON.stringify(shown)}`);
}
