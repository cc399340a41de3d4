/** The product as the answer to its request (contract A4). The client's disconnect stops the conversion. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { runStream } from '../attempt.js';
import { ServiceError } from '../errors.js';
import { FORMATS } from '../formats.js';
import { attachment } from './disposition.js';
import type { Submission } from './prepare.js';
import type { HttpServices } from './services.js';

/** Converts inside the request. Throws ServiceError as it is to be answered; the job says the same. */
export async function answerWithProduct(
  { conversion, job, input }: Submission,
  request: FastifyRequest,
  reply: FastifyReply,
  services: HttpServices,
): Promise<FastifyReply> {
  refuseWithoutRoom(services);
  const slot = services.slots.take(conversion.lane);
  const onDisconnect = (): void => slot.stop.abort(new ServiceError('cancelled', 'The client has gone away'));
  reply.raw.once('close', onDisconnect);
  try {
    if (request.raw.socket.destroyed) onDisconnect();
    slot.stop.signal.throwIfAborted();
    const startedMs = services.now();
    const attempt = await services.store.begin({ ...job, createdAtMs: startedMs });
    reply.header('x-ofd-job-id', attempt.job.id);
    const product = await runStream(attempt, input, services.config.maxStreamBytes, services.attempt, slot.stop.signal);
    return reply
      .header('content-type', FORMATS[conversion.to].mediaType)
      .header('content-length', product.sizeBytes)
      .header('content-disposition', attachment(product.name))
      .header('x-content-type-options', 'nosniff')
      .header('x-ofd-warnings', product.warningCount)
      .header('x-ofd-took-ms', Math.max(0, Math.round(services.now() - startedMs)))
      .send(product.body);
  } finally {
    reply.raw.off('close', onDisconnect);
    slot.release();
  }
}

/** Somebody has to make room first. */
const FULL_RETRY_SECONDS = 60;

/** What keeps every job from starting keeps a stream as well, and that cannot wait (contract V2). */
function refuseWithoutRoom({ readiness }: HttpServices): void {
  const full = readiness.hindrances().find(({ kinds, reason }) => kinds === undefined && reason === 'no_space');
  if (!full) return;
  throw new ServiceError('insufficient_storage', `There is no room for a conversion: ${full.text}`, {
    retryAfterSeconds: FULL_RETRY_SECONDS,
  });
}
