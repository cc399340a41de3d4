/** What is measured as it happens: how long conversions and waits take, and how engines end. Begins anew with the process. */
import { Counter, Histogram, Registry } from 'prom-client';
import type { FormatId } from '../formats.js';

/** What there is, and what the reference says of it. */
export const RUN_METRICS = {
  duration: {
    name: 'ofd_conversion_duration_seconds',
    type: 'histogram',
    labels: ['from', 'to', 'state'],
    help: 'Time from the start of the last run of a job to its end; cancelled ones apart.',
  },
  wait: {
    name: 'ofd_queue_wait_seconds',
    type: 'histogram',
    labels: ['lane'],
    help: 'Time from the submission of an asynchronous job to the start of its first run.',
  },
  restarts: {
    name: 'ofd_engine_restarts_total',
    type: 'counter',
    labels: ['engine', 'reason'],
    help: 'Engines ended to be started anew: recycled, memory, crashed, stopped.',
  },
} as const;

const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];
const WAIT_BUCKETS = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1800, 7200];

/** What of a job and its run is measured. */
interface MeasuredJob {
  readonly lane: string;
  readonly to: FormatId;
  readonly attempt: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
}

export class RunMetrics {
  readonly #registry = new Registry();
  readonly #duration: Histogram;
  readonly #wait: Histogram;
  readonly #restarts: Counter;

  constructor() {
    const registers = [this.#registry];
    const { duration, wait, restarts } = RUN_METRICS;
    this.#duration = new Histogram({ ...optionsOf(duration), buckets: DURATION_BUCKETS, registers });
    this.#wait = new Histogram({ ...optionsOf(wait), buckets: WAIT_BUCKETS, registers });
    this.#restarts = new Counter({ ...optionsOf(restarts), registers });
  }

  runStarted(job: MeasuredJob, nowMs: number): void {
    if (job.attempt === 1) this.#wait.observe({ lane: job.lane }, secondsBetween(job.createdAtMs, nowMs));
  }

  /** Measures where the job has come to an end that is counted. */
  runEnded(
    job: MeasuredJob,
    outcome: { readonly kind: string; readonly fromActual?: FormatId | undefined },
    nowMs: number,
  ): void {
    if (outcome.kind !== 'succeeded' && outcome.kind !== 'failed') return;
    const labels = { from: outcome.fromActual ?? 'unknown', to: job.to, state: outcome.kind };
    this.#duration.observe(labels, secondsBetween(job.startedAtMs ?? nowMs, nowMs));
  }

  engineEnded(engine: string, reason: string): void {
    this.#restarts.inc({ engine, reason });
  }

  /** Text format of Prometheus. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }
}

function optionsOf({ name, labels, help }: (typeof RUN_METRICS)[keyof typeof RUN_METRICS]): {
  name: string;
  help: string;
  labelNames: string[];
} {
  return { name, help, labelNames: [...labels] };
}

/** The clock may have stepped back. */
function secondsBetween(startMs: number, endMs: number): number {
  return Math.max(0, endMs - startMs) / 1000;
}
