/** Batches (contract X5): many submissions in one request, what became of each, and cancelling what is left. */
import { ServiceError } from '../errors.js';
import { type Batch, countsOf } from '../jobs/batch.js';
import { timeText } from '../jobs/job-fields.js';
import { BatchAcceptedAnswer, BatchAnswer, type Written } from './answers.js';
import type { RouteDescription } from './api.js';
import { receiveBatch } from './batch-submission.js';
import { shownText } from './list-query.js';
import { refuseEarly } from './prepare.js';
import { BatchBody, BatchParameters, CancelQuery, NoQuery } from './schemas.js';
import type { HttpServer, HttpServices } from './services.js';

const SUBMIT_API: RouteDescription = {
  summary: 'Submit many requests as one batch',
  body: { 'application/json': BatchBody },
  headers: { 'Idempotency-Key': '1 to 255 characters: the same key and request find the first batch.' },
  answers: {
    202: {
      description: 'The batch is safe on disk, with a job for each item that is right',
      schema: BatchAcceptedAnswer,
      headers: { 'Idempotent-Replay': 'true where an earlier request with the same key made the batch.' },
    },
  },
  errors: [
    'unknown_notify_target',
    'conflict',
    'payload_too_large',
    'shutting_down',
    'unavailable',
    'insufficient_storage',
  ],
};

/** Running items that a forced cancel stops at a time. */
const STOPS_AT_A_TIME = 8;

export function batchRoutes(server: HttpServer, services: HttpServices): void {
  server.post('/v1/batches', {
    schema: { querystring: NoQuery },
    config: { readsBody: true, scope: 'convert', api: SUBMIT_API },
    preParsing: async (request) => refuseEarly(request, services),
    handler: async (request, reply): Promise<Written<typeof BatchAcceptedAnswer>> => {
      const received = await receiveBatch(request, services);
      try {
        const { batch, isReplay } = await services.store.submitBatch(received.batch, received.items);
        if (isReplay) reply.header('idempotent-replay', 'true');
        else wakeAll(services);
        reply.code(202);
        return {
          id: batch.id,
          state: stateOf(batch),
          total: batch.items.length,
          status_url: `/v1/batches/${batch.id}`,
        };
      } finally {
        await received.discard();
      }
    },
  });

  server.get(
    '/v1/batches/:id',
    {
      schema: { params: BatchParameters, querystring: NoQuery },
      config: {
        api: {
          summary: 'A batch, and what became of each item',
          answers: { 200: { description: 'The batch', schema: BatchAnswer } },
          errors: ['batch_not_found', 'unavailable'],
        },
      },
    },
    async (request) => batchAnswer(await batchNamed(request.params.id, services)),
  );

  server.post(
    '/v1/batches/:id/cancel',
    {
      schema: { params: BatchParameters, querystring: CancelQuery },
      config: {
        scope: 'convert',
        api: {
          summary: 'Cancel the items of a batch that are queued, or by force those that run too',
          answers: { 200: { description: 'The batch as it is then', schema: BatchAnswer } },
          errors: ['batch_not_found', 'not_cancellable', 'unavailable'],
        },
      },
    },
    async (request) => {
      const { id } = request.params;
      const before = await batchNamed(id, services);
      if (before.finishedAtMs !== undefined) {
        throw new ServiceError('not_cancellable', `Batch ${id} is completed: all its items have ended`);
      }
      await services.store.cancelBatch(id, services.now());
      if (request.query.force === 'true') await stopRunning(id, services);
      services.wakeNotifier();
      return batchAnswer(await batchNamed(id, services));
    },
  );
}

function wakeAll(services: HttpServices): void {
  services.wake('fast');
  services.wake('heavy');
  services.wakeNotifier();
}

/** Throws `batch_not_found`. */
async function batchNamed(id: string, { store }: HttpServices): Promise<Batch> {
  const batch = await store.batch(id);
  if (batch) return batch;
  throw new ServiceError(
    'batch_not_found',
    `There is no batch ${shownText(id)}; the record of a batch that has ended is kept for the time that the key "retention" sets`,
  );
}

/** What ends by itself meanwhile is left as it ended. */
async function stopRunning(id: string, services: HttpServices): Promise<void> {
  const jobIds = await services.store.openJobsOfBatch(id);
  for (let at = 0; at < jobIds.length; at += STOPS_AT_A_TIME) {
    const some = jobIds.slice(at, at + STOPS_AT_A_TIME);
    await Promise.all(some.map((jobId) => services.cancelByForce(jobId)));
  }
}

function stateOf({ finishedAtMs }: Batch): 'running' | 'completed' {
  return finishedAtMs === undefined ? 'running' : 'completed';
}

function batchAnswer(batch: Batch): Written<typeof BatchAnswer> {
  return {
    id: batch.id,
    state: stateOf(batch),
    ...countsOf(batch),
    created_at: new Date(batch.createdAtMs).toISOString(),
    finished_at: timeText(batch.finishedAtMs),
    items: batch.items.map(({ index, jobId, state, error, errorCode, reason }) => ({
      index,
      job_id: jobId,
      state,
      error,
      error_code: errorCode,
      reason,
    })),
  };
}
