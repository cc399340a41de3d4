/** The daemon killed in the middle of a delivery to an object store: the next run knows its own files there (S3, X3). */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { callDaemon, copyOfBuild, Daemon } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { KEY, until } from '../support/service.js';
import { startS3rver } from '../transfer/servers/s3.js';
import type { TestServer } from '../transfer/servers/server.js';

interface Job {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
  readonly error?: string;
  readonly output: { readonly products: readonly { name: string; sha256: string; reused: boolean }[] };
}

const PAGES = 24;

let server: TestServer;
let folder: ReturnType<typeof temporaryFolder>;
let program: string;
let configPath: string;
let daemon: Daemon | undefined;

beforeAll(async () => {
  server = await startS3rver();
});
afterAll(() => server.close());
beforeEach(async () => {
  await server.empty();
  folder = temporaryFolder('upload-chaos');
  program = copyOfBuild(join(folder.path, 'program'));
  configPath = join(folder.path, 'config.json');
  mkdirSync(join(folder.path, 'out'));
  const config = {
    listen: '127.0.0.1:0',
    api_key: KEY,
    db_path: join(folder.path, 'data/jobs.db'),
    temp_dir: join(folder.path, 'tmp'),
    output_dir: join(folder.path, 'out'),
    allow_insecure_s3: true,
    s3_targets: { store: server.target() },
  };
  writeFileSync(configPath, JSON.stringify(config), { mode: 0o600 });
});
afterEach(async () => {
  await daemon?.kill();
  folder.remove();
});

async function start(): Promise<string> {
  daemon = new Daemon(configPath, program);
  const url = await daemon.ready;
  if (!url) throw new Error(`The daemon did not start:\n${daemon.output}`);
  return url;
}

it.each([1, 12, PAGES])('%i files are there when it is killed', { timeout: 120_000 }, async (count) => {
  const pages = Array.from({ length: PAGES }, (_, index) => textXml(`Page ${index + 1}`));
  const bytes = Buffer.from(buildOfd({ pages })).toString('base64');
  const output = { kind: 's3', format: 'svg', remote: { target: 'store', path: 'a/b' } };
  const body = JSON.stringify({ input: { file_name: 'a.ofd', bytes }, output });
  let url = await start();
  const response = await callDaemon(url, '/v1/convert', { method: 'POST', body });
  expect(response.status).toBe(202);
  const { id } = (await response.json()) as Job;
  const get = async (): Promise<Job> => (await (await callDaemon(url, `/v1/jobs/${id}`)).json()) as Job;
  for (let there = 0; there < count; there = (await server.list()).length) {
    const { state, error } = await get();
    if (state === 'failed') throw new Error(error);
  }
  await daemon?.kill();
  const there = (await server.list()).length;

  url = await start();
  const job = await until(get, ({ state }) => state !== 'queued' && state !== 'running');
  expect(job).toMatchObject({ state: 'succeeded' });
  const { products } = job.output;
  expect(products).toHaveLength(PAGES);
  expect(await server.list()).toEqual(products.map(({ name }) => `in/box/a/b/${name}`).sort());
  for (const { name, sha256 } of products) {
    const stored = await server.read(`in/box/a/b/${name}`);
    expect(
      createHash('sha256')
        .update(stored as Buffer)
        .digest('hex'),
      name,
    ).toBe(sha256);
  }
  // The last of them may be half a file, which is sent again.
  const reused = products.filter((product) => product.reused).length;
  if (job.attempt === 2) expect([there - 1, there]).toContain(reused);
  console.log(`killed with ${there} of ${PAGES} files there: run ${job.attempt} sent ${PAGES - reused}`);
});
