/**
 * Stopping what a worker thread does. It is asked first: a thread that is ended in the middle of its work leaves memory of
 * native libraries behind, and has to be started anew. One that does not hear is ended, but never so that it takes the
 * process along: Node 20 aborts where a thread ends between the making of a zlib stream and its setting up ("close before
 * init"), so a thread says when it is in such a call, and is ended outside of it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';

/** Words of the memory that both sides see. */
const BUSY = 0;
const WANTED = 1;
/** What is wanted of the thread. */
const GO_ON = 0;
const STOP = 1;
const END = 2;
const LOOK_AGAIN_MS = 2;

/** What a thread and those who may end it share; goes into `workerData`. */
export type ThreadGuard = Int32Array<SharedArrayBuffer>;

export function newGuard(): ThreadGuard {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}

let guardOfThread: ThreadGuard | undefined;

/** To be called by a thread before it begins. */
export function guardThread(guard: ThreadGuard): void {
  guardOfThread = guard;
}

/** Runs `work`, in whose middle the thread is not ended; where its end is wanted already, it waits for that instead. */
export function uninterrupted<Result>(work: () => Result): Result {
  const guard = guardOfThread;
  if (!guard) return work();
  // Either this thread sees that its end is wanted, or the other sees that it is busy.
  Atomics.store(guard, BUSY, 1);
  try {
    if (Atomics.load(guard, WANTED) !== END) return work();
  } finally {
    Atomics.store(guard, BUSY, 0);
  }
  for (;;) Atomics.wait(guard, WANTED, END);
}

/** Whether this thread was asked to stop what it does. */
export function isStopWanted(): boolean {
  return guardOfThread !== undefined && Atomics.load(guardOfThread, WANTED) !== GO_ON;
}

/** Asks a thread to stop what it does. */
export function askToStop(guard: ThreadGuard): void {
  Atomics.store(guard, WANTED, STOP);
}

/** It has stopped, and may begin something else. */
export function letGoOn(guard: ThreadGuard): void {
  Atomics.store(guard, WANTED, GO_ON);
}

/** Ends a thread as soon as it is in no uninterrupted call, and resolves when it has ended. */
export async function endThread(worker: Worker, guard: ThreadGuard): Promise<void> {
  Atomics.store(guard, WANTED, END);
  const hasEnded = (): boolean => worker.threadId < 0;
  while (Atomics.load(guard, BUSY) !== 0 && !hasEnded()) await sleep(LOOK_AGAIN_MS);
  await worker.terminate();
}
