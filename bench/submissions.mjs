// Durable submissions: how many a second over HTTP with the lanes held and with them running, how long each takes, how
// quick /healthz stays meanwhile; the disk's own flushes and the store's claims beside them.
import { spawn } from 'node:child_process';
import { closeSync, fdatasyncSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { SqliteStore } from '../dist/jobs/sqlite-store.js';
import { freePort, untilReady } from './service.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const KEY = 'bench';
const CONNECTIONS = 32;
const WARM_UP = 3000;
const SUBMISSIONS = 20_000;
const CLAIMS = 5000;
const FLUSHES = 300;

/** One kilobyte that is an OFD package to the service's eye: refused as soon as it is opened. */
const INPUT = Buffer.concat([
  Buffer.from('PK\x03\x04', 'latin1'),
  Buffer.alloc(22),
  Buffer.from([7, 0, 0, 0]),
  Buffer.from('OFD.xml'),
  Buffer.alloc(987, 1),
]);
const BODY = JSON.stringify({
  input: { file_name: 'a.ofd', bytes: INPUT.toString('base64') },
  output: { kind: 'dir', format: 'pdf' },
});
const REQUEST = `POST /v1/convert HTTP/1.1\r\nHost: a\r\nX-OFD-Api-Key: ${KEY}\r\nContent-Length: ${Buffer.byteLength(BODY)}\r\n\r\n${BODY}`;

const percentile = (times, share) => [...times].sort((a, b) => a - b)[Math.floor(times.length * share)];

/** Sends `count` over connections that stay open, each with one request at a time. Gives the milliseconds of each. */
async function submit(port, count) {
  const times = [];
  let sent = 0;
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      let started = 0;
      const next = () => {
        if (sent === count) {
          socket.end();
          resolve();
          return;
        }
        sent += 1;
        started = performance.now();
        socket.write(REQUEST);
      };
      socket.on('error', reject).on('connect', next);
      socket.on('data', (chunk) => {
        text += chunk;
        const end = text.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        if (end < 0 || text.length < end + 4 + length) return;
        if (!text.startsWith('HTTP/1.1 202')) reject(new Error(text));
        times.push(performance.now() - started);
        text = '';
        next();
      });
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  return times;
}

/** Asks /healthz from a thread of its own until `work` is done. Gives the milliseconds of each answer. */
async function probeDuring(base, work) {
  const prober = new Worker(new URL('health-probe.mjs', import.meta.url), { workerData: base });
  const result = await work();
  const answered = new Promise((resolve, reject) => prober.once('message', resolve).once('error', reject));
  prober.postMessage('over');
  return { result, times: await answered };
}

/** Transactions that the store has written, each a flush of the disk. */
async function transactions(base) {
  const answer = await fetch(`${base}/metrics`, { headers: { 'x-ofd-api-key': KEY } });
  return Number(/^ofd_store_transactions_total (\d+)$/m.exec(await answer.text())[1]);
}

async function measure(program, folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const paths = { db_path: join(folder, 'jobs.db'), temp_dir: join(folder, 'tmp'), output_dir: join(folder, 'out') };
  const keys = { listen: `127.0.0.1:${port}`, api_key: KEY, log_dir: join(folder, 'log'), ...paths };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(keys));
  const child = spawn(process.execPath, [...program, join(folder, 'config.json')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const base = `http://127.0.0.1:${port}`;
    await untilReady(base);
    await submit(port, WARM_UP);
    const flushesBefore = await transactions(base);
    const started = performance.now();
    const { result: times, times: probes } = await probeDuring(base, () => submit(port, SUBMISSIONS));
    const perSecond = SUBMISSIONS / ((performance.now() - started) / 1000);
    return {
      perSecond,
      perFlush: SUBMISSIONS / ((await transactions(base)) - flushesBefore),
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      healthP99: percentile(probes, 0.99),
    };
  } finally {
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
  }
}

/** What the disk can do: flushes of a small write a second. */
function flushesPerSecond(folder) {
  const file = openSync(join(folder, 'flushes'), 'w');
  const started = performance.now();
  for (let i = 0; i < FLUSHES; i++) {
    writeSync(file, Buffer.alloc(4096, i), 0, 4096, i * 4096);
    fdatasyncSync(file);
  }
  closeSync(file);
  return FLUSHES / ((performance.now() - started) / 1000);
}

async function claimsPerSecond(folder) {
  const store = await SqliteStore.open({ path: join(folder, 'claims', 'jobs.db') });
  const request = {
    input: { kind: 'upload' },
    output: { kind: 'dir', format: 'pdf', options: {} },
    highPriority: false,
  };
  const job = {
    lane: 'fast',
    from: 'ofd',
    to: 'pdf',
    highPriority: false,
    request,
    inputBytes: 1,
    createdAtMs: Date.now(),
  };
  await Promise.all(Array.from({ length: CLAIMS }, () => store.submit(job, { bytes: INPUT })));
  const started = performance.now();
  const worker = async () => {
    while (await store.claim('fast', Date.now()));
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  const perSecond = CLAIMS / ((performance.now() - started) / 1000);
  await store.close();
  return perSecond;
}

/** Prints a line for each figure. */
export async function measureSubmissions(folder) {
  const flushes = flushesPerSecond(folder);
  console.log(`flushes of the disk: ${flushes.toFixed(0)} a second`);
  for (const [lanes, program] of [
    ['held', [here('held-service.mjs')]],
    ['running', [here('../dist/main.js'), '-c']],
  ]) {
    const { perSecond, perFlush, p50, p99, healthP99 } = await measure(program, join(folder, 'submissions'));
    console.log(
      `submissions of 1 KB, lanes ${lanes}: ${perSecond.toFixed(0)} a second (${perFlush.toFixed(1)} a flush), p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; /healthz p99 ${healthP99.toFixed(1)} ms`,
    );
  }
  console.log(`claims by 4 workers: ${(await claimsPerSecond(folder)).toFixed(0)} a second`);
}
