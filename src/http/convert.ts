/** POST /v1/convert: 202 and a job, or the bytes of the product at once (contract A3, A4, A5). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ConversionRequest, parseConversionRequest } from '../convert/request.js';
import { readSigns } from '../convert/signs.js';
import { ServiceError } from '../errors.js';
import type { NewJob } from '../jobs/job.js';
import { sinkKindNamed } from '../transfer/sinks/index.js';
import type { AcceptedAnswer, Written } from './answers.js';
import { limitsOf } from './body-reader.js';
import { CONVERT_API } from './convert-api.js';
import { invalidBody } from './errors.js';
import { idempotencyKeyOf, withKey } from './idempotency.js';
import { acceptedAnswer } from './job-answer.js';
import { ConvertBody, submissionOf } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';
import { answerWithProduct, type Submission } from './stream.js';
import { type Received, receive } from './submission.js';

const LIMIT_ADVICE =
  'max_upload_bytes sets the limit, of which base64 takes a third and a form or the bare file nothing';

export function convertRoutes(server: HttpServer, services: HttpServices): void {
  server.post('/v1/convert', {
    config: { readsBody: true, api: CONVERT_API },
    preParsing: async (request) => {
      refuseWhileShuttingDown(services);
      refuseEncoded(request);
    },
    handler: async (request, reply) => {
      const received = await receive(request, {
        limits: limitsOf(request.headers, services.config.maxUploadBytes, LIMIT_ADVICE),
        folder: services.attempt.workspaceRoot,
        contentType: request.bodyType,
        validate: (body) => validated(body, request),
      });
      try {
        const submission = await submissionFrom(received, request, services);
        return submission.conversion.output.kind === 'stream'
          ? await answerWithProduct(submission, request, reply, services)
          : await answerWithJob(submission, reply, services);
      } finally {
        await received.discard();
      }
    },
  });
}

/** Not by Fastify itself: it validates what has been read before the handler, and here the handler reads. */
function validated(body: unknown, request: FastifyRequest): ConvertBody {
  const validate = request.compileValidationSchema(ConvertBody, 'body');
  if (validate(body)) return body as ConvertBody;
  throw invalidBody(validate.errors);
}

/** Everything that can be known at submission is checked here. */
async function submissionFrom(
  { body, upload }: Received,
  request: FastifyRequest,
  services: HttpServices,
): Promise<Submission> {
  const key = idempotencyKeyOf(request.headers['idempotency-key'], body.idempotency_key);
  const facts = upload && { sizeBytes: upload.sizeBytes, signs: await upload.read(readSigns) };
  const conversion = parseConversionRequest(submissionOf(body, facts), services.rules);
  if (!upload) throw new ServiceError('internal_error', 'A request without an upload was taken');
  const { output } = conversion;
  await sinkKindNamed(output.kind)?.inspect?.(output, services.attempt.sinks);
  return { conversion, upload, job: withKey(newJob(conversion, services.now()), key, upload) };
}

function refuseWhileShuttingDown({ readiness }: HttpServices): void {
  if (readiness.isShuttingDown) {
    throw new ServiceError('shutting_down', 'The server is shutting down; send the request again later', {
      retryAfterSeconds: 5,
    });
  }
}

/** A body is sent as it is. */
function refuseEncoded({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new ServiceError('invalid_request', `Content-Encoding: ${encoding} is not taken; send the body uncompressed`);
  }
}

async function answerWithJob(
  { job: wanted, upload }: Submission,
  reply: FastifyReply,
  services: HttpServices,
): Promise<Written<typeof AcceptedAnswer>> {
  const { job, isReplay } = await services.store.submit(wanted, upload.input);
  if (isReplay) reply.header('idempotent-replay', 'true');
  else services.wake(job.lane);
  reply.code(202);
  return acceptedAnswer(job);
}

function newJob(conversion: ConversionRequest, nowMs: number): NewJob {
  const { from, to, plan, input, output, notify, highPriority, inputBytes } = conversion;
  return {
    lane: plan.lane,
    from,
    to,
    highPriority,
    request: { input, output, notify, highPriority },
    inputBytes,
    createdAtMs: nowMs,
  };
}
