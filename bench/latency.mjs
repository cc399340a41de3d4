// How quick /healthz stays while every worker converts a large file: 1,000 requests, their 99th percentile and the worst.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, untilReady } from './service.mjs';

const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const KEY = 'bench';
const WORKERS = 4;
const REQUESTS = 1000;

/** `document` is a package that takes some seconds to convert. */
export async function measureLatency(document, folder) {
  const port = await freePort();
  const config = join(folder, 'latency.json');
  mkdirSync(join(folder, 'out'), { recursive: true });
  writeFileSync(
    config,
    JSON.stringify({
      listen: `127.0.0.1:${port}`,
      api_key: KEY,
      db_path: join(folder, 'jobs.db'),
      temp_dir: join(folder, 'tmp'),
      output_dir: join(folder, 'out'),
      fast_workers: WORKERS,
      log_level: 'error',
    }),
  );
  const child = spawn(process.execPath, [PROGRAM, '-c', config], { stdio: ['ignore', 'inherit', 'inherit'] });
  const base = `http://127.0.0.1:${port}`;
  try {
    await untilReady(base);
    const body = JSON.stringify({
      input: { file_name: 'a.ofd', bytes: document.toString('base64') },
      output: { kind: 'dir', format: 'pdf' },
    });
    const submit = () =>
      fetch(`${base}/v1/convert`, { method: 'POST', headers: { authorization: `Bearer ${KEY}` }, body });
    // Twice as many as workers, so that none runs dry while the requests are made.
    const accepted = await Promise.all(Array.from({ length: 2 * WORKERS }, submit));
    if (accepted.some((answer) => answer.status !== 202))
      throw new Error(`submission answered ${accepted.map((a) => a.status)}`);
    const times = [];
    for (let request = 0; request < REQUESTS; request++) {
      const started = performance.now();
      await (await fetch(`${base}/healthz`)).text();
      times.push(performance.now() - started);
    }
    const metrics = await (await fetch(`${base}/v1/stats`, { headers: { authorization: `Bearer ${KEY}` } })).json();
    times.sort((a, b) => a - b);
    return {
      p50: times[REQUESTS / 2],
      p99: times[Math.floor(REQUESTS * 0.99)],
      worst: times.at(-1),
      runningAtEnd: metrics.queue.running,
    };
  } finally {
    child.kill('SIGKILL');
  }
}
