/** The table `counters`, apart from jobs because retention removes jobs and a counter must never fall. */
import type { ErrorCode } from '../errors.js';
import type { DeliveryOutcome, Outcome } from './job.js';
import type { JobRow } from './rows.js';
import type { Statements } from './statements.js';
import type { StoreCounters } from './store.js';

interface CounterRow {
  readonly from_format: string;
  readonly to_format: string;
  readonly state: string;
  readonly value: number;
}

const OUTCOME_OF_CODE: Readonly<Partial<Record<ErrorCode, DeliveryOutcome>>> = {
  sink_unreachable: 'unreachable',
  sink_refused: 'refused',
  conflict: 'conflict',
  checksum_mismatch: 'mismatch',
};

/** Undefined where the run did not come to deliver. */
export function deliveryOutcomeOf(outcome: Outcome): DeliveryOutcome | undefined {
  if (outcome.kind === 'succeeded') return 'delivered';
  if (outcome.kind === 'cancelled') return undefined;
  // Space can be short before the delivery as well.
  if (outcome.errorCode === 'insufficient_storage') return outcome.cameToDeliver ? 'full' : undefined;
  return OUTCOME_OF_CODE[outcome.errorCode];
}

export class CounterTable {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Counts a job that has just succeeded or failed. */
  countConversion(row: JobRow): void {
    const from = row.from_actual ?? 'unknown';
    this.#add('conversions', from, row.to_format, row.state, 1);
    this.#add('input_bytes', from, '', '', row.input_bytes);
    if (row.output_bytes !== null) this.#add('output_bytes', from, row.to_format, '', row.output_bytes);
  }

  /** Counts a notification that has just come to an end. */
  countNotification(outcome: string): void {
    this.#add('notifications', '', '', outcome, 1);
  }

  /** Counts a run of an asynchronous job that came to deliver, and what became of that. */
  countDelivery(kind: string, outcome: DeliveryOutcome): void {
    this.#add('deliveries', kind, '', outcome, 1);
  }

  #add(name: string, from: string, to: string, state: string, amount: number): void {
    this.#statements
      .sql(
        `INSERT INTO counters VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (name, from_format, to_format, state) DO UPDATE SET value = value + excluded.value`,
      )
      .run(name, from, to, state, amount);
  }

  /** The columns hold what the methods above put there: names of formats and states. */
  read(): StoreCounters {
    return {
      conversions: this.#rows('conversions').map((row) => ({
        from: row.from_format as StoreCounters['conversions'][number]['from'],
        to: row.to_format as StoreCounters['conversions'][number]['to'],
        state: row.state as 'succeeded' | 'failed',
        count: row.value,
      })),
      inputBytes: this.#rows('input_bytes').map((row) => ({
        from: row.from_format as StoreCounters['inputBytes'][number]['from'],
        bytes: row.value,
      })),
      outputBytes: this.#rows('output_bytes').map((row) => ({
        from: row.from_format as StoreCounters['outputBytes'][number]['from'],
        to: row.to_format as StoreCounters['outputBytes'][number]['to'],
        bytes: row.value,
      })),
      notifications: this.#rows('notifications').map((row) => ({
        outcome: row.state as StoreCounters['notifications'][number]['outcome'],
        count: row.value,
      })),
      deliveries: this.#rows('deliveries').map((row) => ({
        kind: row.from_format,
        outcome: row.state as DeliveryOutcome,
        count: row.value,
      })),
    };
  }

  #rows(name: string): CounterRow[] {
    return this.#statements
      .sql('SELECT from_format, to_format, state, value FROM counters WHERE name = ? ORDER BY 1, 2, 3')
      .all(name) as CounterRow[];
  }
}
