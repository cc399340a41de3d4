/** The JSON view of the counters: the body of GET /v1/stats. */
import type { Counters, Measurements } from './metrics.js';

const NOTE =
  'conversions counts jobs that succeeded or failed, not cancelled ones, and is independent of retention and restarts. ' +
  'from is the format that a worker opened the input as; unknown (label_unknown) where none did. ' +
  'formats[].input_bytes is the total of that input format and repeats in every row of it, so the rows do not add up. ' +
  'input_bytes counts bytes read, not bytes submitted. queue is of this instant and counts asynchronous jobs alone.';

interface FormatRow {
  readonly from: string;
  readonly to: string;
  readonly label_unknown?: true;
  readonly conversions: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly input_bytes: number;
  readonly output_bytes: number;
}

export interface Statistics {
  readonly started_at: string;
  readonly uptime_seconds: number;
  readonly since?: string;
  readonly note: string;
  readonly totals: Omit<FormatRow, 'from' | 'to' | 'label_unknown'>;
  readonly queue: {
    readonly queued?: number;
    readonly running?: number;
    /** Of the queued, by what they wait for. */
    readonly waiting?: Readonly<Record<string, number>>;
    readonly workers: Measurements['workers'];
  };
  readonly formats: readonly FormatRow[];
}

export function statisticsOf(
  counters: Counters & { readonly sinceMs: number | undefined },
  workers: Measurements['workers'],
  startedAtMs: number,
  nowMs: number,
): Statistics {
  const succeeded = countOf(counters, (row) => row.state === 'succeeded');
  const failed = countOf(counters, (row) => row.state === 'failed');
  return {
    started_at: new Date(startedAtMs).toISOString(),
    uptime_seconds: Math.max(0, Math.floor((nowMs - startedAtMs) / 1000)),
    ...(counters.sinceMs !== undefined && { since: new Date(counters.sinceMs).toISOString() }),
    note: NOTE,
    totals: {
      conversions: succeeded + failed,
      succeeded,
      failed,
      input_bytes: sum(counters.inputBytes.map(({ bytes }) => bytes)),
      output_bytes: sum(counters.outputBytes.map(({ bytes }) => bytes)),
    },
    queue: { ...queueOf(counters), workers },
    formats: formatRows(counters),
  };
}

function queueOf({ queue, waiting }: Counters): Omit<Statistics['queue'], 'workers'> {
  return {
    ...queue,
    ...(waiting && { waiting: Object.fromEntries(waiting.map(({ reason, count }) => [reason, count])) }),
  };
}

type ConversionRow = Counters['conversions'][number];

function countOf(counters: Counters, isWanted: (row: ConversionRow) => boolean): number {
  return sum(counters.conversions.filter(isWanted).map(({ count }) => count));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Sorted by name, `unknown` last. */
function formatRows(counters: Counters): FormatRow[] {
  const pairs = new Map(counters.conversions.map(({ from, to }) => [`${from}>${to}`, { from, to }]));
  return [...pairs.values()]
    .map(({ from, to }) => formatRow(counters, from, to))
    .sort((a, b) => rank(a) - rank(b) || order(a.from, b.from) || order(a.to, b.to));
}

function rank({ from }: FormatRow): number {
  return from === 'unknown' ? 1 : 0;
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function formatRow(counters: Counters, from: ConversionRow['from'], to: ConversionRow['to']): FormatRow {
  const isPair = (row: ConversionRow): boolean => row.from === from && row.to === to;
  const succeeded = countOf(counters, (row) => isPair(row) && row.state === 'succeeded');
  const failed = countOf(counters, (row) => isPair(row) && row.state === 'failed');
  return {
    from,
    to,
    ...(from === 'unknown' && { label_unknown: true as const }),
    conversions: succeeded + failed,
    succeeded,
    failed,
    input_bytes: sum(counters.inputBytes.filter((row) => row.from === from).map(({ bytes }) => bytes)),
    output_bytes: sum(
      counters.outputBytes.filter((row) => row.from === from && row.to === to).map(({ bytes }) => bytes),
    ),
  };
}
