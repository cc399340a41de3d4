/** GET /v1/jobs/{id}/content: a product as it lies in output_dir, or all of them as one ZIP (contract A8). */
import { type FileHandle, open } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { inWorkspace } from '../convert/workspace.js';
import { ServiceError } from '../errors.js';
import { FORMATS, formatOfFileName } from '../formats.js';
import { isTerminal, type Job, type Product } from '../jobs/job.js';
import { writeArchive } from './archive.js';
import { attachment } from './disposition.js';
import { requireVolumes } from './hung-volumes.js';
import { jobNamed } from './jobs.js';
import { openProduct } from './product-file.js';
import { ContentQuery, JobParameters } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

export function contentRoutes(server: HttpServer, services: HttpServices): void {
  server.get(
    '/v1/jobs/:id/content',
    {
      schema: { params: JobParameters, querystring: ContentQuery },
      config: {
        api: {
          summary: 'The products of a job',
          answers: {
            200: {
              description: 'A product, or a ZIP of all',
              mediaTypes: ['application/octet-stream', 'application/zip'],
              headers: { 'Content-Disposition': 'The name of the file.' },
            },
          },
          errors: [
            'job_not_found',
            'content_not_found',
            'job_not_finished',
            'content_not_available',
            'unavailable',
            'insufficient_storage',
          ],
        },
      },
    },
    async (request, reply) => {
      const job = await jobNamed(request.params.id, services);
      requireContent(job);
      const wanted = productWanted(job, request.query.name);
      requireVolumes(services.readiness, 'output_dir', ...(wanted ? [] : (['temp_dir'] as const)));
      reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
      return wanted ? sendProduct(wanted, reply, services) : sendArchive(job, reply, services);
    },
  );
}

/** Throws `job_not_finished` or `content_not_available`. */
function requireContent(job: Job): void {
  if (!isTerminal(job.state)) {
    throw new ServiceError(
      'job_not_finished',
      `Job ${job.id} is ${job.state}; its content is there when it has succeeded`,
    );
  }
  if (job.state !== 'succeeded') {
    throw new ServiceError('content_not_available', `Job ${job.id} is ${job.state}: it has no content`);
  }
  const { kind } = job.request.output;
  if (kind === 'stream') {
    throw new ServiceError(
      'content_not_available',
      `Job ${job.id} is a stream: its content was the answer to its request; use output.kind "dir" to fetch it later`,
    );
  }
  if (kind !== 'dir') {
    throw new ServiceError('content_not_available', `The products of job ${job.id} lie at ${job.output?.path ?? kind}`);
  }
}

/** The one product to send; undefined for the archive of all. A name counts only where it is in the job's own list. */
function productWanted(job: Job, name: string | undefined): Product | undefined {
  if (name === undefined) return job.products.length === 1 ? job.products[0] : undefined;
  const product = job.products.find((candidate) => candidate.name === name);
  if (product) return product;
  const shown = JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);
  throw new ServiceError('content_not_found', `name: ${shown} is not among output.files of job ${job.id}`);
}

async function sendProduct(product: Product, reply: FastifyReply, services: HttpServices): Promise<FastifyReply> {
  const handle = await openProduct(product, services.attempt.sinks.outputDir);
  const format = formatOfFileName(extname(product.name));
  return send(handle, product.name, format ? FORMATS[format].mediaType : 'application/octet-stream', reply);
}

async function sendArchive(job: Job, reply: FastifyReply, services: HttpServices): Promise<FastifyReply> {
  // Its size is known when it has been made, which is not worth it for a HEAD.
  if (isHead(reply)) return head(`${job.id}.zip`, 'application/zip', reply).send(Readable.from([]));
  const gone = new AbortController();
  const onDisconnect = (): void => gone.abort(new ServiceError('cancelled', 'The client has gone away'));
  reply.raw.once('close', onDisconnect);
  const { workspaceRoot, sinks } = services.attempt;
  try {
    const handle = await inWorkspace(workspaceRoot, `${job.id}-content`, async (directory) => {
      const path = join(directory, 'content.zip');
      const openOne = (product: Product): Promise<FileHandle> => openProduct(product, sinks.outputDir);
      await writeArchive(job.products, job.finishedAtMs ?? job.createdAtMs, openOne, path, gone.signal);
      // The open file outlives its name, which is gone with the workspace: nothing is left however the sending ends.
      return open(path, 'r');
    });
    return await send(handle, `${job.id}.zip`, 'application/zip', reply);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOSPC' || code === 'EDQUOT'
      ? new ServiceError(
          'insufficient_storage',
          'No space left in temp_dir for the archive; fetch the files by ?name=',
          {
            cause: error,
            retryAfterSeconds: 60,
          },
        )
      : error;
  } finally {
    reply.raw.off('close', onDisconnect);
  }
}

async function send(handle: FileHandle, name: string, mediaType: string, reply: FastifyReply): Promise<FastifyReply> {
  const { size } = await handle.stat();
  head(name, mediaType, reply).header('content-length', size);
  if (!isHead(reply)) return reply.send(handle.createReadStream({ start: 0 }));
  await handle.close();
  return reply.send(Readable.from([]));
}

function head(name: string, mediaType: string, reply: FastifyReply): FastifyReply {
  return reply.header('content-type', mediaType).header('content-disposition', attachment(name));
}

function isHead({ request }: FastifyReply): boolean {
  return request.method === 'HEAD';
}
