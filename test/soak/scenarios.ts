/** What a client of a soak does at a time: one request or a few that belong together, with what may come of it. */
import { connect } from 'node:net';
import type { Numbers } from '../fuzz/numbers.js';
import {
  bodyOf,
  type Client,
  type JobAnswer,
  outcomeOfAnswer,
  outcomeOfJob,
  type Product,
  pause,
  type Submission,
  sha256Of,
} from './client.js';
import { type Document, type Library, pickDocument } from './documents.js';
import type { Ledger } from './ledger.js';
import type { Remote } from './remotes.js';
import type { Source } from './source.js';

export interface Scene {
  readonly client: Client;
  /** A client whose key may ask `LIMITED_A_MINUTE` times. */
  readonly limited: Client;
  readonly ledger: Ledger;
  readonly library: Library;
  readonly numbers: Numbers;
  readonly remotes: readonly Remote[];
  readonly source: Source;
  readonly url: string;
  readonly key: string;
  readonly hasOffice: boolean;
  readonly hasBrowser: boolean;
  /** Ids of notifications that must arrive once. */
  readonly told: Set<string>;
  /** What lies at a remote target: server and path to digest. */
  readonly delivered: Map<string, string>;
  /** Counts what makes names different. */
  next(): number;
}

export const LIMITED_A_MINUTE = 6;
export const NOTIFY_TARGET = 'soak';

/** A stream may find the house full: it is told so at once. */
const BUSY = 'server_busy';

/** How an engine or lane is named that few may use at a time. */
type Weight = 'light' | 'heavy';

export interface Scenario {
  readonly name: string;
  /** How often, beside the others. */
  readonly share: number;
  readonly weight: Weight;
  run(scene: Scene, name: string): Promise<void>;
}

async function streamOf(scene: Scene, name: string, document: Document, format: string): Promise<void> {
  const { client, ledger, numbers } = scene;
  const way = numbers.pick(['json', 'form', 'bare'] as const);
  const answer = await client.submit({ ...document, kind: 'stream', format }, way);
  const outcome = answer.status === 200 ? 'succeeded' : outcomeOfAnswer(answer);
  ledger.note(
    name,
    outcome,
    [...document.expected, BUSY],
    `${document.name} to ${format}: ${answer.bytes.subarray(0, 300)}`,
  );
  // A page without a letter is a text without one.
  const mayBeEmpty = format === 'txt' || format === 'md';
  if (answer.status === 200 && answer.bytes.length === 0 && !mayBeEmpty) ledger.note(name, 'empty', [], document.name);
}

/** Submits a job; its id, or undefined where it was refused, which is noted. */
async function accepted(
  scene: Scene,
  name: string,
  submission: Submission,
  expected: readonly string[],
): Promise<string | undefined> {
  const way = submission.output || submission.fields ? 'json' : scene.numbers.pick(['json', 'form', 'bare'] as const);
  const answer = await scene.client.submit(submission, way);
  if (answer.status !== 202) {
    scene.ledger.note(
      name,
      outcomeOfAnswer(answer),
      expected,
      `${submission.name} to ${submission.format}: ${answer.bytes}`,
    );
    return undefined;
  }
  const id = String(answer.json.id);
  scene.ledger.promised.set(id, { scenario: name, expected });
  return id;
}

async function ended(
  scene: Scene,
  name: string,
  id: string,
  expected: readonly string[],
  detail = '',
): Promise<JobAnswer | undefined> {
  const job = await scene.client.ended(id);
  const outcome = outcomeOfJob(job);
  scene.ledger.note(name, outcome, expected, `${id} ${detail} ${job?.error ?? ''}`);
  return job;
}

async function jobOf(scene: Scene, name: string, document: Document, format: string): Promise<void> {
  const { numbers, told } = scene;
  const isTold = numbers.once(3);
  const fields = isTold ? { notify: { target: NOTIFY_TARGET }, high_priority: numbers.once(4) } : undefined;
  const submission = { ...document, kind: 'dir', format, ...(fields && { fields }) };
  const id = await accepted(scene, name, submission, document.expected);
  if (id === undefined) return;
  const job = await ended(scene, name, id, document.expected, `${document.name} to ${format}`);
  if (isTold && job) told.add(`${id}:${job.state}`);
  if (job?.state === 'succeeded' && numbers.once(2)) await fetchProducts(scene, name, job);
}

