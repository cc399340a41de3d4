/** One job: its state, cancelling it, trying it again (contract A7, A9, A13, X4). */
import type { FastifyReply } from 'fastify';
import { parseDuration } from '../config/duration.js';
import { ServiceError } from '../errors.js';
import { isTerminal, type Job } from '../jobs/job.js';
import type { CancelAnswer } from '../jobs/store.js';
import { AcceptedAnswer, JobAnswer } from './answers.js';
import { acceptedAnswer, jobAnswer } from './job-answer.js';
import { OpenAnswers } from './open-answers.js';
import { CancelQuery, JobParameters, JobQuery, NoQuery } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

const LONGEST_WAIT_MS = 60_000;

export function jobRoutes(server: HttpServer, services: HttpServices): void {
  const open = new OpenAnswers(server);

  server.get(
    '/v1/jobs/:id',
    {
      schema: { params: JobParameters, querystring: JobQuery },
      config: {
        api: {
          summary: 'A job, now or when it has ended',
          answers: { 200: { description: 'The job', schema: JobAnswer } },
          errors: ['job_not_found', 'unavailable'],
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const waitMs = waitOf(request.query.wait);
      if (waitMs > 0) await untilEnded(id, waitMs, reply, services, open);
      const job = await jobNamed(id, services);
      const hindrances = [...services.readiness.hindrances(), ...services.downTargets()];
      return jobAnswer(job, services.progressOf(job), hindrances);
    },
  );

  server.post(
    '/v1/jobs/:id/cancel',
    {
      schema: { params: JobParameters, querystring: CancelQuery },
      config: {
        scope: 'convert',
        api: {
          summary: 'Cancel a job that is queued, or by force one that runs',
          answers: { 200: { description: 'The cancelled job', schema: JobAnswer } },
          errors: ['job_not_found', 'not_cancellable', 'unavailable'],
        },
      },
    },
    async (request) => {
      const { id } = request.params;
      const isForced = request.query.force === 'true';
      const answer = isForced ? await services.cancelByForce(id) : await services.store.cancel(id, services.now());
      if (answer === 'not_found') throw noSuchJob(id);
      const job = await jobNamed(id, services);
      refuseUncancelled(job, answer, isForced);
      return jobAnswer(job, undefined);
    },
  );

  server.post(
    '/v1/jobs/:id/retry',
    {
      schema: { params: JobParameters, querystring: NoQuery },
      config: {
        scope: 'admin',
        api: {
          summary: 'Queue a dead letter again',
          answers: { 202: { description: 'The job is queued', schema: AcceptedAnswer } },
          errors: ['job_not_found', 'not_retryable', 'unavailable'],
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const answer = await services.store.retry(id);
      if (answer === 'not_found') throw noSuchJob(id);
      const job = await jobNamed(id, services);
      if (answer === 'not_retryable') throw notRetryable(job);
      services.wake(job.lane);
      reply.code(202);
      return acceptedAnswer(job);
    },
  );
}

/** Throws `job_not_found`. */
export async function jobNamed(id: string, { store }: HttpServices): Promise<Job> {
  const job = await store.get(id);
  if (!job) throw noSuchJob(id);
  return job;
}

function noSuchJob(id: string): ServiceError {
  const shown = id.length > 64 ? `${id.slice(0, 64)}…` : id;
  return new ServiceError(
    'job_not_found',
    `There is no job ${JSON.stringify(shown)}; the record of a job that has ended is kept for the time that the key "retention" sets`,
  );
}

/** Milliseconds to wait at most; longer ones are cut. */
function waitOf(text: string | undefined): number {
  if (!text) return 0;
  const waitMs = parseDuration(text);
  if (waitMs === undefined || waitMs < 0) {
    throw new ServiceError('invalid_request', `wait: ${JSON.stringify(text.slice(0, 100))} is no duration; write 30s`);
  }
  return Math.min(waitMs, LONGEST_WAIT_MS);
}

/** Resolves when the job has ended, the time is over, the client has gone or the server closes. */
async function untilEnded(
  id: string,
  waitMs: number,
  reply: FastifyReply,
  services: HttpServices,
  open: OpenAnswers,
): Promise<void> {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // Subscribed before the job is read: an end between the two is not missed.
  const unsubscribe = services.store.feed.subscribe(id, ({ kind }) => kind === 'ended' && end());
  const timer = setTimeout(end, waitMs);
  const remove = open.add(end);
  reply.raw.once('close', end);
  try {
    const job = await jobNamed(id, services);
    if (!isTerminal(job.state)) await ended;
  } finally {
    unsubscribe();
    clearTimeout(timer);
    remove();
    reply.raw.off('close', end);
  }
}

function refuseUncancelled({ id, state, isStream }: Job, answer: CancelAnswer, isForced: boolean): void {
  if (answer === 'cancelled') return;
  const advice =
    isForced || isTerminal(state)
      ? 'it has ended'
      : `only a queued job can be cancelled; ?force=true stops ${isStream ? 'this stream' : 'it'}`;
  throw new ServiceError('not_cancellable', `Job ${id} is ${state}: ${advice}`);
}

function notRetryable({ id, state, isStream, errorCode }: Job): ServiceError {
  const advice = isStream
    ? 'the input of a stream is not kept; send its request again'
    : state === 'failed'
      ? `${errorCode} would come again; send another request`
      : 'only a failed job can be tried again';
  return new ServiceError('not_retryable', `Job ${id} is ${state}: ${advice}`);
}
