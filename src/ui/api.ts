/** The service as the page uses it: the same HTTP interface as everybody's. */
import { currentKey, forgetKey, noteLack, type Scope } from './keys.js';

export interface Warning {
  readonly code: string;
  readonly message: string;
  readonly page?: number;
}

export interface Job {
  readonly id: string;
  readonly state: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly lane: string;
  readonly from?: string;
  readonly to: string;
  readonly created_at: string;
  readonly started_at?: string;
  readonly finished_at?: string;
  readonly progress?: { readonly done: number; readonly total: number };
  readonly waiting?: { readonly reason: string };
  /** Not in lists, as `warnings`. */
  readonly output?: {
    readonly kind: string;
    readonly products: readonly { readonly name: string; readonly size: number }[];
  };
  readonly warnings?: readonly Warning[];
  readonly pages?: number;
  readonly error?: string;
  readonly error_code?: string;
  readonly reason?: string;
}

export interface Statistics {
  readonly totals: { readonly conversions: number };
  readonly queue: {
    readonly queued?: number;
    readonly running?: number;
    readonly workers: Readonly<Record<string, number>>;
  };
}

export interface Readiness {
  readonly status?: string;
  readonly message?: string;
  readonly disabled?: readonly { readonly engine: string; readonly reason: string }[];
  readonly hindrances?: readonly string[];
}

/** An answer that is an error of the service's table. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly reason: string | undefined;
  /** When to come again, where the service says so. */
  readonly retryAfterMs: number | undefined;

  constructor(answer: Response, { code = '', message = answer.statusText, reason }: ErrorBody) {
    super(message);
    this.status = answer.status;
    this.code = code;
    this.reason = reason;
    const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isNaN(seconds) ? undefined : seconds * 1000;
  }
}

interface ErrorBody {
  readonly code?: string;
  readonly message?: string;
  readonly reason?: string;
}

/**
 * @param needs the scope that the service asks for
 * @throws ApiError where the answer is one, TypeError where there is none
 */
export async function call(path: string, init: RequestInit = {}, needs: Scope = 'read'): Promise<Response> {
  const key = currentKey();
  const headers = { ...init.headers, Authorization: `Bearer ${key ?? ''}` };
  const answer = await fetch(path, { ...init, headers });
  if (answer.ok) return answer;
  const error = new ApiError(answer, (await answer.json().catch(() => ({}))) as ErrorBody);
  if (isForbidden(error)) noteLack(needs, key);
  if (error.status === 401) forgetKey(key);
  throw error;
}

/** Whether the key lacks the scope. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'forbidden';
}

const PATIENCE_MS = 20_000;

/** For what is asked again and again: a service that hangs must not keep the page from asking anew. */
export function patience(): { readonly signal: AbortSignal } {
  return { signal: AbortSignal.timeout(PATIENCE_MS) };
}

export async function json<Answer>(path: string): Promise<Answer> {
  return (await (await call(path, patience())).json()) as Answer;
}

/** Stops a job, also one that runs. */
export async function cancel(id: string): Promise<Job> {
  return (await (await call(`v1/jobs/${id}/cancel?force=true`, { method: 'POST' }, 'convert')).json()) as Job;
}

export function retry(id: string): Promise<Response> {
  return call(`v1/jobs/${id}/retry`, { method: 'POST' }, 'admin');
}

export interface Wish {
  readonly file: File;
  readonly to: string;
  /** `stream` for a key that cannot see jobs: the product is all that there is then. */
  readonly kind: 'dir' | 'stream';
  readonly options: Readonly<Record<string, string>>;
}

/** Sends a document as a form. The answer is a job for kind `dir`, the product for `stream`. */
export function submit({ file, to, kind, options }: Wish, signal: AbortSignal): Promise<Response> {
  const form = new FormData();
  form.set('to', to);
  form.set('kind', kind);
  for (const [name, value] of Object.entries(options)) form.set(name, value);
  // Last, so that the service knows what is wanted before the bytes come.
  form.set('file', file, file.name);
  return call('v1/convert', { method: 'POST', body: form, signal }, 'convert');
}
