/** From a request that has been read to a submission that is right: what /v1/convert and the items of a batch share. */
import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type ConversionRequest, parseConversionRequest } from '../convert/request.js';
import { readSigns } from '../convert/signs.js';
import { ServiceError } from '../errors.js';
import type { NewJob } from '../jobs/job.js';
import type { SubmittedInput } from '../jobs/store.js';
import { sinkKindNamed } from '../transfer/sinks/index.js';
import { invalidBody } from './errors.js';
import { requireVolumesOfJobs } from './hung-volumes.js';
import { withKey } from './idempotency.js';
import { ConvertBody, submissionOf } from './schemas.js';
import type { HttpServices } from './services.js';
import type { Upload } from './upload.js';

/** A submission that is right in every respect that can be known before it runs. */
export interface Submission {
  readonly conversion: ConversionRequest;
  readonly job: NewJob;
  /** undefined where it is to be fetched. */
  readonly input: SubmittedInput | undefined;
  /** Of the input's bytes; of its address where it is to be fetched. */
  readonly inputSha256: string;
}

/** What sets the limit of a body, and a way out. */
export const LIMIT_ADVICE =
  'max_upload_bytes sets the limit, of which base64 takes a third and a form or the bare file nothing';

/** Somebody has to make room first. */
const FULL_RETRY_SECONDS = 60;

/** What is refused before the body is read. */
export function refuseEarly(request: FastifyRequest, { readiness }: HttpServices): void {
  if (readiness.isShuttingDown) {
    throw new ServiceError('shutting_down', 'The server is shutting down; send the request again later', {
      retryAfterSeconds: 5,
    });
  }
  requireVolumesOfJobs(readiness);
  const full = readiness.noRoomForInputs();
  if (full) {
    throw new ServiceError('insufficient_storage', `There is no room for another document: ${full.text}`, {
      retryAfterSeconds: FULL_RETRY_SECONDS,
    });
  }
  // A body is sent as it is.
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new ServiceError('invalid_request', `Content-Encoding: ${encoding} is not taken; send the body uncompressed`);
  }
}

/** Not by Fastify itself: it validates what has been read before the handler, and here the handler reads. */
export function validatedBody(body: unknown, request: FastifyRequest): ConvertBody {
  const validate = request.compileValidationSchema(ConvertBody, 'body');
  if (validate(body)) return body as ConvertBody;
  throw invalidBody(validate.errors);
}

/** Everything that can be known at submission is checked here. */
export async function prepare(
  { body, upload }: { readonly body: ConvertBody; readonly upload: Upload | undefined },
  key: string | undefined,
  services: HttpServices,
): Promise<Submission> {
  const facts = upload && { sizeBytes: upload.sizeBytes, signs: await upload.read(readSigns) };
  const conversion = parseConversionRequest(submissionOf(body, facts), services.rules);
  const { input, output } = conversion;
  // A job is taken while output_dir hangs, and waits; what would be found here is found when it runs.
  if (!services.readiness.hung('output_dir')) {
    await sinkKindNamed(output.kind)?.inspect?.(output, services.attempt.sinks);
  }
  const inputSha256 = upload?.sha256 ?? hash('sha256', input.url ?? '', 'hex');
  const job = withKey(newJob(conversion, services.now()), key, inputSha256);
  return { conversion, job, input: upload?.input, inputSha256 };
}

function newJob(conversion: ConversionRequest, nowMs: number): NewJob {
  const { from, to, lane, input, output, notify, highPriority, inputBytes } = conversion;
  return {
    lane,
    from,
    to,
    highPriority,
    request: { input, output, notify, highPriority },
    inputBytes,
    createdAtMs: nowMs,
  };
}
