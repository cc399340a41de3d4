/** Jobs on their way: one list tells of all of them, however many the page waits for. */
import { ApiError, isForbidden, type Job, json } from './api.js';
import { currentKey, may } from './keys.js';
import type { Look } from './poller.js';

/** Jobs in the table. */
const LATEST = 15;
/** The longest list that the service gives. */
const LONGEST_LIST = 200;
/** Jobs that are asked for by themselves in one go. */
const MOST_DETAILS = 15;
const BUSY_MS = 1000;
const IDLE_MS = 5000;

interface Follower {
  readonly onJob: (job: Job) => void;
  readonly onEnd: (job: Job) => void;
  readonly onFault: (error: unknown) => void;
}

export class JobWatch implements Look {
  readonly #followers = new Map<string, Follower>();
  /** Of the latest jobs those that have succeeded, with their products. */
  #succeeded = new Map<string, Job>();
  #onLatest: (jobs: readonly Job[]) => Promise<void> = async () => undefined;
  #onFollow: () => void = () => undefined;

  /**
   * @param onLatest is told of the latest jobs, newest first; those that have succeeded come with their products if known
   * @param onFollow there is more to look at
   */
  listen(onLatest: (jobs: readonly Job[]) => Promise<void>, onFollow: () => void): void {
    this.#onLatest = onLatest;
    this.#onFollow = onFollow;
  }

  /**
   * Tells of a job until it has ended, also while the service is started anew: what was taken goes on by itself.
   * @throws ApiError where the job is not there, or the key may not see it
   */
  follow(id: string, onJob: (job: Job) => void): Promise<Job> {
    return new Promise((onEnd, onFault) => {
      this.#followers.set(id, { onJob, onEnd, onFault });
      this.#onFollow();
    });
  }

  /** What another answer has told of a job. */
  tell(job: Job): void {
    const follower = this.#followers.get(job.id);
    if (job.finished_at === undefined || follower === undefined) return;
    this.#followers.delete(job.id);
    follower.onEnd(job);
  }

  everyMs(): number {
    return this.#followers.size > 0 ? BUSY_MS : IDLE_MS;
  }

  async run(): Promise<void> {
    if (currentKey() === null) return;
    if (!may('read')) return this.#refuseAll(new Error());
    const jobs = await this.#list();
    const listed = new Map(jobs.map((job) => [job.id, job]));
    const latest = jobs.slice(0, LATEST);
    await this.#onLatest(this.#withProducts(latest));
    const unclear = [...this.#followers.keys()].filter((id) => this.#isUnclear(id, listed.get(id)));
    const unknown = latest.filter(({ id, state }) => state === 'succeeded' && !this.#succeeded.has(id));
    const asked = [...new Set([...unclear, ...unknown.map(({ id }) => id)])].slice(0, MOST_DETAILS);
    for (const id of asked) await this.#ask(id);
    if (unknown.length > 0) await this.#onLatest(this.#withProducts(latest));
  }

  async #list(): Promise<readonly Job[]> {
    const limit = Math.min(LONGEST_LIST, LATEST + this.#followers.size);
    try {
      return (await json<{ jobs: readonly Job[] }>(`v1/jobs?limit=${limit}`)).jobs;
    } catch (error) {
      if (isForbidden(error)) this.#refuseAll(error);
      throw error;
    }
  }

  #refuseAll(error: unknown): void {
    for (const { onFault } of this.#followers.values()) onFault(error);
    this.#followers.clear();
  }

  /** Whether the list does not tell enough: what comes of a job stands in the job alone. */
  #isUnclear(id: string, listed: Job | undefined): boolean {
    if (listed === undefined || listed.finished_at !== undefined) return true;
    this.#followers.get(id)?.onJob(listed);
    return false;
  }

  async #ask(id: string): Promise<void> {
    const follower = this.#followers.get(id);
    // Those that are asked for come last the next time: each has its turn.
    this.#followers.delete(id);
    try {
      const job = await json<Job>(`v1/jobs/${id}`);
      if (job.state === 'succeeded') this.#succeeded.set(id, job);
      if (job.finished_at !== undefined) return follower?.onEnd(job);
      follower?.onJob(job);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return follower?.onFault(error);
      if (follower) this.#followers.set(id, follower);
      throw error;
    }
    if (follower) this.#followers.set(id, follower);
  }

  /** Forgets the products of those that are no longer among them. */
  #withProducts(latest: readonly Job[]): readonly Job[] {
    const jobs = latest.map((job) => (job.state === 'succeeded' && this.#succeeded.get(job.id)) || job);
    this.#succeeded = new Map(jobs.filter(({ output }) => output).map((job) => [job.id, job]));
    return jobs;
  }
}
