/** GET /v1/jobs/{id} and POST /v1/jobs/{id}/cancel (contract A7, A9). */
import { ServiceError } from '../errors.js';
import type { Job } from '../jobs/job.js';
import { jobAnswer } from './job-answer.js';
import { JobParameters, NoQuery } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

export function jobRoutes(server: HttpServer, services: HttpServices): void {
  server.get('/v1/jobs/:id', { schema: { params: JobParameters, querystring: NoQuery } }, async (request) => {
    const job = await jobNamed(request.params.id, services);
    return jobAnswer(job, services.progressOf(job));
  });

  server.post('/v1/jobs/:id/cancel', { schema: { params: JobParameters, querystring: NoQuery } }, async (request) => {
    const { id } = request.params;
    const answer = await services.store.cancel(id, services.now());
    if (answer === 'not_found') throw noSuchJob(id);
    const job = await jobNamed(id, services);
    if (answer === 'not_cancellable') {
      throw new ServiceError('not_cancellable', `Job ${id} is ${job.state}; only a queued job can be cancelled`);
    }
    return jobAnswer(job, undefined);
  });
}

/** Throws `job_not_found`. */
export async function jobNamed(id: string, { store }: HttpServices): Promise<Job> {
  const job = await store.get(id);
  if (!job) throw noSuchJob(id);
  return job;
}

function noSuchJob(id: string): ServiceError {
  const shown = id.length > 64 ? `${id.slice(0, 64)}…` : id;
  return new ServiceError('job_not_found', `There is no job ${JSON.stringify(shown)}; records are kept for retention`);
}
