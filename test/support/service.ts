/** A whole service on a port of its own, with a real store and a converter that does what a test tells it. */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig, type Service, startService } from '../../src/app.js';
import type {
  ConversionHooks,
  ConversionResult,
  ConversionTask,
  Converter,
  ProducedFile,
} from '../../src/convert/converter-types.js';
import { ServiceError } from '../../src/errors.js';
import { FORMATS, type Format } from '../../src/formats.js';
import { temporaryFolder } from './jobs.js';
import { KEY } from './key.js';

export { KEY };

/** Makes `pages` files (or one) whatever the input is; can be held and can fail. */
export class FakeConverter implements Converter {
  pages = 2;
  content = 'product';
  failure: ServiceError | undefined;
  warnings: ConversionResult['warnings'] = [];
  readonly tasks: ConversionTask[] = [];
  /** What its engine prints. */
  printed = '';
  /** Does not stop when it is told to. */
  isDeaf = false;
  /** The product is changed after its digest was made. */
  isTampering = false;
  /** Digests of the inputs, as many as `tasks`. */
  readonly inputs: string[] = [];
  #gate: Promise<void> = Promise.resolve();
  #open: () => void = () => undefined;

  /** Conversions started from now on wait for `release`. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  release(): void {
    this.#open();
  }

  async run(task: ConversionTask, { signal, onProgress, log }: ConversionHooks): Promise<ConversionResult> {
    this.tasks.push(task);
    this.inputs.push(await digestOf(task.inputPath));
    signal.throwIfAborted();
    onProgress?.(1, this.pages);
    log?.(Buffer.from(this.printed));
    const aborted = new Promise<never>((_resolve, reject) => {
      if (!this.isDeaf) signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    await Promise.race([this.#gate, aborted]);
    signal.throwIfAborted();
    if (this.failure) throw this.failure;
    return { fromActual: 'ofd', pages: this.pages, files: this.#files(task), warnings: this.warnings };
  }

  #files(task: ConversionTask): ProducedFile[] {
    const { paging } = FORMATS[task.to] as Format;
    const base = task.baseName ?? (paging === 'page' ? 'page' : 'output');
    const names =
      paging === 'page'
        ? Array.from({ length: this.pages }, (_, i) => `${base}-${String(i + 1).padStart(4, '0')}.${task.to}`)
        : [base.endsWith(`.${task.to}`) ? base : `${base}.${task.to}`];
    return names.map((name) => {
      const bytes = Buffer.from(names.length > 1 ? `${this.content} ${name}` : this.content);
      if (task.maxOutputBytes !== undefined && bytes.length > task.maxOutputBytes) {
        throw new ServiceError('output_too_large', `${name} is too large`, { reason: 'too_large' });
      }
      const path = join(task.outputDirectory, name);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      writeFileSync(path, this.isTampering ? bytes.fill('x') : bytes);
      return { name, path, sizeBytes: bytes.length, sha256 };
    });
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** A job as the interface shows it, as far as tests look. */
export interface JobAnswer {
  readonly id: string;
  readonly state: string;
  readonly lane: string;
  readonly from: string;
  readonly to: string;
  readonly attempt: number;
  readonly from_actual?: string;
  /** RFC 3339; absent until then. */
  readonly started_at?: string;
  readonly finished_at?: string;
  readonly input_bytes: number;
  readonly output: {
    readonly kind: string;
    readonly path: string;
    readonly size: number;
    readonly files: readonly string[];
  };
  readonly error?: string;
  readonly error_code?: string;
  readonly reason?: string;
  readonly progress?: unknown;
}

/** The JSON of an answer. */
export async function json<Answer = Record<string, unknown>>(response: Response | Promise<Response>): Promise<Answer> {
  return (await (await response).json()) as Answer;
}

export interface TestService {
  readonly service: Service;
  readonly converter: FakeConverter;
  readonly url: string;
  readonly folder: string;
  readonly outputDir: string;
  readonly tempDir: string;
  /** A request with the key. */
  call(path: string, init?: RequestInit): Promise<Response>;
  convert(body: unknown, init?: RequestInit): Promise<Response>;
  /** The job when it has ended. */
  ended(id: string): Promise<JobAnswer>;
  /** The job when it is in that state. */
  reached(id: string, state: string): Promise<JobAnswer>;
  /** Shuts down and starts again on the same folders. */
  restart(changes?: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}

/**
 * Writes a configuration file and starts from it.
 * @param changes keys of the file
 * @param engine `real` converts in worker threads; `converter` is idle then
 */
export async function startTestService(
  changes: Record<string, unknown> = {},
  engine: 'fake' | 'real' = 'fake',
): Promise<TestService> {
  const folder = temporaryFolder('service');
  const outputDir = join(folder.path, 'out');
  const tempDir = join(folder.path, 'tmp');
  const keys = {
    listen: '127.0.0.1:0',
    api_key: KEY,
    db_path: join(folder.path, 'data', 'jobs.db'),
    temp_dir: tempDir,
    output_dir: outputDir,
    log_dir: join(folder.path, 'log'),
    shutdown_grace: '1s',
    ...changes,
  };
  const converter = new FakeConverter();
  const used = engine === 'fake' ? converter : undefined;
  let service = await startWith(folder.path, keys, used);
  const url = (): string => `http://127.0.0.1:${service.port}`;
  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url() + path, { ...init, headers: { authorization: `Bearer ${KEY}`, ...init.headers } });
  const job = (id: string): Promise<JobAnswer> => json<JobAnswer>(call(`/v1/jobs/${id}`));
  return {
    get service() {
      return service;
    },
    get url() {
      return url();
    },
    converter,
    folder: folder.path,
    outputDir,
    tempDir,
    call,
    convert: (body, init) =>
      call('/v1/convert', {
        method: 'POST',
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
        ...init,
      } as RequestInit),
    ended: (id) =>
      until(
        () => job(id),
        ({ state }) => !['queued', 'running'].includes(state),
      ),
    reached: (id, wanted) =>
      until(
        () => job(id),
        ({ state }) => state === wanted,
      ),
    restart: async (newChanges = {}) => {
      await service.shutDown();
      converter.release();
      service = await startWith(folder.path, { ...keys, ...newChanges }, used);
    },
    close: async () => {
      converter.release();
      await service.shutDown();
      folder.remove();
    },
  };
}

async function startWith(folder: string, keys: object, converter: Converter | undefined): Promise<Service> {
  const configPath = join(folder, 'config.json');
  writeFileSync(configPath, JSON.stringify(keys), { mode: 0o600 });
  const { config, warnings } = loadConfig(configPath, {});
  return startService(config, { warnings, ...(converter && { converter }) });
}

/** What jobs and answers have in temp_dir; profiles of the programs that convert stay as long as those. */
export function workspacesIn(tempDir: string): string[] {
  const names = readdirSync(tempDir, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.includes('/') && !/\/profiles(?:\/|$)/.test(name));
}

/** Looks every 20 ms until what it sees is right; the test's own time limit ends it. */
export async function until<Thing>(look: () => Promise<Thing>, isRight: (thing: Thing) => boolean): Promise<Thing> {
  for (;;) {
    const thing = await look();
    if (isRight(thing)) return thing;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Base64 of something that looks like the start of an OFD package to the service's eye. */
export const OFD_BASE64 = Buffer.concat([
  Buffer.from('PK\x03\x04', 'latin1'),
  Buffer.alloc(22),
  Buffer.from([7, 0, 0, 0]),
  Buffer.from('OFD.xml<ofd/>'),
]).toString('base64');

/** A body of POST /v1/convert with the parts that a test is not about. */
export function submission(
  changes: { input?: Record<string, unknown>; output?: Record<string, unknown>; [key: string]: unknown } = {},
): Record<string, unknown> {
  const { input, output, ...rest } = changes;
  return {
    input: { kind: 'upload', file_name: 'a.ofd', bytes: OFD_BASE64, ...input },
    output: { kind: 'stream', format: 'pdf', ...output },
    ...rest,
  };
}
