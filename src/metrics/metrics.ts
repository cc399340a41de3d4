/**
 * The metric table. `/metrics` and `/v1/stats` are two renderings of one snapshot, so that both agree (contract A10).
 * Labels come from finite sets only.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { FormatId } from '../formats.js';
import type { RunMetrics } from './run-metrics.js';

/** What was counted, read at one instant. The store's own snapshot has this shape. */
export interface Counters {
  readonly conversions: readonly {
    readonly from: FormatId | 'unknown';
    readonly to: FormatId;
    readonly state: 'succeeded' | 'failed';
    readonly count: number;
  }[];
  readonly inputBytes: readonly { readonly from: FormatId | 'unknown'; readonly bytes: number }[];
  readonly outputBytes: readonly {
    readonly from: FormatId | 'unknown';
    readonly to: FormatId;
    readonly bytes: number;
  }[];
  readonly notifications: readonly { readonly outcome: string; readonly count: number }[];
  readonly pendingNotifications: readonly { readonly state: string; readonly count: number }[];
  readonly deadLetters: number;
  readonly deliveries: readonly { readonly kind: string; readonly outcome: string; readonly count: number }[];
  /** Since the start of the process. */
  readonly transactions: number;
  /** Asynchronous jobs alone; undefined where it cannot be read, which is not 0. */
  readonly queue: { readonly queued: number; readonly running: number } | undefined;
  /** Of the queued, by what they wait for; undefined as `queue`. */
  readonly waiting: readonly { readonly reason: string; readonly count: number }[] | undefined;
}

/** Everything that is measured, at one instant. */
export interface Measurements {
  /** Undefined where the store does not answer. */
  readonly counters: Counters | undefined;
  readonly workers: { readonly fast: number; readonly heavy: number; readonly notify: number };
  /** Synchronous conversions by lane: in progress, and as many as there may be. */
  /** What is free on each volume, where that is known. */
  readonly volumes: readonly { readonly volume: string; readonly bytes: number }[];
  readonly streams: Readonly<Record<'fast' | 'heavy', { readonly active: number; readonly slots: number }>>;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly labels: readonly string[];
  readonly help: string;
  /** Nothing where it cannot be read: the metric is left out then. */
  samples(measurements: Measurements): readonly Sample[];
}

