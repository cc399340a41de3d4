/** The service as the page uses it: the same HTTP interface as everybody's. */

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

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const STORED = 'ofd-server-key';

/** The key: out of the address once (`#key=…`), then of this tab alone. */
export function adoptKey(): void {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key === null) return;
  setKey(key);
  history.replaceState(null, '', location.pathname);
}

export function setKey(key: string): void {
  sessionStorage.setItem(STORED, key);
}

export function currentKey(): string | null {
  return sessionStorage.getItem(STORED);
}

/** The service does not know this key; another one that was given meanwhile stays. */
export function forgetKey(key: string | null): boolean {
  if (currentKey() !== key) return false;
  sessionStorage.removeItem(STORED);
  return true;
}

/** @throws ApiError where the answer is one, TypeError where there is none */
export async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...init.headers, Authorization: `Bearer ${currentKey() ?? ''}` };
  const answer = await fetch(path, { ...init, headers });
  if (answer.ok) return answer;
  const { code, message } = (await answer.json().catch(() => ({}))) as { code?: string; message?: string };
  throw new ApiError(answer.status, code ?? '', message ?? answer.statusText);
}

export async function json<Answer>(path: string, init: RequestInit = {}): Promise<Answer> {
  return (await (await call(path, init)).json()) as Answer;
}

export interface Wish {
  readonly file: File;
  readonly to: string;
  readonly kind: 'dir' | 'stream';
  readonly options: Readonly<Record<string, string>>;
}

/** Sends a document as a form. The answer is a job for kind `dir`, the product for `stream`. */
export function submit({ file, to, kind, options }: Wish, signal?: AbortSignal): Promise<Response> {
  const form = new FormData();
  form.set('to', to);
  form.set('kind', kind);
  for (const [name, value] of Object.entries(options)) form.set(name, value);
  // Last, so that the service knows what is wanted before the bytes come.
  form.set('file', file, file.name);
  return call('v1/convert', { method: 'POST', body: form, ...(signal && { signal }) });
}

const AGAIN_MS = 1000;

/** Tells of a job until it has ended, also while the service is started anew: what was taken goes on by itself. */
export async function follow(id: string, onJob: (job: Partial<Job>) => void, signal: AbortSignal): Promise<Job> {
  for (;;) {
    try {
      const job = await json<Job>(`v1/jobs/${id}`, { signal });
      onJob(job);
      if (job.finished_at !== undefined) return job;
      await readEvents(id, onJob, signal);
    } catch (error) {
      const mayPass = !(error instanceof ApiError) || error.status >= 500 || error.status === 429;
      if (signal.aborted || !mayPass) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

async function readEvents(id: string, onJob: (job: Partial<Job>) => void, signal: AbortSignal): Promise<void> {
  const { body } = await call(`v1/jobs/${id}/events`, { signal });
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    const events = waiting.split('\n\n');
    waiting = events.pop() ?? '';
    for (const event of events) tell(event, onJob);
  }
}

function tell(event: string, onJob: (job: Partial<Job>) => void): void {
  const name = /^event: (\w+)$/m.exec(event)?.[1];
  const data = /^data: (.*)$/m.exec(event)?.[1];
  if (name === undefined || data === undefined) return;
  const value = JSON.parse(data) as Job & { done: number; total: number };
  onJob(name === 'page' ? { state: 'running', progress: { done: value.done, total: value.total } } : value);
}
