/** The key that makes a repeated submission find the first one (contract X2): in a header, in the body, or in both. */
import { ServiceError } from '../errors.js';
import type { NewJob } from '../jobs/job.js';
import { requestHash } from '../jobs/request-hash.js';

const LONGEST_KEY = 255;
const HEADER = 'Idempotency-Key';
const FIELD = 'idempotency_key';

/** The key that a submission carries; undefined where it has none. Throws `invalid_request`. */
export function idempotencyKeyOf(
  header: string | readonly string[] | undefined,
  field: string | null | undefined,
): string | undefined {
  if (Array.isArray(header)) throw invalid(`${HEADER} is given ${header.length} times; one is enough`);
  const fromHeader = header === undefined ? undefined : checkedKey(header as string, HEADER);
  const fromField = field ? checkedKey(field, FIELD) : undefined;
  if (fromHeader !== undefined && fromField !== undefined && fromHeader !== fromField) {
    throw invalid(`${HEADER} and ${FIELD} say different things; give the key once`);
  }
  return fromHeader ?? fromField;
}

/**
 * The job with its key. Throws `invalid_request` where it is a stream.
 * @param inputSha256 as requestHash has it
 */
export function withKey(job: NewJob, key: string | undefined, inputSha256: string): NewJob {
  if (key === undefined) return job;
  if (job.request.output.kind === 'stream') {
    throw invalid(
      `${HEADER}: nothing is kept of a stream that could be given again; leave the key out, or write output.kind "dir"`,
    );
  }
  return { ...job, idempotency: { key, requestHash: requestHash(job, inputSha256) } };
}

function checkedKey(key: string, name: string): string {
  if (key === '') throw invalid(`${name} is empty; write a key of 1 to ${LONGEST_KEY} characters, or leave it out`);
  if (key.length > LONGEST_KEY) {
    throw invalid(`${name}: ${key.length} characters are too many; at most ${LONGEST_KEY} are allowed`);
  }
  const at = key.search(/[^\x21-\x7e]/);
  if (at < 0) return key;
  throw invalid(`${name}: character ${at + 1} is not allowed; write printable ASCII without spaces, such as a UUID`);
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
