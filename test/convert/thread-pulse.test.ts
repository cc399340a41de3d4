// The sign of life of a thread: its work, not its being there (contract R5).
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { watchPulse } from '../../src/convert/thread-pulse.js';

/** Works for as many milliseconds as it is told, without a word meanwhile; then it waits. */
const WORKER = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (ms) => {
    const end = Date.now() + ms;
    while (Date.now() < end);
    parentPort.postMessage('done');
  });`;

it('is told while the thread works, and not while it waits', async () => {
  const worker = new Worker(WORKER, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const work = (ms: number): Promise<unknown> => {
    worker.postMessage(ms);
    return new Promise((resolve) => worker.once('message', resolve));
  };
  await work(1);
  let signs = 0;
  const end = watchPulse(
    worker,
    () => {
      signs += 1;
    },
    100,
  );
  await work(1000);
  expect(signs).toBeGreaterThanOrEqual(3);
  await new Promise((resolve) => setTimeout(resolve, 250));
  signs = 0;
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(signs).toBe(0);
  end();
  await work(300);
  expect(signs).toBe(0);
});
