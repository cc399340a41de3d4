// Probes and numbers (contract A10, A11), and that a large upload stops nobody.
import { execFile } from 'node:child_process';
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ServiceError } from '../../src/errors.js';
import { METRICS } from '../../src/metrics/metrics.js';
import { RUN_METRICS } from '../../src/metrics/run-metrics.js';
import {
  type JobAnswer,
  json,
  KEY,
  startTestService,
  submission,
  type TestService,
  until,
} from '../support/service.js';

let service: TestService;

beforeEach(async () => {
  service = await startTestService({ fast_workers: 3, heavy_workers: 2, notify_workers: 5 });
});
afterEach(() => service.close());

interface Stats {
  readonly since?: string;
  readonly note: string;
  readonly totals: Record<string, number>;
  readonly queue: { readonly queued: number; readonly running: number; readonly workers: object };
  readonly formats: readonly (Record<string, number> & { readonly from: string; readonly to: string })[];
}

const stats = (): Promise<Stats> => json<Stats>(service.call('/v1/stats'));

/** Values by name and labels, as they stand in the text. */
async function metrics(): Promise<Map<string, number>> {
  const response = await service.call('/metrics');
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

it('a fresh service has empty lists, and no since', async () => {
  expect(await stats()).toEqual({
    started_at: expect.stringMatching(/Z$/),
    uptime_seconds: expect.any(Number),
    note: expect.stringMatching(/retention/),
    totals: { conversions: 0, succeeded: 0, failed: 0, input_bytes: 0, output_bytes: 0 },
    queue: {
      queued: 0,
      running: 0,
      waiting: { retry: 0, sink_unreachable: 0 },
      workers: { fast: 3, heavy: 2, notify: 5 },
    },
    formats: [],
  });
  const found = await metrics();
  expect(found.get('ofd_queue_depth{state="queued"}')).toBe(0);
  expect(found.get('ofd_workers{lane="heavy"}')).toBe(2);
  expect([...found.keys()].some((name) => name.startsWith('ofd_conversions_total'))).toBe(false);
  for (const name of ['process_resident_memory_bytes', 'process_start_time_seconds', 'nodejs_eventloop_lag_seconds']) {
    expect(found.has(name)).toBe(true);
  }
});

it('both renderings agree after streams, jobs, failures and cancellations', async () => {
  await service.convert(submission());
  for (const format of ['pdf', 'png']) {
    const { id } = await json<JobAnswer>(service.convert(submission({ output: { kind: 'dir', format } })));
    await service.ended(id);
  }
  service.converter.failure = new ServiceError('conversion_failed', 'no', { reason: 'not_ofd' });
  await service.convert(submission());
  const [seen, found] = [await stats(), await metrics()];
  expect(seen.totals).toEqual({ conversions: 4, succeeded: 3, failed: 1, input_bytes: 4 * 43, output_bytes: 14 + 42 });
  expect(seen.formats.map(({ from, to }) => `${from}>${to}`)).toEqual(['ofd>pdf', 'ofd>png', 'unknown>pdf']);
  expect(seen.formats[2]).toMatchObject({ label_unknown: true, failed: 1, succeeded: 0 });
  for (const { from, to, succeeded, failed, output_bytes } of seen.formats) {
    const labels = `from="${from}",to="${to}"`;
    expect(found.get(`ofd_conversions_total{${labels},state="succeeded"}`) ?? 0).toBe(succeeded);
    expect(found.get(`ofd_conversions_total{${labels},state="failed"}`) ?? 0).toBe(failed);
    expect(found.get(`ofd_output_bytes_total{${labels}}`) ?? 0).toBe(output_bytes);
  }
  const inputs = [...found].filter(([name]) => name.startsWith('ofd_input_bytes_total'));
  expect(inputs.reduce((sum, [, value]) => sum + value, 0)).toBe(seen.totals.input_bytes);
  expect(seen.since).toBeDefined();
});

it('depth counts asynchronous jobs alone', async () => {
  service.converter.hold();
  const stream = service.convert(submission());
  for (let i = 0; i < 5; i++) await service.convert(submission({ output: { kind: 'dir' } }));
  await until(
    async () => (await stats()).queue,
    ({ running }) => running === 3,
  );
  const found = await metrics();
  expect(found.get('ofd_queue_depth{state="running"}')).toBe(3);
  expect(found.get('ofd_queue_depth{state="queued"}')).toBe(2);
  service.converter.release();
  await stream;
});

it('every metric of the table has a name of the service and labels from its list', async () => {
  await service.convert(submission());
  const found = [...(await metrics()).keys()].filter((name) => name.startsWith('ofd_'));
  for (const sample of found) {
    const name = sample.replace(/\{.*/, '').replace(/_(?:bucket|sum|count)$/, '');
    const metric = [...METRICS, ...Object.values(RUN_METRICS)].find((row) => row.name === name);
    const labels = [...sample.matchAll(/(\w+)="/g)].map((match) => match[1]).filter((label) => label !== 'le');
    expect(labels, sample).toEqual(metric?.labels);
  }
});

it('counters survive a restart, uptime does not', async () => {
  await service.convert(submission());
  const before = await stats();
  await service.restart();
  expect((await stats()).totals).toEqual(before.totals);
  expect((await stats()).since).toBe(before.since);
});

it('readyz is 503 with the reason while a folder takes no file, and ready again afterwards', async () => {
  const ready = async (): Promise<[number, { reasons?: string[]; code?: string }]> => {
    const response = await fetch(`${service.url}/readyz`);
    return [response.status, await json(response)];
  };
  expect(await ready()).toEqual([200, { status: 'ready', disabled: expect.any(Array), cold: [], hindrances: [] }]);
  renameSync(service.outputDir, `${service.outputDir}-away`);
  const [, answer] = await until(ready, ([status]) => status === 503);
  expect(answer).toMatchObject({ code: 'not_ready', reasons: [expect.stringMatching(/^output_dir: .*ENOENT/)] });
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  renameSync(`${service.outputDir}-away`, service.outputDir);
  await until(ready, ([status]) => status === 200);
  chmodSync(service.outputDir, 0o700);
  rmSync(service.tempDir, { recursive: true });
  await until(ready, ([status]) => status === 503);
});

/** Posts a file from a process of its own, whose work is not the service's. */
const POST_FILE = `
  const { createReadStream, statSync } = require('node:fs');
  const [url, key, path] = process.argv.slice(1);
  const headers = { 'x-ofd-api-key': key, 'content-length': statSync(path).size };
  const request = require('node:http').request(url, { method: 'POST', headers }, (response) => {
    console.log(response.statusCode);
    response.resume();
  });
  createReadStream(path).pipe(request);
`;

it('a body of 60 MiB holds up nobody', async () => {
  const bytes = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), Buffer.alloc(45 * 1024 * 1024, 7)]);
  const path = join(service.folder, 'body.json');
  writeFileSync(path, JSON.stringify(submission({ input: { bytes: bytes.toString('base64') } })));
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const url = `${service.url}/v1/convert`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', POST_FILE, url, KEY, path]);
  delay.disable();
  expect(stdout.trim()).toBe('200');
  expect(delay.max / 1e6).toBeLessThan(250);
});