async function fetchProducts({ client, ledger, numbers }: Scene, name: string, job: JobAnswer): Promise<void> {
  const products = job.output?.products ?? [];
  const product = numbers.pick(products) as Product;
  const query = products.length === 1 || numbers.once(3) ? '' : `?name=${encodeURIComponent(product.name)}`;
  const answer = await client.call(`/v1/jobs/${job.id}/content${query}`);
  const isWhole = query === '' && products.length > 1;
  const isRight = answer.status === 200 && (isWhole || sha256Of(answer.bytes) === product.sha256);
  ledger.note(`${name} content`, isRight ? 'right' : `wrong ${answer.status}`, ['right'], `${job.id} ${product.name}`);
}

/** Goes away `ms` after the request was sent; says whether the answer had come before. */
async function vanish(scene: Scene, submission: Submission, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), ms);
  try {
    await scene.client.submit(submission, 'json', { signal: stop.signal });
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

const stream: Scenario = {
  name: 'stream',
  share: 20,
  weight: 'light',
  run: async (scene, name) => {
    const [document, format] = pickDocument(scene.library.light, scene.numbers, true);
    await streamOf(scene, name, document, format);
  },
};

const dir: Scenario = {
  name: 'dir',
  share: 22,
  weight: 'light',
  run: async (scene, name) => {
    const [document, format] = pickDocument(scene.library.light, scene.numbers, false);
    await jobOf(scene, name, document, format);
  },
};

const damaged: Scenario = {
  name: 'damaged',
  share: 12,
  weight: 'light',
  run: async (scene, name) => {
    const { library, numbers } = scene;
    const documents = numbers.once(2) ? library.damaged : [library.fuzzed(scene.next())];
    const isStream = numbers.once(2);
    const [document, format] = pickDocument(documents, numbers, isStream);
    await (isStream ? streamOf : jobOf)(scene, name, document, format);
  },
};

const office: Scenario = {
  name: 'office',
  share: 3,
  weight: 'heavy',
  run: async (scene, name) => {
    const { numbers, library } = scene;
    const isStream = numbers.once(3);
    const [document, format] = pickDocument(library.office, numbers, isStream);
    await (isStream ? streamOf : jobOf)(scene, name, document, format);
  },
};

const web: Scenario = {
  name: 'web',
  share: 3,
  weight: 'heavy',
  run: async (scene, name) => {
    const { numbers, library } = scene;
    const isStream = numbers.once(3);
    const [document, format] = pickDocument(library.web, numbers, isStream);
    await (isStream ? streamOf : jobOf)(scene, name, document, format);
  },
};

/** A product that is read slowly and not to its end, or not waited for. */
const vanishing: Scenario = {
  name: 'vanishing client',
  share: 6,
  weight: 'light',
  run: async (scene, name) => {
    const { library, numbers, client, ledger } = scene;
    const [document, format] = pickDocument(library.light, numbers, true);
    if (numbers.once(2)) {
      const hasAnswer = await vanish(scene, { ...document, kind: 'stream', format }, numbers.below(600));
      ledger.note(name, hasAnswer ? 'answered' : 'gone', ['*']);
      return;
    }
    const response = await client.open('/v1/convert', {
      method: 'POST',
      body: JSON.stringify(bodyOf({ ...document, kind: 'stream', format })),
    });
    await response.body?.cancel();
    ledger.note(name, `status ${response.status}`, ['status 200', 'status 503', 'status 422']);
  },
};

/** Half of an upload, and then nothing more. */
const halfUpload: Scenario = {
  name: 'half upload',
  share: 3,
  weight: 'light',
  run: async ({ url, key, numbers, ledger }, name) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    const type = numbers.pick(['application/json', 'application/octet-stream', 'multipart/form-data; boundary=b']);
    const target = type === 'application/octet-stream' ? '/v1/convert?to=pdf&kind=dir' : '/v1/convert';
    const head = `POST ${target} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: ${type}\r\ncontent-length: 4000000\r\n\r\n`;
    const file = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.ofd"\r\n\r\n';
    const start = type.startsWith('multipart') ? file : type === 'application/json' ? '{"input":{"bytes":"' : '';
    socket.write(head + start + 'A'.repeat(400_000));
    await pause(numbers.below(2000));
    socket.destroy();
    ledger.note(name, 'gone', ['gone']);
  },
};

