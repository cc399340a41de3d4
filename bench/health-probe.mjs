// Asks /healthz again and again from a thread of its own, so that a busy client is not taken for a slow service.
import { parentPort, workerData } from 'node:worker_threads';

const PAUSE_MS = 10;

const times = [];
let isOver = false;
parentPort.once('message', () => {
  isOver = true;
});
while (!isOver) {
  const started = performance.now();
  await (await fetch(`${workerData}/healthz`)).text();
  times.push(performance.now() - started);
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
parentPort.postMessage(times);