export const METRICS: readonly Metric[] = [
  {
    name: 'ofd_conversions_total',
    type: 'counter',
    labels: ['from', 'to', 'state'],
    help: 'Jobs that ended, cancelled ones apart.',
    samples: ({ counters }) =>
      (counters?.conversions ?? []).map(({ from, to, state, count }) => ({
        labels: { from, to, state },
        value: count,
      })),
  },
  {
    name: 'ofd_input_bytes_total',
    type: 'counter',
    labels: ['from'],
    help: 'Bytes of inputs read.',
    samples: ({ counters }) =>
      (counters?.inputBytes ?? []).map(({ from, bytes }) => ({ labels: { from }, value: bytes })),
  },
  {
    name: 'ofd_output_bytes_total',
    type: 'counter',
    labels: ['from', 'to'],
    help: 'Bytes of products delivered.',
    samples: ({ counters }) =>
      (counters?.outputBytes ?? []).map(({ from, to, bytes }) => ({ labels: { from, to }, value: bytes })),
  },
  {
    name: 'ofd_queue_depth',
    type: 'gauge',
    labels: ['state'],
    help: 'Asynchronous jobs that have not ended; those that wait for a retry are queued.',
    samples: ({ counters }) =>
      Object.entries(counters?.queue ?? {}).map(([state, value]) => ({ labels: { state }, value })),
  },
  {
    name: 'ofd_queue_waiting',
    type: 'gauge',
    labels: ['reason'],
    help: 'Queued jobs that are not due: they wait for another run (retry), or for their target (sink_unreachable).',
    samples: ({ counters }) =>
      (counters?.waiting ?? []).map(({ reason, count }) => ({ labels: { reason }, value: count })),
  },
  {
    name: 'ofd_deliveries_total',
    type: 'counter',
    labels: ['kind', 'outcome'],
    help: 'Runs of asynchronous jobs that came to deliver, by the kind of their sink.',
    samples: ({ counters }) =>
      (counters?.deliveries ?? []).map(({ kind, outcome, count }) => ({ labels: { kind, outcome }, value: count })),
  },
  {
    name: 'ofd_notifications_total',
    type: 'counter',
    labels: ['outcome'],
    help: 'Notifications that came to an end: delivered, dead (never to be taken), abandoned (sent on a slow clock).',
    samples: ({ counters }) =>
      (counters?.notifications ?? []).map(({ outcome, count }) => ({ labels: { outcome }, value: count })),
  },
  {
    name: 'ofd_notifications_pending',
    type: 'gauge',
    labels: ['state'],
    help: 'Notifications that have not arrived yet: pending, or abandoned.',
    samples: ({ counters }) =>
      (counters?.pendingNotifications ?? []).map(({ state, count }) => ({ labels: { state }, value: count })),
  },
  {
    name: 'ofd_dead_letters',
    type: 'gauge',
    labels: [],
    help: 'Failed jobs that may be tried again by hand.',
    samples: ({ counters }) => (counters ? [{ labels: {}, value: counters.deadLetters }] : []),
  },
  {
    name: 'ofd_store_transactions_total',
    type: 'counter',
    labels: [],
    help: 'Transactions that the job database wrote, each of them a flush of its disk; since the start of the process.',
    samples: ({ counters }) => (counters ? [{ labels: {}, value: counters.transactions }] : []),
  },
  {
    name: 'ofd_streams_active',
    type: 'gauge',
    labels: ['lane'],
    help: 'Synchronous conversions in progress.',
    samples: ({ streams }) =>
      Object.entries(streams).map(([lane, { active }]) => ({ labels: { lane }, value: active })),
  },
  {
    name: 'ofd_stream_slots',
    type: 'gauge',
    labels: ['lane'],
    help: 'Synchronous conversions that may be in progress at a time.',
    samples: ({ streams }) => Object.entries(streams).map(([lane, { slots }]) => ({ labels: { lane }, value: slots })),
  },
  {
    name: 'ofd_volume_free_bytes',
    type: 'gauge',
    labels: ['volume'],
    help: 'Bytes free on each volume, by the key that names it; absent while it hangs or takes no file.',
    samples: ({ volumes }) => volumes.map(({ volume, bytes }) => ({ labels: { volume }, value: bytes })),
  },
  {
    name: 'ofd_workers',
    type: 'gauge',
    labels: ['lane'],
    help: 'Workers of each lane.',
    samples: ({ workers }) => Object.entries(workers).map(([lane, value]) => ({ labels: { lane }, value })),
  },
];

/** Text format 0.0.4 of Prometheus: the table above, what is measured as it happens, then the process's own metrics (`process_*`, `nodejs_*`). */
export class MetricsPage {
  static readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly #process = new Registry();

  readonly #runs: RunMetrics;

  constructor(runs: RunMetrics) {
    this.#runs = runs;
    collectDefaultMetrics({ register: this.#process });
  }

  async render(measurements: Measurements): Promise<string> {
    const stored = METRICS.map((metric) => renderMetric(metric, measurements)).join('');
    return stored + (await this.#runs.render()) + (await this.#process.metrics());
  }

  /** Stops the timers behind the process's metrics. */
  close(): void {
    this.#process.clear();
  }
}

function renderMetric(metric: Metric, measurements: Measurements): string {
  const samples = metric.samples(measurements);
  if (samples.length === 0) return '';
  const lines = samples.map(({ labels, value }) => {
    const pairs = metric.labels.map((label) => `${label}="${labels[label]}"`).join(',');
    return `${metric.name}${pairs === '' ? '' : `{${pairs}}`} ${value}\n`;
  });
  return `# HELP ${metric.name} ${metric.help}\n# TYPE ${metric.name} ${metric.type}\n${lines.join('')}`;
}
