/** Tells whoever waits for a job of what happens to it in this process, as it happens. */
import type { Job } from './job.js';

export type JobChange =
  | { readonly kind: 'queued' | 'ended' }
  /** `job` as it is then: a short run may be over when somebody gets to read it. */
  | { readonly kind: 'started'; readonly job: Job }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number };

export type JobListener = (change: JobChange) => void;

export class JobFeed {
  readonly #listeners = new Map<string, Set<JobListener>>();

  /**
   * Calls `listener` for each change from now on: read the job after subscribing, and nothing is missed. A change that
   * another process makes is not seen.
   * @returns ends the subscription
   */
  subscribe(jobId: string, listener: JobListener): () => void {
    const listeners = this.#listeners.get(jobId) ?? new Set();
    this.#listeners.set(jobId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(jobId) === listeners) this.#listeners.delete(jobId);
    };
  }

  /** A listener that throws is dropped: whoever waits for a job must not keep it from ending. */
  publish(jobId: string, change: JobChange): void {
    const listeners = this.#listeners.get(jobId);
    for (const listener of listeners ?? []) {
      try {
        listener(change);
      } catch {
        listeners?.delete(listener);
      }
    }
  }
}
