/** GET /v1/jobs/{id}/log: what the engines of a run printed (contract L2). */
import { ServiceError } from '../errors.js';
import type { Job } from '../jobs/job.js';
import { requireVolumes } from './hung-volumes.js';
import { jobNamed } from './jobs.js';
import { JobParameters, LogQuery } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

export function attemptLogRoutes(server: HttpServer, services: HttpServices): void {
  server.get(
    '/v1/jobs/:id/log',
    {
      schema: { params: JobParameters, querystring: LogQuery },
      config: {
        api: {
          summary: 'What the engines of a run printed',
          answers: { 200: { description: 'The log as it is now', mediaTypes: ['text/plain'] } },
          errors: ['job_not_found', 'log_not_found', 'unavailable'],
        },
      },
    },
    async (request, reply) => {
      const job = await jobNamed(request.params.id, services);
      const attempt = attemptWanted(job, request.query.attempt);
      requireVolumes(services.readiness, 'db_path');
      const file = attempt <= job.attempt ? await services.attempt.logs.read(job.id, attempt) : undefined;
      if (!file) throw noLog(job, attempt);
      reply
        .header('content-type', 'text/plain; charset=utf-8')
        .header('cache-control', 'no-store')
        .header('x-content-type-options', 'nosniff');
      return reply.send(file.createReadStream({ start: 0 }));
    },
  );
}

/** The latest run where the client names none. */
function attemptWanted(job: Job, text: string | undefined): number {
  if (text === undefined) return job.attempt;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new ServiceError(
    'invalid_request',
    `attempt: ${JSON.stringify(text.slice(0, 100))} is no number of a run; they count from 1`,
  );
}

function noLog({ id, attempt: runs }: Job, attempt: number): ServiceError {
  const why =
    runs === 0
      ? 'it has not run yet'
      : attempt > runs
        ? `it has had ${runs} ${runs === 1 ? 'run' : 'runs'}`
        : 'its engines printed nothing, or the log could not be kept';
  return new ServiceError('log_not_found', `There is no log of run ${attempt} of job ${id}: ${why}`);
}
