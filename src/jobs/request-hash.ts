/** What two submissions must share to be the same one (contract X2): what they mean, not how they were written. */
import { createHash } from 'node:crypto';
import type { NewJob, StoredRequest } from './job.js';

/**
 * Lower-case hexadecimal digest of the validated request and of the input.
 * @param inputSha256 of the input's bytes; of the address where the input is fetched
 */
export function requestHash(job: Pick<NewJob, 'from' | 'to' | 'request'>, inputSha256: string): string {
  const { from, to, request } = job;
  return createHash('sha256')
    .update(canonicalJson({ from, to, request: meaningOf(request), inputSha256 }))
    .digest('hex');
}

/** The order of these lists says nothing. */
function meaningOf({ notify, output, ...rest }: StoredRequest): StoredRequest {
  const { failOn } = output.options;
  return {
    ...rest,
    output: { ...output, options: { ...output.options, ...(failOn && { failOn: asSet(failOn) }) } },
    notify: notify && { ...notify, events: notify.events && asSet(notify.events) },
  };
}

function asSet(words: readonly string[]): readonly string[] {
  return [...new Set(words)].sort();
}

/** JSON whose keys are in order; what is undefined is left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
