/**
 * `make fuzz`: damaged packages through the engine, one after the other, in this process. Run n is the same each time, so
 * `N=1 SEED=n` repeats a find, and `SEED=n` goes on where another call ended (with the same CORPUS).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemFontBook } from '../../src/fonts/system.js';
import { attempt } from './attempt.js';
import { readBases } from './bases.js';
import { planOf } from './plan.js';

const REPORT_EVERY_MS = 10_000;
/** Processor time of one run after which the program gives up on it. */
const HANGS_AFTER_MS = 60_000;

/** Ends the process when one run takes for ever: the thread that runs it can't look at the clock any more. */
const WATCHDOG = `
const { workerData } = require('node:worker_threads');
const running = new Int32Array(workerData.running);
const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
let run = -1, since = 0;
setInterval(() => {
  const now = Atomics.load(running, 0);
  if (now !== run) { run = now; since = cpuMs(); return; }
  if (cpuMs() - since < workerData.limitMs) return;
  require('node:fs').writeSync(2, 'run ' + run + ' hangs; go on with SEED=' + (run + 1) + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, 1000);
`;

function numberOf(name: string, fallback: number): number {
  const text = process.env[name];
  const value = text ? Number(text) : fallback;
  if (Number.isSafeInteger(value) && value >= 0) return value;
  process.stderr.write(`${name}: "${text}" is not a whole number from 0\n`);
  return process.exit(2);
}

const first = numberOf('SEED', 1);
const count = numberOf('N', 1000);
const folder = process.env.FINDS || join('data', 'fuzz');
const bases = await readBases(process.cwd(), process.env.CORPUS || undefined);
const fonts = systemFontBook([]);
const running = new SharedArrayBuffer(4);
const watchdog = new Worker(WATCHDOG, { eval: true, workerData: { running, limitMs: HANGS_AFTER_MS } });
watchdog.unref();

let finds = 0;
let shown = 0;
let done = 0;
const start = performance.now();
let reported = start;

function tell(): void {
  const seconds = (performance.now() - start) / 1000;
  const speed = (done / seconds).toFixed(1);
  process.stdout.write(`${done} runs, up to ${first + done - 1}: ${speed} a second, ${shown} shown, ${finds} finds\n`);
}

for (; done < count; done++) {
  const run = first + done;
  Atomics.store(new Int32Array(running), 0, run);
  const { base, bytes, formats } = planOf(run, bases);
  const { fault, isShown } = await attempt(bytes, fonts, formats);
  if (isShown) shown++;
  if (fault !== undefined) {
    finds++;
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${run}.ofd`);
    writeFileSync(file, bytes);
    process.stdout.write(`run ${run} (${base}, ${formats.join(' ')}), kept as ${file}: ${fault}\n`);
  }
  if (performance.now() - reported < REPORT_EVERY_MS) continue;
  reported = performance.now();
  done++;
  tell();
  done--;
}
tell();
await watchdog.terminate();
process.exitCode = finds > 0 ? 1 : 0;