/** Long polls and event streams that are left open and dropped. */
const followed: Scenario = {
  name: 'followed and dropped',
  share: 4,
  weight: 'light',
  run: async (scene, name) => {
    const { library, numbers, client } = scene;
    const [document, format] = pickDocument(library.light, numbers, false);
    const id = await accepted(scene, name, { ...document, kind: 'dir', format }, document.expected);
    if (id === undefined) return;
    const stop = new AbortController();
    const followers = Array.from({ length: 1 + numbers.below(4) }, (_unused, index) =>
      client
        .call(`/v1/jobs/${id}${index % 2 === 0 ? '/events' : '?wait=60s'}`, { signal: stop.signal })
        .catch(() => undefined),
    );
    if (numbers.once(2)) await pause(numbers.below(500));
    else await Promise.race(followers);
    stop.abort();
    await Promise.all(followers);
    await ended(scene, name, id, document.expected, document.name);
  },
};

/** A long conversion that is cancelled while it is queued or runs. */
const cancelled: Scenario = {
  name: 'cancelled',
  share: 4,
  weight: 'light',
  run: async (scene, name) => {
    const { library, numbers, client, ledger } = scene;
    const document = library.long;
    const id = await accepted(scene, name, { ...document, kind: 'dir', format: numbers.pick(document.to) }, []);
    if (id === undefined) return;
    await pause(numbers.below(2500));
    const answer = await client.post(`/v1/jobs/${id}/cancel?force=true`);
    const outcome = answer.status === 200 ? 'cancelled' : outcomeOfAnswer(answer);
    // On an idle machine it may have succeeded before.
    ledger.note(`${name} answer`, outcome, ['cancelled', 'not_cancellable'], String(answer.bytes));
    await ended(scene, name, id, answer.status === 200 ? ['cancelled'] : ['succeeded'], document.name);
  },
};

/** A stream that another client stops by force. */
const stoppedStream: Scenario = {
  name: 'stopped stream',
  share: 1,
  weight: 'light',
  run: async (scene, name) => {
    const { library, numbers, client, ledger } = scene;
    const running = client.submit({ ...library.long, kind: 'stream', format: 'json' });
    running.catch(() => undefined);
    await pause(numbers.below(400));
    const list = await client.call('/v1/jobs?state=running&to=json&limit=5');
    const jobs = (list.json.jobs ?? []) as readonly { id: string; input_bytes?: number }[];
    // Its own: no other document is as long to the byte.
    const own = jobs.filter(({ input_bytes }) => input_bytes === library.long.bytes.length);
    for (const { id } of own) await client.post(`/v1/jobs/${id}/cancel?force=true`);
    ledger.note(name, (await running.then(outcomeOfStream)) ?? '', ['succeeded', 'cancelled', BUSY]);
  },
};

function outcomeOfStream(answer: Awaited<ReturnType<Client['submit']>>): string {
  return answer.status === 200 ? 'succeeded' : outcomeOfAnswer(answer);
}

/** The same submission again and again under its key, and another one under it. */
const replayed: Scenario = {
  name: 'replayed',
  share: 3,
  weight: 'light',
  run: async (scene, name) => {
    const { library, numbers, client, ledger } = scene;
    const [document, format] = pickDocument(library.light, numbers, false);
    const fields = { idempotency_key: `key-${scene.next()}` };
    const submission = { ...document, kind: 'dir', format, fields };
    const answers = await Promise.all([1, 2, 3].map(() => client.submit(submission)));
    const ids = new Set(answers.map(({ json }) => String(json.id)));
    const isOne = ids.size === 1 && answers.every(({ status }) => status === 202);
    ledger.note(`${name} ids`, isOne ? 'one' : `${ids.size}`, ['one'], answers.map(({ bytes }) => bytes).join(' '));
    const other = await client.submit({ ...submission, output: { file_name: 'another' } });
    ledger.note(`${name} otherwise`, outcomeOfAnswer(other), ['conflict'], String(other.bytes));
    for (const id of ids) {
      ledger.promised.set(id, { scenario: name, expected: document.expected });
      await ended(scene, name, id, document.expected, document.name);
    }
  },
};

