/** A batch while the daemon is killed: taken whole or not at all, gone on with, each item once, told under one id (X5). */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callDaemon, copyOfBuild, Daemon } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { KEY } from '../support/service.js';
import { Webhook } from '../support/webhook.js';

interface Batch {
  readonly id: string;
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly items: readonly { readonly job_id?: string; readonly state: string }[];
}

const ITEMS = 40;

let folder: ReturnType<typeof temporaryFolder>;
let webhook: Webhook;
let program: string;
let configPath: string;
let daemon: Daemon | undefined;

beforeEach(async () => {
  folder = temporaryFolder('batch-chaos');
  webhook = new Webhook();
  await webhook.start();
  program = copyOfBuild(join(folder.path, 'program'));
  configPath = join(folder.path, 'config.json');
  mkdirSync(join(folder.path, 'out'));
  const config = {
    listen: '127.0.0.1:0',
    api_key: KEY,
    db_path: join(folder.path, 'data/jobs.db'),
    temp_dir: join(folder.path, 'tmp'),
    output_dir: join(folder.path, 'out'),
    fast_workers: 2,
    max_job_crashes: 0,
    notify_retry_backoff: '20ms',
    notify_targets: { erp: { url: webhook.url } },
  };
  writeFileSync(configPath, JSON.stringify(config), { mode: 0o600 });
});
afterEach(async () => {
  await daemon?.kill();
  await webhook.stop();
  folder.remove();
});

async function start(): Promise<string> {
  daemon = new Daemon(configPath, program);
  const url = await daemon.ready;
  if (!url) throw new Error(`The daemon did not start:\n${daemon.output}`);
  return url;
}

/** Some items small enough for the database, some that become files, and one that is wrong. */
function body(): string {
  const item = (index: number): object => {
    const files = index % 4 === 0 ? { 'Doc_0/Attach.bin': randomBytes(90_000) } : {};
    const bytes = Buffer.from(buildOfd({ pages: [textXml(`Item ${index}`)], files })).toString('base64');
    return {
      input: { file_name: 'a.ofd', bytes },
      output: { kind: 'dir', format: index === 5 ? 'nonsense' : 'pdf', file_name: `item-${index}` },
    };
  };
  return JSON.stringify({
    items: Array.from({ length: ITEMS }, (_, index) => item(index)),
    notify: { target: 'erp', events: ['batch_completed'] },
  });
}

const submit = (url: string, sent: string): Promise<Response> =>
  callDaemon(url, '/v1/batches', { method: 'POST', body: sent, headers: { 'idempotency-key': 'chaos' } });
const get = async (url: string, id: string): Promise<Batch> =>
  (await (await callDaemon(url, `/v1/batches/${id}`)).json()) as Batch;

async function until(url: string, id: string, isRight: (batch: Batch) => boolean): Promise<Batch> {
  for (;;) {
    const batch = await get(url, id);
    if (isRight(batch)) return batch;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const inputFiles = (): string[] => {
  const path = join(folder.path, 'data/inputs');
  return existsSync(path) ? readdirSync(path) : [];
};

const jobIds = async (url: string): Promise<string[]> => {
  const { jobs } = (await (await callDaemon(url, '/v1/jobs?limit=200')).json()) as { jobs: { id: string }[] };
  return jobs.map(({ id }) => id);
};

it('goes on where it stood, whenever it is killed', { timeout: 120_000 }, async () => {
  let url = await start();
  const { id } = (await (await submit(url, body())).json()) as Batch;
  for (const done of [3, 20]) {
    await until(url, id, (batch) => batch.done >= done);
    await daemon?.kill();
    url = await start();
    const batch = await get(url, id);
    expect(batch).toMatchObject({ total: ITEMS, items: expect.objectContaining({ length: ITEMS }) });
    expect(batch.done).toBeGreaterThanOrEqual(done);
  }
  const batch = await until(url, id, ({ state }) => state === 'completed');
  expect(batch).toMatchObject({ done: ITEMS, succeeded: ITEMS - 1, failed: 1 });
  expect(batch.items[5]).toMatchObject({ state: 'failed', error_code: 'invalid_request' });
  const products = readdirSync(join(folder.path, 'out'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.pdf'))
    .map((name) => name.slice(name.lastIndexOf('/') + 1));
  const expected = Array.from({ length: ITEMS }, (_, index) => `item-${index}.pdf`).filter((_, index) => index !== 5);
  expect(products.sort()).toEqual(expected.sort());
  for (const [index, { job_id: jobId = '' }] of batch.items.entries()) {
    if (index === 5) continue;
    const job = (await (await callDaemon(url, `/v1/jobs/${jobId}`)).json()) as { output: { files: string[] } };
    expect(job.output.files).toEqual([`item-${index}.pdf`]);
  }
  while (webhook.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect([...webhook.counts().keys()]).toEqual([`${id}:batch_completed`]);
  expect(new Set(webhook.calls.map((call) => call.body)).size).toBe(1);
  const metrics = await (await callDaemon(url, '/metrics')).text();
  expect(metrics).toContain(`ofd_conversions_total{from="ofd",to="pdf",state="succeeded"} ${ITEMS - 1}\n`);
});

it('is there whole or not at all where it is killed while it is taken', { timeout: 120_000 }, async () => {
  const sent = body();
  let isTaken = false;
  // Ten of its inputs become files, and then all is written in one transaction.
  for (const [files, delayMs] of [
    [1, 0],
    [6, 0],
    [10, 0],
    [10, 60],
  ] as const) {
    const url = await start();
    const before = await jobIds(url);
    expect([0, ITEMS - 1]).toContain(before.length);
    isTaken = before.length > 0;
    if (isTaken) break;
    const answer = submit(url, sent).catch(() => undefined);
    while (inputFiles().length < files) await new Promise((resolve) => setTimeout(resolve, 1));
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await daemon?.kill();
    await answer;
  }
  await daemon?.kill();
  const url = await start();
  const again = await submit(url, sent);
  const isReplay = again.headers.get('idempotent-replay') === 'true';
  if (isTaken) expect(isReplay).toBe(true);
  const { id } = (await again.json()) as Batch;
  const batch = await until(url, id, ({ state }) => state === 'completed');
  expect(batch).toMatchObject({ total: ITEMS, succeeded: ITEMS - 1, failed: 1 });
  expect((await jobIds(url)).sort()).toEqual(batch.items.flatMap((item) => item.job_id ?? []).sort());
  expect(inputFiles()).toEqual([]);
  console.log(`the batch was ${isReplay ? '' : 'not '}taken when its answer was lost`);
});
