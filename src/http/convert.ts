/** POST /v1/convert: 202 and a job, or the bytes of the product at once (contract A3, A4, A5). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { runStream } from '../attempt.js';
import { type ConversionRequest, parseConversionRequest } from '../convert/request.js';
import { ServiceError } from '../errors.js';
import { FORMATS } from '../formats.js';
import type { NewJob } from '../jobs/job.js';
import { decodeBase64 } from './base64.js';
import { type JsonBody, parseJsonBody, unescapeLongText } from './body.js';
import { BodyBudget } from './body-budget.js';
import { attachment } from './disposition.js';
import { ConvertBody, NoQuery, submissionOf } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

/** Bodies of the largest size that are held at a time. */
const BODIES_HELD = 4;
const SMALL_BODY_BYTES = 1024 * 1024;

export function convertRoutes(server: HttpServer, services: HttpServices): void {
  /** Long texts of a request's body between parsing and handling. */
  const bodies = new WeakMap<FastifyRequest, JsonBody>();
  const { maxUploadBytes } = services.config;
  const budget = new BodyBudget(BODIES_HELD * maxUploadBytes);

  server.post('/v1/convert', {
    schema: { body: ConvertBody, querystring: NoQuery },
    preParsing: async (request, reply) => {
      refuseWhileShuttingDown(services);
      refuseOtherBodies(request);
      const sizeBytes = Number(request.headers['content-length'] ?? maxUploadBytes);
      // What is too large is refused unread, and what is small need not wait behind what is large.
      const needsRoom = sizeBytes > SMALL_BODY_BYTES && sizeBytes <= maxUploadBytes;
      if (needsRoom) await budget.enter(sizeBytes, reply.raw, clientGone);
    },
    preValidation: async (request) => {
      const raw: unknown = request.body;
      const body = parseJsonBody(Buffer.isBuffer(raw) ? raw : Buffer.alloc(0));
      bodies.set(request, body);
      request.body = body.value as ConvertBody;
    },
    handler: async (request, reply) => {
      const bytes = await uploadOf(request.body, bodies.get(request));
      // The text is a third larger than the bytes and of no more use: a long conversion must not hold it.
      bodies.delete(request);
      const conversion = parseConversionRequest(submissionOf(request.body, bytes), services.rules);
      return conversion.output.kind === 'stream'
        ? answerWithProduct(conversion, request, reply, services)
        : answerWithJob(conversion, reply, services);
    },
  });
}

function clientGone(): ServiceError {
  return new ServiceError('cancelled', 'The client has gone away');
}

function refuseWhileShuttingDown({ readiness }: HttpServices): void {
  if (readiness.isShuttingDown) {
    throw new ServiceError('shutting_down', 'The server is shutting down; send the request again later', {
      retryAfterSeconds: 5,
    });
  }
}

/** The body is JSON whatever its Content-Type says, but for forms, and it is sent as it is. */
function refuseOtherBodies({ headers }: FastifyRequest): void {
  if (/^\s*multipart\/form-data/i.test(headers['content-type'] ?? '')) {
    throw new ServiceError(
      'invalid_request',
      'multipart/form-data is not taken; send JSON with the file in base64 as input.bytes',
    );
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    throw new ServiceError('invalid_request', `Content-Encoding: ${encoding} is not taken; send the body uncompressed`);
  }
}

/** The decoded input.bytes; undefined where there are none. */
async function uploadOf({ input }: ConvertBody, body: JsonBody | undefined): Promise<Buffer | undefined> {
  const longTexts = body?.longTexts ?? [];
  const cut = longTexts.find(({ placeholder }) => placeholder === input.bytes);
  if (longTexts.length > (cut ? 1 : 0)) {
    throw new ServiceError('invalid_request', 'A long text stands outside of input.bytes; no other field takes one');
  }
  if (cut) return decodeBase64(unescapeLongText(cut.bytes), 'input.bytes');
  return input.bytes ? decodeBase64(Buffer.from(input.bytes, 'utf8'), 'input.bytes') : undefined;
}

async function answerWithJob(
  conversion: ConversionRequest,
  reply: FastifyReply,
  services: HttpServices,
): Promise<object> {
  const { job } = await services.store.submit(newJob(conversion, services.now()), { bytes: conversion.bytes });
  services.wake(job.lane);
  reply.code(202);
  return {
    id: job.id,
    state: job.state,
    lane: job.lane,
    to: job.to,
    created_at: new Date(job.createdAtMs).toISOString(),
    status_url: `/v1/jobs/${job.id}`,
  };
}

function newJob(conversion: ConversionRequest, nowMs: number): NewJob {
  const { from, to, plan, input, output, notify, highPriority, bytes } = conversion;
  return {
    lane: plan.lane,
    from,
    to,
    highPriority,
    request: { input, output, notify, highPriority },
    inputBytes: bytes.length,
    createdAtMs: nowMs,
  };
}

/** Converts inside the request. The client's disconnect stops the conversion, and the job ends cancelled. */
async function answerWithProduct(
  conversion: ConversionRequest,
  request: FastifyRequest,
  reply: FastifyReply,
  services: HttpServices,
): Promise<FastifyReply> {
  const slot = services.slots.take(conversion.plan.lane);
  const onDisconnect = (): void => slot.stop.abort(clientGone());
  const timer = timeoutOf(services.jobTimeoutMs, slot.stop);
  reply.raw.once('close', onDisconnect);
  try {
    if (request.raw.socket.destroyed) onDisconnect();
    slot.stop.signal.throwIfAborted();
    const startedMs = services.now();
    const attempt = await services.store.begin(newJob(conversion, startedMs));
    reply.header('x-ofd-job-id', attempt.job.id);
    const product = await runStream(
      attempt,
      { bytes: conversion.bytes },
      services.config.maxStreamBytes,
      services.attempt,
      slot.stop.signal,
    );
    return reply
      .header('content-type', FORMATS[conversion.to].mediaType)
      .header('content-length', product.sizeBytes)
      .header('content-disposition', attachment(product.name))
      .header('x-content-type-options', 'nosniff')
      .header('x-ofd-took-ms', Math.max(0, Math.round(services.now() - startedMs)))
      .send(product.body);
  } finally {
    clearTimeout(timer);
    reply.raw.off('close', onDisconnect);
    slot.release();
  }
}

function timeoutOf(limitMs: number, stop: AbortController): NodeJS.Timeout | undefined {
  if (limitMs === 0) return undefined;
  const error = new ServiceError(
    'conversion_timeout',
    `The conversion took longer than job_timeout (${limitMs / 1000} s)`,
    { reason: 'timeout' },
  );
  return setTimeout(() => stop.abort(error), limitMs);
}
