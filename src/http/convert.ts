/** POST /v1/convert: 202 and a job, or the bytes of the product at once (contract A3, A4, A5). */
import type { FastifyReply } from 'fastify';
import type { AcceptedAnswer, Written } from './answers.js';
import { limitsOf } from './body-reader.js';
import { CONVERT_API } from './convert-api.js';
import { idempotencyKeyOf } from './idempotency.js';
import { acceptedAnswer } from './job-answer.js';
import { LIMIT_ADVICE, prepare, refuseEarly, type Submission, validatedBody } from './prepare.js';
import type { HttpServer, HttpServices } from './services.js';
import { answerWithProduct } from './stream.js';
import { receive } from './submission.js';

export function convertRoutes(server: HttpServer, services: HttpServices): void {
  server.post('/v1/convert', {
    config: { readsBody: true, scope: 'convert', api: CONVERT_API },
    preParsing: async (request) => refuseEarly(request, services),
    handler: async (request, reply) => {
      const received = await receive(request, {
        limits: limitsOf(request.headers, services.config.maxUploadBytes, LIMIT_ADVICE),
        folder: services.attempt.workspaceRoot,
        contentType: request.bodyType,
        validate: (body) => validatedBody(body, request),
      });
      try {
        const key = idempotencyKeyOf(request.headers['idempotency-key'], received.body.idempotency_key);
        const submission = await prepare(received, key, services);
        return submission.conversion.output.kind === 'stream'
          ? await answerWithProduct(submission, request, reply, services)
          : await answerWithJob(submission, reply, services);
      } catch (error) {
        throw received.renamed(error);
      } finally {
        await received.discard();
      }
    },
  });
}

async function answerWithJob(
  { job: wanted, input }: Submission,
  reply: FastifyReply,
  services: HttpServices,
): Promise<Written<typeof AcceptedAnswer>> {
  const { job, isReplay } = await services.store.submit(wanted, input);
  if (isReplay) reply.header('idempotent-replay', 'true');
  else services.wake(job.lane);
  reply.code(202);
  return acceptedAnswer(job);
}
