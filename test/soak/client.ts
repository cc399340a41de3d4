/** A client of the service as a soak needs it: submissions in every form, waiting, and the ends of jobs as one word. */
import { createHash } from 'node:crypto';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** {} where the answer is none. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface JobAnswer {
  readonly id: string;
  readonly state: string;
  readonly from_actual?: string;
  readonly to: string;
  readonly error_code?: string;
  readonly reason?: string;
  readonly error?: string;
  readonly output?: { readonly products?: readonly Product[] };
}

export interface Product {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly location: string;
}

export interface Submission {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly kind: string;
  readonly format: string;
  /** Further fields of `output`, and of the request. */
  readonly output?: Readonly<Record<string, unknown>>;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A job that has not ended by then never will. */
const LONGEST_WAIT_MS = 20 * 60_000;

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Client {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async call(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await this.open(path, init);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes, json: parsed(response, bytes) };
  }

  /** The answer with its body still to come. */
  open(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(this.#url + path, { ...init, headers: { authorization: `Bearer ${this.#key}`, ...init.headers } });
  }

  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.call(path, { method: 'POST', headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  }

  /** Submits as JSON, as a form, or as the bare file, which take the same requests. */
  submit(submission: Submission, way: 'json' | 'form' | 'bare' = 'json', init: RequestInit = {}): Promise<Answer> {
    const { name, bytes, kind, format } = submission;
    if (way === 'json') {
      return this.call('/v1/convert', { method: 'POST', body: JSON.stringify(bodyOf(submission)), ...init });
    }
    if (way === 'form') {
      const form = new FormData();
      form.set('kind', kind);
      form.set('to', format);
      form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name);
      return this.call('/v1/convert', { method: 'POST', body: form, ...init });
    }
    const query = new URLSearchParams({ kind, to: format, file_name: name });
    const body = bytes as Uint8Array<ArrayBuffer>;
    return this.call(`/v1/convert?${query}`, {
      method: 'POST',
      body,
      ...init,
      headers: { 'content-type': 'application/octet-stream', ...init.headers },
    });
  }

  /** The job when it has ended; undefined where it is not there, or does not end. */
  async ended(id: string): Promise<JobAnswer | undefined> {
    const untilMs = Date.now() + LONGEST_WAIT_MS;
    while (Date.now() < untilMs) {
      const answer = await this.call(`/v1/jobs/${id}?wait=30s`);
      if (answer.status === 404) return undefined;
      const job = answer.json as unknown as JobAnswer;
      if (answer.status === 200 && job.state !== 'queued' && job.state !== 'running') return job;
      if (answer.status !== 200) await pause(1000);
    }
    return undefined;
  }
}

function parsed(response: Response, bytes: Buffer): Record<string, unknown> {
  if (!response.headers.get('content-type')?.startsWith('application/json')) return {};
  try {
    return JSON.parse(bytes.toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** The body of POST /v1/convert, and an item of a batch. */
export function bodyOf({ name, bytes, kind, format, output, fields }: Submission): Record<string, unknown> {
  return {
    input: { file_name: name, bytes: Buffer.from(bytes).toString('base64') },
    output: { kind, format, ...output },
    ...fields,
  };
}

/** `succeeded`, `cancelled`, `code` or `code:reason`. */
export function outcomeOfJob(job: JobAnswer | undefined): string {
  if (job === undefined) return 'never_ended';
  if (job.state !== 'failed') return job.state;
  return job.reason === undefined ? `${job.error_code}` : `${job.error_code}:${job.reason}`;
}

/** The same of a refusal. */
export function outcomeOfAnswer({ status, json }: Answer): string {
  const { code, reason } = json;
  if (typeof code !== 'string') return `status ${status}`;
  return typeof reason === 'string' ? `${code}:${reason}` : code;
}
