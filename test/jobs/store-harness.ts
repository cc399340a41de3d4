/** A fresh store for each test, and what nearly all of them do with it. */
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach } from 'vitest';
import type { Attempt, Job, NewJob } from '../../src/jobs/job.js';
import type { JobStore, KeptInput, Recovery } from '../../src/jobs/store.js';
import { newJob, temporaryFolder } from '../support/jobs.js';

export const NOW = 1_700_000_000_000;
export const BYTES = Buffer.from('input');

/** How an implementation is opened in a folder. Its targets of notifications: `erp` hears all, `failures` those. */
export type OpenStore = (folder: string) => Promise<JobStore>;

export interface StoreInTest {
  readonly store: JobStore;
  readonly folder: string;
  submit(changes?: Partial<NewJob>): Promise<Job>;
  claim(lane?: 'fast' | 'heavy'): Promise<Attempt>;
  /** Closes the store and opens it again, as a new process would. */
  reopen(nowMs?: number, maxJobCrashes?: number): Promise<Recovery>;
}

export function storeForEachTest(open: OpenStore): StoreInTest {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: JobStore;

  beforeEach(async () => {
    folder = temporaryFolder('store');
    store = await open(folder.path);
    await store.recover({ nowMs: NOW, maxJobCrashes: 3 });
  });

  afterEach(async () => {
    await store.close();
    folder.remove();
  });

  return {
    get store() {
      return store;
    },
    get folder() {
      return folder.path;
    },
    submit: async (changes = {}) => (await store.submit(newJob(changes), { bytes: BYTES })).job,
    claim: async (lane = 'fast') => {
      const attempt = await store.claim(lane, NOW);
      if (!attempt) throw new Error('Nothing to claim');
      return attempt;
    },
    reopen: async (nowMs = NOW, maxJobCrashes = 3) => {
      await store.close();
      store = await open(folder.path);
      return store.recover({ nowMs, maxJobCrashes });
    },
  };
}

export async function bytesOf(input: KeptInput | undefined): Promise<Buffer | undefined> {
  if (!input) return undefined;
  return 'bytes' in input ? Buffer.from(input.bytes) : readFile(input.path);
}

export const NONE_PENDING = [
  { state: 'pending', count: 0 },
  { state: 'abandoned', count: 0 },
];

export const NONE_WAITING = [
  { reason: 'retry', count: 0 },
  { reason: 'sink_unreachable', count: 0 },
];
