/** Parts of a job as clients see them, the same in answers and in notifications. */
import type { Job } from './job.js';

/** The time of an instant in milliseconds since 1970, as ISO 8601 says it. */
export function timeText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** `output` of a job that has delivered (contract A7); undefined for any other. */
export function outputFields(job: Job): object | undefined {
  return (
    job.output && {
      kind: job.output.kind,
      path: job.output.path,
      size: job.output.sizeBytes,
      files: job.products.map(({ name }) => name),
      products: job.products.map(({ name, sizeBytes, sha256, location, reused }) => ({
        name,
        size: sizeBytes,
        sha256,
        location,
        reused,
      })),
    }
  );
}
