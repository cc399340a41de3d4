/** Whether a thread works: the sign of life of a conversion whose page takes long (contract R5). */
import type { Worker } from 'node:worker_threads';

const LOOK_EVERY_MS = 1000;
/** Of the time between two looks. A thread that waits for what never comes has none. */
const LEAST_SHARE = 0.05;

/**
 * Calls `onAlive` after each interval in which the thread was at work, whatever of it was told meanwhile.
 * @returns ends the watch
 */
export function watchPulse(worker: Worker, onAlive: () => void, everyMs = LOOK_EVERY_MS): () => void {
  let last = worker.performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = worker.performance.eventLoopUtilization();
    if (now.active - last.active > LEAST_SHARE * everyMs) onAlive();
    last = now;
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
