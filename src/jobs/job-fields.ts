/** Parts of a job as clients see them, the same in answers and in notifications. */
import type { Job } from './job.js';

/** The time of an instant in milliseconds since 1970, as ISO 8601 says it. */
export function timeText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** `output` of a job that has delivered (contract A7). */
export interface OutputFields {
  readonly kind: string;
  readonly path: string;
  readonly size: number;
  readonly files: readonly string[];
  readonly products: readonly {
    readonly name: string;
    readonly size: number;
    readonly sha256: string;
    readonly location: string;
    readonly reused: boolean;
    readonly delivered_at: string | undefined;
  }[];
}

/** Undefined for a job that has not delivered. */
export function outputFields({ output, products }: Job): OutputFields | undefined {
  return (
    output && {
      kind: output.kind,
      path: output.path,
      size: output.sizeBytes,
      files: products.map(({ name }) => name),
      products: products.map(({ name, sizeBytes, sha256, location, reused, deliveredAtMs }) => ({
        name,
        size: sizeBytes,
        sha256,
        location,
        reused,
        delivered_at: timeText(deliveredAtMs),
      })),
    }
  );
}
