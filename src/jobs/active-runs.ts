/**
 * The runs in progress in this process: how to stop each, whether it still lives, how far it is. Lanes and streams both
 * have theirs here, so that a forced cancel finds any of them (contract A9, R3, R5).
 */
import { ServiceError } from '../errors.js';
import type { Attempt } from './job.js';

export interface ActiveRunsOptions {
  /** Longest run; 0 for no limit. */
  readonly jobTimeoutMs: number;
  /** Longest time without a sign of life; 0 for no limit. */
  readonly heartbeatTimeoutMs: number;
  readonly onProgress?: (run: Run) => void;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** One run, from its claim until its end is written down. */
export class Run {
  readonly attempt: Attempt;
  readonly #stop = new AbortController();
  readonly #onProgress: (run: Run) => void;
  #limit: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #progress: Progress | undefined;

  constructor(attempt: Attempt, { jobTimeoutMs, heartbeatTimeoutMs, onProgress }: ActiveRunsOptions) {
    this.attempt = attempt;
    this.#onProgress = onProgress ?? (() => undefined);
    if (jobTimeoutMs > 0) this.#limit = setTimeout(() => this.stop(overtime(jobTimeoutMs)), jobTimeoutMs);
    if (heartbeatTimeoutMs > 0) {
      this.#heartbeat = setTimeout(() => this.stop(lifeless(heartbeatTimeoutMs)), heartbeatTimeoutMs);
    }
  }

  /** Aborted where the run is to stop; its reason is the ServiceError that the run ends with. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get progress(): Progress | undefined {
    return this.#progress;
  }

  /** Asks the run to stop. The first reason holds. */
  stop(reason: ServiceError): void {
    this.#stop.abort(reason);
  }

  /** A sign of life: bytes were read or written, a page is done, an engine works. */
  alive(): void {
    this.#heartbeat?.refresh();
  }

  advance(progress: Progress): void {
    this.#progress = progress;
    this.alive();
    this.#onProgress(this);
  }

  /** Its outcome is known: no limit of time holds any more. */
  finish(): void {
    clearTimeout(this.#limit);
    clearTimeout(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}

interface Entry {
  readonly run: Run;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

export class ActiveRuns {
  readonly #options: ActiveRunsOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ActiveRunsOptions) {
    this.#options = options;
  }

  /** A run begins. Its starter calls `finish` and `end`. */
  start(attempt: Attempt): Run {
    const run = new Run(attempt, this.#options);
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#entries.set(attempt.job.id, { run, ended, end });
    return run;
  }

  /** The run's end is written down, or cannot be by this process. */
  end(run: Run): void {
    const entry = this.#entries.get(run.attempt.job.id);
    if (entry?.run !== run) return;
    this.#entries.delete(run.attempt.job.id);
    entry.end();
  }

  of(jobId: string): Run | undefined {
    return this.#entries.get(jobId)?.run;
  }

  /** Asks the run of a job to stop. Resolves when its end is written down; undefined where no run is here. */
  stop(jobId: string, reason: ServiceError): Promise<void> | undefined {
    const entry = this.#entries.get(jobId);
    entry?.run.stop(reason);
    return entry?.ended;
  }
}

function overtime(limitMs: number): ServiceError {
  return new ServiceError('conversion_timeout', `The conversion took longer than job_timeout (${limitMs / 1000} s)`, {
    reason: 'timeout',
  });
}

function lifeless(limitMs: number): ServiceError {
  const text = `The conversion gave no sign of life for longer than heartbeat_timeout (${limitMs / 1000} s)`;
  return new ServiceError('conversion_timeout', text, { reason: 'timeout' });
}
