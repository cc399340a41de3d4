/** What the store's threads and their clients say to each other. */
import { type ErrorCode, ServiceError } from '../errors.js';
import { type StoreFault, StoreOpenError } from './store.js';

export interface ThreadRequest {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Sent in lists, so that the answers of one transaction are one message. */
export type ThreadReply =
  | { readonly id: number; readonly kind: 'value'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'error'; readonly code: ErrorCode; readonly message: string }
  /** Still at work on a long call: its deadline starts again. */
  | { readonly id: number; readonly kind: 'alive' }
  /** The thread can't start and ends. */
  | {
      readonly id: typeof START_ID;
      readonly kind: 'start_error';
      readonly fault: StoreFault;
      readonly message: string;
    };

/** The id of the answer that a thread gives unasked when it is ready. */
export const START_ID = 0;

const NO_SPACE = new Set(['SQLITE_FULL', 'ENOSPC', 'EDQUOT']);

/** An error of the disk or of SQLite in the words of the error table. */
export function errorReply(id: number, error: unknown): ThreadReply {
  if (error instanceof ServiceError) return { id, kind: 'error', code: error.code, message: error.message };
  const { code, message } = error as Error & { code?: string };
  if (code === undefined) return { id, kind: 'error', code: 'internal_error', message: `The job store: ${message}` };
  if (NO_SPACE.has(code)) {
    const text = `No space left on the volume of the job database (${code}): make room, then submit again`;
    return { id, kind: 'error', code: 'insufficient_storage', message: text };
  }
  return { id, kind: 'error', code: 'unavailable', message: `The job store cannot write: ${message} (${code})` };
}

export function startErrorReply(error: StoreOpenError): ThreadReply {
  return { id: START_ID, kind: 'start_error', fault: error.fault, message: error.message };
}

/** The error that a reply carries, as the caller shall see it. */
export function errorOfReply(reply: ThreadReply): Error | undefined {
  if (reply.kind === 'start_error') return new StoreOpenError(reply.fault, reply.message);
  if (reply.kind !== 'error') return undefined;
  return new ServiceError(
    reply.code,
    reply.message,
    reply.code === 'insufficient_storage' || reply.code === 'unavailable' ? { retryAfterSeconds: 10 } : {},
  );
}
