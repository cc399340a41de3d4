/** One attempt to deliver a notification: a signed POST, and what its answer means (contract N1, N3). */
import { createHmac } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { DeliveryResult, Notification } from '../jobs/notification.js';
import type { NotifyConfig } from './keys.js';

export type NotifyTarget = NotifyConfig['notifyTargets'] extends ReadonlyMap<string, infer Target> ? Target : never;

/** What came back: a status, or why there is none. */
export type DeliveryAnswer =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly error: string };

/** An answer is read no further than this; its status is all that counts. */
const LONGEST_ANSWER_BYTES = 64 * 1024;
const ANSWER_MS = 5000;

/**
 * Sends the notification. Redirects are not followed. Never rejects but for the reason of `signal`.
 * @param nowMs goes into the signature, so that a receiver can refuse what is old
 */
export async function deliver(
  notification: Notification,
  target: NotifyTarget,
  nowMs: number,
  signal: AbortSignal,
): Promise<DeliveryAnswer> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  const timer = setTimeout(onAbort, target.timeoutSeconds * 1000);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await post(target.url, headersOf(notification, target, nowMs), notification.body, nowMs, stop.signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // No address: its query may hold what nobody else shall read.
    if (stop.signal.aborted) return { error: `no answer within timeout_seconds (${target.timeoutSeconds} s)` };
    const { code, message } = error as NodeJS.ErrnoException;
    return { error: `no answer: ${code ?? message}` };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function headersOf({ id, jobId, batchId, event, body }: Notification, target: NotifyTarget, nowMs: number): object {
  const timestamp = String(Math.floor(nowMs / 1000));
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'ofd-server',
    'x-ofd-delivery': id,
    'x-ofd-event': event,
    ...(jobId !== undefined && { 'x-ofd-job': jobId }),
    ...(batchId !== undefined && { 'x-ofd-batch': batchId }),
    'x-ofd-timestamp': timestamp,
    ...(target.secret && { 'x-ofd-signature': signatureOf(target.secret.reveal(), timestamp, body) }),
  };
}

/** `v1=` and the hexadecimal HMAC-SHA256 of `v1.<timestamp>.<body>`. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`v1.${timestamp}.${body}`).digest('hex')}`;
}

function post(url: string, headers: object, body: string, nowMs: number, signal: AbortSignal): Promise<DeliveryAnswer> {
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', headers: { ...headers }, agent: false }, (response) => {
      resolve({ status: response.statusCode ?? 0, retryAfterMs: retryAfterOf(response, nowMs) });
      signal.removeEventListener('abort', onAbort);
      drain(response);
    });
    const onAbort = (): void => {
      call.destroy(new Error('stopped'));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    call.on('error', reject);
    call.end(body);
  });
}

/** Lets the receiver finish its answer, within reason. */
function drain(response: IncomingMessage): void {
  let length = 0;
  const timer = setTimeout(() => response.destroy(), ANSWER_MS).unref();
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > LONGEST_ANSWER_BYTES) response.destroy();
  });
  response.on('error', () => undefined).on('close', () => clearTimeout(timer));
}

/** `Retry-After`: seconds, or a date. */
function retryAfterOf({ headers }: IncomingMessage, nowMs: number): number | undefined {
  const value = headers['retry-after']?.trim();
  if (!value) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return ms > 0 ? ms : undefined;
}

const LONGEST_BACKOFF_MS = 10 * 60_000;
/** A receiver is waited for on its own word, but not for ever. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

export interface DeliveryPolicy {
  /** Attempts until it is abandoned. */
  readonly maxAttempts: number;
  /** Wait after the first of them; doubled for each one after, at most ten minutes. */
  readonly backoffMs: number;
  /** Wait between the attempts after those; 0 makes none. */
  readonly slowRetryMs: number;
}

/**
 * What becomes of a notification after an answer: 2xx is delivered; 408, 429, 5xx and no answer may pass later; anything
 * else says that it will never be taken.
 */
export function resultOf(
  answer: DeliveryAnswer,
  notification: Pick<Notification, 'attempts' | 'earlierAttempts'>,
  policy: DeliveryPolicy,
  nowMs: number,
): DeliveryResult {
  const attempts = notification.attempts - notification.earlierAttempts + 1;
  const status = 'status' in answer ? answer.status : undefined;
  if (status !== undefined && status >= 200 && status <= 299) return { state: 'delivered', status };
  const error = 'error' in answer ? answer.error : `the receiver answered ${status}`;
  const mayPass = status === undefined || status === 408 || status === 429 || status >= 500;
  if (!mayPass) return { state: 'dead', status, error };
  const isAbandoned = attempts >= policy.maxAttempts;
  const backoffMs = Math.min(policy.backoffMs * 2 ** (attempts - 1), LONGEST_BACKOFF_MS);
  const askedMs = Math.min(('retryAfterMs' in answer && answer.retryAfterMs) || 0, LONGEST_RETRY_AFTER_MS);
  const nextAttemptAtMs = nowMs + Math.max(isAbandoned ? policy.slowRetryMs : backoffMs, askedMs);
  if (!isAbandoned) return { state: 'pending', status, error, nextAttemptAtMs };
  return { state: 'abandoned', status, error, ...(policy.slowRetryMs > 0 && { nextAttemptAtMs }) };
}
