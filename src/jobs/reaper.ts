/**
 * Finds jobs that the store holds for running and nobody runs: a claim whose answer was lost with the store's thread, a
 * stream whose end could not be written down. Without it they would stay so until the next start (contract R5).
 */
import type { ActiveRuns } from './active-runs.js';
import type { Attempt } from './job.js';
import type { JobStore } from './store.js';

const LOOK_EVERY_MS = 30_000;

export interface ReaperOptions {
  readonly store: Pick<JobStore, 'running' | 'requeue' | 'settle'>;
  readonly runs: ActiveRuns;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly everyMs?: number;
  readonly onReaped?: (attempt: Attempt) => void;
  readonly onError: (error: unknown) => void;
}

export class Reaper {
  readonly #options: ReaperOptions;
  #timer: NodeJS.Timeout | undefined;
  /** Runs that were nobody's at the last look: what is so twice is no claim on its way. */
  #suspects: ReadonlySet<string> = new Set();
  #work: Promise<void> = Promise.resolve();

  constructor(options: ReaperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#work = this.#work.then(() => this.#look()).catch(this.#options.onError);
    }, this.#options.everyMs ?? LOOK_EVERY_MS);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#work;
  }

  async #look(): Promise<void> {
    const { store, runs } = this.#options;
    const running = await store.running();
    const orphans = running.filter(({ job, number }) => runs.of(job.id)?.attempt.number !== number);
    const suspects = this.#suspects;
    this.#suspects = new Set(orphans.map(nameOf));
    for (const orphan of orphans) if (suspects.has(nameOf(orphan))) await this.#reap(orphan);
  }

  /** The next look has come, so no one else will end it. */
  async #reap(orphan: Attempt): Promise<void> {
    const { store, now, onReaped } = this.#options;
    const isReaped = orphan.job.isStream
      ? await store.settle(
          orphan,
          {
            kind: 'failed',
            errorCode: 'internal_error',
            reason: 'internal',
            error: 'Its end could not be written down',
          },
          now(),
        )
      : await store.requeue(orphan);
    if (isReaped) onReaped?.(orphan);
  }
}

function nameOf({ job, number }: Attempt): string {
  return `${job.id} ${number}`;
}
