// Starts threads that do nothing but compress, each as small a piece as can be, and ends them: `end-threads.mjs COUNT`.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { endThread, guardThread, newGuard } from '../../../dist/thread-guard.js';
import { createDeflate, deflateSync } from '../../../dist/zlib.js';

if (isMainThread) {
  const count = Number(process.argv[2]);
  for (let ended = 0; ended < count; ended += 4) {
    await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const guard = newGuard();
        const worker = new Worker(new URL(import.meta.url), { workerData: guard });
        await new Promise((resolve) => worker.once('message', resolve));
        await endThread(worker, guard);
      }),
    );
  }
  process.stdout.write(`${count} threads ended\n`);
} else {
  guardThread(workerData);
  parentPort.postMessage('ready');
  for (;;) {
    deflateSync('x');
    createDeflate().destroy();
  }
}
