/**
 * A lane: takes the jobs of one kind from the store and runs so many at a time, each as claim → run → settle. It knows
 * nothing of what `run` does.
 *
 * A slot is free as soon as its run has ended: the next claim then shares a transaction with the settling of the last.
 * States of a lane: working → draining (no more claims) → closed (everything settled or back in the queue).
 */
import { type ErrorCode, ServiceError } from '../errors.js';
import type { ActiveRuns, Run } from './active-runs.js';
import type { Attempt, LaneName, Outcome } from './job.js';
import { type RetryPolicy, withRetry } from './retry.js';
import type { JobStore } from './store.js';

export interface LaneOptions {
  readonly name: LaneName;
  /** Runs at a time. */
  readonly workers: number;
  readonly store: Pick<JobStore, 'claim' | 'settle' | 'requeue'>;
  /** One run. Where its signal is aborted it stops, and its outcome carries the signal's reason. */
  readonly run: (run: Run) => Promise<Outcome>;
  /** Where this lane's runs are found by whoever wants to stop one. */
  readonly runs: ActiveRuns;
  readonly retry: RetryPolicy;
  /** Whether a job may start now; looked at again with every poll. */
  readonly mayStart?: () => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How often an idle lane looks by itself, for jobs whose wait is over; 1 s where absent. */
  readonly pollMs?: number;
  /** A job has ended or is queued again, as the store has taken it. */
  readonly onSettled?: (attempt: Attempt, outcome: Outcome) => void;
  /** What went wrong outside any job: the store did not answer, or `run` threw (which is a fault of this program). */
  readonly onError?: (error: unknown, attempt: Attempt | undefined) => void;
}

const POLL_MS = 1000;
/** How long a run that was told to stop may take for it (contract A4: two seconds for an engine, then its files). */
const STOP_MS = 5000;
/** Pause before the store is asked again to take an outcome. */
const SETTLE_PAUSE_MS = 500;

export class Lane {
  readonly #options: LaneOptions;
  readonly #runs = new Set<Run>();
  readonly #settling = new Set<Promise<void>>();
  #claiming = 0;
  /** Grows with every wake, so that a claim that found nothing can tell that it may have come too early. */
  #wakes = 0;
  #isDraining = false;
  #isClosed = false;
  #poll: NodeJS.Timeout | undefined;
  #changed: (() => void) | undefined;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Runs in progress. */
  get running(): number {
    return this.#runs.size;
  }

  start(): void {
    this.#poll = setInterval(() => this.wake(), this.#options.pollMs ?? POLL_MS);
    this.wake();
  }

  /** There may be a job: called after a submission, so that it need not wait for the next look. */
  wake(): void {
    this.#wakes += 1;
    this.#fill();
  }

  #fill(): void {
    if (this.#options.mayStart?.() === false) return;
    while (!this.#isDraining && this.#runs.size + this.#claiming < this.#options.workers) void this.#takeOne();
  }

  async #takeOne(): Promise<void> {
    this.#claiming += 1;
    let attempt: Attempt | undefined;
    const wakes = this.#wakes;
    try {
      attempt = await this.#options.store.claim(this.#options.name, this.#options.now());
    } catch (error) {
      this.#options.onError?.(error, undefined);
    }
    this.#claiming -= 1;
    if (attempt) this.#execute(attempt);
    else if (wakes !== this.#wakes) this.#fill();
    this.#changed?.();
  }

  #execute(attempt: Attempt): void {
    const run = this.#options.runs.start(attempt);
    this.#runs.add(run);
    if (this.#isDraining) run.stop(shuttingDown());
    const work = this.#runToOutcome(run).then((outcome) => {
      this.#runs.delete(run);
      const settled = this.#settle(run, outcome).finally(() => {
        this.#settling.delete(settled);
        this.#options.runs.end(run);
        this.#changed?.();
      });
      this.#settling.add(settled);
      this.#fill();
    });
    work.catch((error: unknown) => this.#options.onError?.(error, attempt));
  }

  async #runToOutcome(run: Run): Promise<Outcome> {
    const { attempt } = run;
    try {
      run.signal.throwIfAborted();
      return await this.#options.run(run);
    } catch (error) {
      if (!(error instanceof ServiceError)) this.#options.onError?.(error, attempt);
      return {
        kind: 'failed',
        errorCode: error instanceof ServiceError ? error.code : 'internal_error',
        reason: (error instanceof ServiceError ? error.reason : undefined) ?? 'internal',
        error: error instanceof ServiceError ? error.message : 'Internal error: the log names the cause',
      };
    } finally {
      run.finish();
    }
  }

  /** Writes down how a run ended, again and again while the store does not answer: the job would hang as running. */
  async #settle(run: Run, outcome: Outcome): Promise<void> {
    const { store, now, onSettled, onError } = this.#options;
    const { attempt } = run;
    const stoppedBy = outcome.kind === 'succeeded' ? undefined : stopCode(run.signal);
    while (!this.#isClosed) {
      try {
        if (stoppedBy === 'shutting_down') {
          await store.requeue(attempt);
          return;
        }
        // What was cancelled while it failed by itself is not tried again.
        const mayRetry = outcome.kind === 'failed' && stoppedBy !== 'cancelled';
        const final = mayRetry ? withRetry(outcome, attempt, this.#options.retry, now()) : outcome;
        if (await store.settle(attempt, final, now())) onSettled?.(attempt, final);
        return;
      } catch (error) {
        onError?.(error, attempt);
        await new Promise((resolve) => setTimeout(resolve, SETTLE_PAUSE_MS));
      }
    }
  }

  /**
   * Claims no more; waits at most `graceMs` for what runs, tells the rest to stop, and puts it back in the queue.
   * Resolves when no run is left that could still change a job.
   */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    clearInterval(this.#poll);
    await this.#idle(graceMs);
    for (const run of this.#runs) run.stop(shuttingDown());
    await this.#idle(STOP_MS);
    // What has not even stopped hangs on something outside; its number is stale from here on, whatever it does.
    await Promise.allSettled([...this.#runs].map((run) => this.#options.store.requeue(run.attempt)));
    this.#isClosed = true;
  }

  /** Resolves when nothing is claimed, run or settled any more, or after `limitMs`. */
  async #idle(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
      this.#changed = () => {
        if (this.#claiming + this.#runs.size + this.#settling.size === 0) resolve();
      };
      this.#changed();
    });
    clearTimeout(timer);
    this.#changed = undefined;
  }
}

function shuttingDown(): ServiceError {
  return new ServiceError('shutting_down', 'The server is shutting down');
}

/** Why a run was told to stop; undefined where it was not. */
function stopCode({ reason }: AbortSignal): ErrorCode | undefined {
  return reason instanceof ServiceError ? reason.code : undefined;
}