const batched: Scenario = {
  name: 'batch',
  share: 1.5,
  weight: 'light',
  run: async (scene, name) => {
    const { library, numbers, client, ledger, told } = scene;
    const items = Array.from({ length: 3 + numbers.below(8) }, () => {
      const [document, format] = pickDocument(numbers.once(6) ? library.damaged : library.light, numbers, false);
      return bodyOf({ ...document, kind: 'dir', format });
    });
    const answer = await client.post('/v1/batches', {
      items,
      notify: { target: NOTIFY_TARGET, events: ['batch_completed'] },
    });
    if (!ledger.note(`${name} answer`, String(answer.status), ['202'], String(answer.bytes))) return;
    const id = String(answer.json.id);
    told.add(`${id}:batch_completed`);
    const isStopped = numbers.once(3);
    if (isStopped) {
      const stop = await client.post(`/v1/batches/${id}/cancel?force=true`);
      ledger.note(`${name} cancel`, String(stop.status), ['200', '409'], String(stop.bytes));
    }
    for (;;) {
      const { json, status } = await client.call(`/v1/batches/${id}`);
      const { state, total, done, succeeded, failed, cancelled: stopped } = json as Record<string, number | string>;
      if (state === 'completed' || status !== 200) {
        const isRight =
          total === items.length && done === total && Number(succeeded) + Number(failed) + Number(stopped) === total;
        ledger.note(name, isRight ? 'complete' : 'wrong', ['complete'], JSON.stringify(json));
        const codes = ((json.items ?? []) as readonly { error_code?: string; reason?: string }[]).filter(
          (item) => item.error_code,
        );
        for (const { error_code, reason } of codes) {
          ledger.note(
            `${name} item`,
            `${error_code}${reason ? `:${reason}` : ''}`,
            ['conversion_failed', 'invalid_request', ...(isStopped ? ['cancelled'] : [])],
            id,
          );
        }
        return;
      }
      await pause(1000);
    }
  },
};

/** A product to a server behind a bad line: late perhaps, but whole and once. */
const remote: Scenario = {
  name: 'remote',
  share: 8,
  weight: 'light',
  run: async (scene, name) => {
    const { library, numbers, remotes, delivered, told } = scene;
    if (remotes.length === 0) return;
    const { server } = numbers.pick(remotes);
    const [document, format] = pickDocument(library.light.slice(0, 5), numbers, false);
    const path = `soak/${scene.next()}`;
    const submission = {
      ...document,
      kind: server.kind,
      format,
      output: { remote: { target: 'box', path }, file_name: `p${scene.next()}` },
      fields: { notify: { target: NOTIFY_TARGET } },
    };
    const id = await accepted(scene, `${name} ${server.kind}`, submission, ['succeeded']);
    if (id === undefined) return;
    const job = await ended(scene, `${name} ${server.kind}`, id, ['succeeded'], document.name);
    if (job) told.add(`${id}:${job.state}`);
    for (const product of job?.output?.products ?? []) {
      delivered.set(`${server.kind} in/box/${path}/${product.name}`, product.sha256);
    }
  },
};

const fetched: Scenario = {
  name: 'fetched',
  share: 3,
  weight: 'heavy',
  run: async (scene, name) => {
    const { numbers, source, client, ledger } = scene;
    const [path, expected] = numbers.pick([
      ['/invoice.ofd', ['succeeded']],
      ['/invoice.ofd', ['succeeded']],
      ['/missing.ofd', ['source_refused']],
      ['/cut.ofd', ['source_unreachable']],
    ] as const);
    const input = { kind: 'url', url: source.origin + path };
    const isStream = numbers.once(2);
    const kind = isStream ? 'stream' : 'dir';
    const answer = await client.post('/v1/convert', { input, output: { kind, format: 'pdf' } });
    const label = `${name} ${path}`;
    if (answer.status !== 202) {
      ledger.note(
        label,
        answer.status === 200 ? 'succeeded' : outcomeOfAnswer(answer),
        [...expected, BUSY],
        String(answer.bytes.subarray(0, 300)),
      );
      return;
    }
    const id = String(answer.json.id);
    ledger.promised.set(id, { scenario: label, expected });
    await ended(scene, label, id, expected);
  },
};

/** A download that takes longer than a run may. */
export const overtime: Scenario = {
  name: 'overtime',
  share: 0,
  weight: 'heavy',
  run: async ({ source, client, ledger }, name) => {
    const input = { kind: 'url', url: `${source.origin}/drip.ofd` };
    const answer = await client.post('/v1/convert', { input, output: { kind: 'stream', format: 'pdf' } });
    ledger.note(name, outcomeOfAnswer(answer), ['conversion_timeout', BUSY], String(answer.bytes.subarray(0, 300)));
  },
};

