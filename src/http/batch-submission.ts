/** Reads a batch: each item is checked as it comes, and what is wrong with one is no concern of the others (contract X5). */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../errors.js';
import type { ItemFault, NewBatch, NewBatchItem } from '../jobs/batch.js';
import { BATCH_EVENT } from '../jobs/notification.js';
import { canonicalJson, requestHash } from '../jobs/request-hash.js';
import type { SubmittedInput } from '../jobs/store.js';
import { BatchBodyReader, type ReadItem } from './batch-body.js';
import { limitsOf, readBody } from './body-reader.js';
import { invalidBody } from './errors.js';
import { idempotencyKeyOf } from './idempotency.js';
import { LIMIT_ADVICE, prepare, validatedBody } from './prepare.js';
import { BatchFrame } from './schemas.js';
import type { HttpServices } from './services.js';
import { refuseNoJson, uploadIn, withoutPlaceholder } from './submission.js';
import { type Upload, UploadWriter } from './upload.js';

/** A batch that is right as a whole. `discard()` what it holds in the end. */
export interface ReceivedBatch {
  readonly batch: NewBatch;
  readonly items: readonly NewBatchItem<SubmittedInput | undefined>[];
  discard(): Promise<void>;
}

/** Reads the whole request. Where it rejects, nothing is left of what had come. */
export async function receiveBatch(request: FastifyRequest, services: HttpServices): Promise<ReceivedBatch> {
  const items = new Items(request, services);
  const reader = new BatchBodyReader(
    () => new UploadWriter(services.attempt.workspaceRoot),
    (item, index) => items.add(item, index),
  );
  try {
    let isFirst = true;
    const limits = limitsOf(request.headers, services.config.maxUploadBytes, LIMIT_ADVICE);
    await readBody(request.raw, limits, (piece) => {
      if (isFirst) refuseNoJson(piece);
      isFirst = false;
      return reader.write(piece);
    });
    const frame = validatedFrame(reader.finish(), request, items.taken.length);
    const key = idempotencyKeyOf(request.headers['idempotency-key'], frame.idempotency_key);
    const notify = notifyOf(frame, services);
    const idempotency = key === undefined ? undefined : { key, requestHash: items.hash(notify) };
    return {
      batch: { createdAtMs: services.now(), notify, idempotency },
      items: items.taken,
      discard: () => items.discard(),
    };
  } catch (error) {
    await Promise.all([reader.discard(), items.discard()]);
    throw error;
  }
}

/** The items that have come so far. */
class Items {
  readonly taken: NewBatchItem<SubmittedInput | undefined>[] = [];
  readonly #hash = createHash('sha256');
  readonly #uploads: Upload[] = [];
  readonly #request: FastifyRequest;
  readonly #services: HttpServices;

  constructor(request: FastifyRequest, services: HttpServices) {
    this.#request = request;
    this.#services = services;
  }

  async add(item: ReadItem, index: number): Promise<void> {
    try {
      if ('fault' in item) throw item.fault;
      await this.#take(item, index);
    } catch (error) {
      const fault = faultOf(error);
      this.#hash.update(canonicalJson(fault));
      this.taken.push({ fault });
    }
  }

  async #take({ json: { value, longText } }: Extract<ReadItem, { json: unknown }>, index: number): Promise<void> {
    if (longText?.upload) this.#uploads.push(longText.upload);
    try {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        throw invalid(`items[${index}] is no object; write a request as of /v1/convert`);
      }
      const body = validatedBody(value, this.#request);
      const key = idempotencyKeyOf(undefined, body.idempotency_key);
      const submission = await prepare({ body, upload: uploadIn(body, longText) }, undefined, this.#services);
      if (submission.conversion.output.kind === 'stream') {
        throw invalid('output.kind: an item of a batch is no stream; write "dir" or a remote kind');
      }
      const hash = requestHash(submission.job, submission.inputSha256);
      const job = key === undefined ? submission.job : { ...submission.job, idempotency: { key, requestHash: hash } };
      this.#hash.update(canonicalJson({ key, hash }));
      this.taken.push({ job, input: submission.input });
    } catch (error) {
      throw longText ? withoutPlaceholder(error, longText) : error;
    }
  }

  /** Digest of the whole batch, by meaning. */
  hash(notify: NewBatch['notify']): string {
    return this.#hash.copy().update(canonicalJson({ notify })).digest('hex');
  }

  async discard(): Promise<void> {
    await Promise.all(this.#uploads.map((upload) => upload.discard()));
  }
}

/** What a submission of its own would have been answered. Throws what is no fault of the item. */
function faultOf(error: unknown): ItemFault {
  if (!(error instanceof ServiceError) || error.status >= 500) throw error;
  return { errorCode: error.code, reason: error.reason, error: error.message };
}

function validatedFrame(body: unknown, request: FastifyRequest, itemCount: number): BatchFrame {
  const validate = request.compileValidationSchema(BatchFrame, 'body');
  if (!validate(body)) throw invalidBody(validate.errors);
  const frame = body as BatchFrame;
  if (frame.items.length === 0) throw invalid('items is empty; write at least one request as of /v1/convert');
  // A name that is spelt with escapes is not seen while the body comes.
  if (frame.items.length !== itemCount) throw invalid('items: write the name as it is, without escapes');
  return frame;
}

function notifyOf({ notify }: BatchFrame, { rules }: HttpServices): NewBatch['notify'] {
  if (!notify) return undefined;
  const { target, events } = notify;
  if (!target) throw invalid('notify.target is required, the name of a configured target');
  if (!rules.notifyTargets.has(target)) {
    throw new ServiceError(
      'unknown_notify_target',
      `notify.target: ${JSON.stringify(target)} is not among the notify_targets of the service`,
    );
  }
  const wrong = events?.find((event) => event !== BATCH_EVENT && !rules.notifyEvents.includes(event));
  if (wrong !== undefined || !events?.some((event) => event === BATCH_EVENT || event === '*')) {
    const fault = wrong === undefined ? '' : `"${wrong}" is no event; `;
    throw invalid(
      `notify.events: ${fault}write ["${BATCH_EVENT}"]; a batch tells of nothing else, its items have their own`,
    );
  }
  return { target, events };
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
