// run.mjs CORPUS [--peer PROGRAM] [--only speed|long|latency|submissions|office]: cold and warm time, peak memory and size of
// PDF conversions; a long text document; the service's latency under load; its submissions. With a peer (PROGRAM IN OUT,
// PROGRAM --warm N IN OUT) every figure is a ratio to it, both measured in the same run, turn by turn.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { measureLatency } from './latency.mjs';
import { longDocument } from './long-document.mjs';
import { measureOffice } from './office.mjs';
import { measureSubmissions } from './submissions.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PROGRAM = here('../dist/main.js');
const COLD_RUNS = 7;
const WARM_RUNS = 15;
const WARM_COUNTED = 10;
const CORPUS_FILES = [
  'ofdrw-helloworld',
  'invoice-sample-detail-list',
  'invoice-sample-five-pages',
  'hnca-rsa-seal-v1',
  'suwell-manual-annots',
  'conf-zip-all-deflated',
  'licence-two-orientations',
  'gen-riding-seal',
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { peer: { type: 'string' }, only: { type: 'string' } },
});
const corpus = positionals[0];
const folder = mkdtempSync(join(tmpdir(), 'ofd-server-bench-'));

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const geometricMean = (list) => Math.exp(list.reduce((sum, value) => sum + Math.log(value), 0) / list.length);

/** One process from start to end: seconds, peak MiB, bytes written. */
function coldRun(command, args, output) {
  const rss = join(folder, 'rss');
  const started = performance.now();
  const run = spawnSync('/usr/bin/time', ['-f', '%M', '-o', rss, command, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const seconds = (performance.now() - started) / 1000;
  if (run.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${run.stderr}`);
  return { seconds, memoryMb: Number(readFileSync(rss, 'utf8').trim()) / 1024, bytes: statSync(output).size };
}

const ours = {
  cold: (input, output) => coldRun(process.execPath, [PROGRAM, 'convert', input, '--to', 'pdf', '-o', output], output),
  warm: (input) => warmTimes(process.execPath, [here('warm.mjs'), String(WARM_RUNS), input, folder]),
};
const peer = values.peer && {
  cold: (input, output) => coldRun(values.peer, [input, output], output),
  warm: (input, output) => warmTimes(values.peer, ['--warm', String(WARM_RUNS), input, output]),
};

function warmTimes(command, args) {
  const lines = execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .trim()
    .split('\n');
  return median(lines.slice(-WARM_COUNTED).map(Number)) / 1000;
}

function measureFile(input) {
  const output = join(folder, 'ours.pdf');
  const peerOutput = join(folder, 'peer.pdf');
  const mine = [];
  const theirs = [];
  for (let run = 0; run < COLD_RUNS; run++) {
    mine.push(ours.cold(input, output));
    if (peer) theirs.push(peer.cold(input, peerOutput));
  }
  const summary = (runs, warm) => ({
    cold: median(runs.map(({ seconds }) => seconds)),
    warm,
    memory: median(runs.map(({ memoryMb }) => memoryMb)),
    bytes: runs[0].bytes,
  });
  return { ours: summary(mine, ours.warm(input, output)), peer: peer && summary(theirs, peer.warm(input, peerOutput)) };
}

function speed() {
  const files = [
    ...CORPUS_FILES.map((name) => join(corpus, 'ofd', `${name}.ofd`)),
    here('../test/cases/B193/input.ofd'),
  ];
  const ratios = { cold: [], warm: [], bytes: [], memory: [] };
  console.log(
    'file                             cold s   warm ms  memory MiB      bytes' +
      (peer ? '   ratios cold warm memory bytes' : ''),
  );
  for (const file of files) {
    const { ours: mine, peer: theirs } = measureFile(file);
    const name = file.endsWith('input.ofd') ? 'B193 (1,300 pages)' : file.split('/').at(-1).slice(0, -4);
    let line = `${name.padEnd(30)} ${mine.cold.toFixed(3).padStart(8)} ${(mine.warm * 1000).toFixed(1).padStart(9)} ${mine.memory.toFixed(0).padStart(11)} ${String(mine.bytes).padStart(10)}`;
    if (theirs) {
      for (const key of Object.keys(ratios)) ratios[key].push(mine[key] / theirs[key]);
      line += `   ${['cold', 'warm', 'memory', 'bytes'].map((key) => ratios[key].at(-1).toFixed(2)).join(' ')}`;
    }
    console.log(line);
  }
  if (peer) {
    console.log(
      'geometric means of the ratios:',
      Object.entries(ratios)
        .map(([key, list]) => `${key} ${geometricMean(list).toFixed(3)}`)
        .join(', '),
    );
  }
}

async function long() {
  const input = join(folder, 'long.ofd');
  writeFileSync(input, await longDocument(400, 33));
  const run = ours.cold(input, join(folder, 'long.pdf'));
  console.log(
    `400 pages of 33 lines: ${run.seconds.toFixed(2)} s, peak ${run.memoryMb.toFixed(0)} MiB, ${run.bytes} bytes`,
  );
}

async function latency() {
  const { p50, p99, worst, runningAtEnd } = await measureLatency(await longDocument(600, 33), folder);
  console.log(
    `/healthz while the workers convert: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(1)} ms (${runningAtEnd} conversions still running at the end)`,
  );
}

try {
  if (!values.only || values.only === 'speed') speed();
  if (!values.only || values.only === 'long') await long();
  if (!values.only || values.only === 'latency') await latency();
  if (!values.only || values.only === 'submissions') await measureSubmissions(folder);
  if (!values.only || values.only === 'office') await measureOffice(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
