/** Asks /healthz again and again from a thread of its own, so that a busy client is not taken for a slow service. */
import { parentPort, workerData } from 'node:worker_threads';

const PAUSE_MS = 200;

let answers: number[] = [];
let lateness: number[] = [];
parentPort?.on('message', () => {
  parentPort?.postMessage({ answers, lateness });
  answers = [];
  lateness = [];
});
for (;;) {
  const beforeMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const startedMs = performance.now();
  lateness.push(Math.max(0, startedMs - beforeMs - PAUSE_MS));
  try {
    await (await fetch(`${workerData as string}/healthz`)).text();
    answers.push(performance.now() - startedMs);
  } catch {
    // Counted as the worst that can be told.
    answers.push(60_000);
  }
}