/** A name that is taken by other content: a dead letter, which succeeds when it is retried under better stars. */
const conflicting: Scenario = {
  name: 'conflicting',
  share: 1.5,
  weight: 'light',
  run: async (scene, name) => {
    const { library, client, ledger } = scene;
    const [one, , two] = library.light as [Document, Document, Document];
    const output = { dir: `shared/${scene.next()}`, file_name: 'same' };
    const make = (document: Document): Submission => ({ ...document, kind: 'dir', format: 'txt', output });
    const first = await accepted(scene, name, make(one), ['succeeded']);
    if (first === undefined) return;
    await ended(scene, name, first, ['succeeded']);
    const id = await accepted(scene, name, make(two), ['conflict']);
    if (id === undefined) return;
    const job = await ended(scene, `${name} second`, id, ['conflict']);
    if (job?.state !== 'failed') return;
    const list = await client.call('/v1/dead-letters?limit=200');
    const isListed = (list.json.jobs as readonly { id: string }[] | undefined)?.some((row) => row.id === id);
    ledger.note(`${name} listed`, String(isListed), ['true'], id);
    const retry = await client.post(`/v1/jobs/${id}/retry`);
    if (!ledger.note(`${name} retry`, String(retry.status), ['202'], String(retry.bytes))) return;
    ledger.earlierEnds.push({ id, state: 'failed', from: job.from_actual ?? 'unknown', to: 'txt' });
    await ended(scene, `${name} again`, id, ['conflict']);
  },
};

const burst: Scenario = {
  name: 'burst',
  share: 0.4,
  weight: 'light',
  run: async (scene, name) => {
    const documents = Array.from({ length: 16 }, () => pickDocument(scene.library.light, scene.numbers, true));
    await Promise.all(documents.map(([document, format]) => streamOf(scene, name, document, format)));
  },
};

const limited: Scenario = {
  name: 'limited key',
  share: 0.5,
  weight: 'light',
  run: async ({ limited: client, ledger }, name) => {
    const answers = await Promise.all(Array.from({ length: LIMITED_A_MINUTE + 4 }, () => client.call('/v1/stats')));
    for (const answer of answers) {
      ledger.note(name, answer.status === 200 ? 'taken' : outcomeOfAnswer(answer), ['taken', 'rate_limited']);
    }
    const isHeld = answers.some(({ status }) => status === 429);
    ledger.note(`${name} holds`, String(isHeld), ['true']);
    const refused = await client.post('/v1/jobs/dn8hg5774kvl/retry');
    ledger.note(`${name} scope`, outcomeOfAnswer(refused), ['forbidden', 'rate_limited']);
  },
};

const wrong: Scenario = {
  name: 'wrong requests',
  share: 4,
  weight: 'light',
  run: async ({ client, ledger, numbers, url }, name) => {
    const [outcome, run] = numbers.pick<readonly [string, () => Promise<Awaited<ReturnType<Client['call']>>>]>([
      ['invalid_request', () => client.call('/v1/convert', { method: 'POST', body: '{"input":' })],
      ['invalid_request', () => client.post('/v1/convert', { input: { bytes: '!' }, output: { format: 'pdf' } })],
      ['invalid_request', () => client.post('/v1/convert', { input: {}, output: { format: 'exe' } })],
      ['job_not_found', () => client.call('/v1/jobs/dn8hg5774kvl')],
      ['not_found', () => client.call('/v1/nothing')],
      ['method_not_allowed', () => client.call('/v1/convert', { method: 'DELETE' })],
      [
        'url_not_allowed',
        () =>
          client.post('/v1/convert', {
            input: { kind: 'url', url: 'http://10.0.0.1/a.ofd' },
            output: { kind: 'dir', format: 'pdf' },
          }),
      ],
      [
        'unauthorized',
        async () => {
          const response = await fetch(`${url}/v1/jobs`);
          const json = (await response.json()) as Record<string, unknown>;
          return { status: response.status, headers: response.headers, bytes: Buffer.alloc(0), json };
        },
      ],
    ]);
    const answer = await run();
    ledger.note(name, outcomeOfAnswer(answer), [outcome], String(answer.bytes.subarray(0, 200)));
  },
};

const looking: Scenario = {
  name: 'looking',
  share: 4,
  weight: 'light',
  run: async ({ client, ledger, numbers }, name) => {
    const path = numbers.pick([
      '/',
      '/openapi.json',
      '/readyz',
      '/v1/stats',
      '/metrics',
      '/v1/jobs?state=failed&limit=20',
      '/v1/notifications?limit=50',
      '/v1/dead-letters',
    ]);
    const { status } = await client.call(path);
    ledger.note(name, `status ${status}`, ['status 200'], path);
  },
};

export const SCENARIOS: readonly Scenario[] = [
  stream,
  dir,
  damaged,
  office,
  web,
  vanishing,
  halfUpload,
  followed,
  cancelled,
  stoppedStream,
  replayed,
  batched,
  remote,
  fetched,
  conflicting,
  burst,
  limited,
  wrong,
  looking,
];
