/** Clients that want products and wait for them, with good documents and bad ones, and lines and servers that fail. */
import { bodyOf, outcomeOfAnswer, pause, type Submission } from './client.js';
import { type Document, pickDocument } from './documents.js';
import { accepted, BUSY, ended, jobOf, NOTIFY_TARGET, type Scenario, streamOf } from './scene.js';

export const stream: Scenario = {
  name: 'stream',
  share: 20,
  weight: 'light',
  run: async (scene, name) => {
    const [document, format] = pickDocument(scene.library.light, scene.numbers, true);
    await streamOf(scene, name, document, format);
  },
};

export const dir: Scenario = {
  name: 'dir',
  share: 22,
  weight: 'light',
  run: async (scene, name) => {
    const [document, format] = pickDocument(scene.library.light, scene.numbers, false);
    await jobOf(scene, name, document, format);
  },
};

export const damaged: Scenario = {
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

export const office: Scenario = {
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

export const web: Scenario = {
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

/** The same submission again and again under its key, and another one under it. */
export const replayed: Scenario = {
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

export const batched: Scenario = {
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
export const remote: Scenario = {
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

export const fetched: Scenario = {
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
export const conflicting: Scenario = {
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
