/** Clients that vanish, change their mind, ask too much, or ask for what there is not. */
import { connect } from 'node:net';
import { bodyOf, type Client, outcomeOfAnswer, pause, type Submission } from './client.js';
import { pickDocument } from './documents.js';
import { accepted, BUSY, ended, LIMITED_A_MINUTE, type Scenario, type Scene, streamOf } from './scene.js';

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

/** A product that is read slowly and not to its end, or not waited for. */
export const vanishing: Scenario = {
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
export const halfUpload: Scenario = {
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
export const followed: Scenario = {
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
export const cancelled: Scenario = {
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
export const stoppedStream: Scenario = {
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

export const burst: Scenario = {
  name: 'burst',
  share: 0.4,
  weight: 'light',
  run: async (scene, name) => {
    const documents = Array.from({ length: 16 }, () => pickDocument(scene.library.light, scene.numbers, true));
    await Promise.all(documents.map(([document, format]) => streamOf(scene, name, document, format)));
  },
};

export const limited: Scenario = {
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

export const wrong: Scenario = {
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

export const looking: Scenario = {
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
