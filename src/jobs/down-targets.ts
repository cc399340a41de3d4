/**
 * Remote targets that do not answer (contract R4). Each run that finds its target silent holds a worker until the target's
 * time is up; so that these do not hold the whole lane, one run at a time goes to such a target, and then none for as long
 * as that run took: it costs half a worker at most. The first run that is answered lets all its jobs go on.
 */
import type { ErrorCode } from '../errors.js';
import type { Attempt, Job, Outcome } from './job.js';
import { LONGEST_WAIT_MS } from './retry.js';

/** Where a job's products go, as claims tell it apart: `kind/target` of remote kinds, else the kind. */
export function placeOf({ request: { output } }: Pick<Job, 'request'>): string {
  return output.remote ? `${output.kind}/${output.remote.target}` : output.kind;
}

interface Down {
  readonly sinceMs: number;
  /** Until then no run goes there. */
  nextRunAtMs: number;
  /** The run that goes there now, or the claim that may bring one. */
  probe: string | Turn | undefined;
}

/** One claim: what it leaves alone. `end` is called with what it has brought. */
export interface Turn {
  /** Places whose jobs wait on. */
  readonly exceptPlaces: readonly string[];
  end(attempt: Attempt | undefined): void;
}

export interface DownTargetsOptions {
  /** A target has fallen silent, or answers again. */
  readonly onChange?: (place: string, isDown: boolean) => void;
}

export class DownTargets {
  readonly #down = new Map<string, Down>();
  readonly #options: DownTargetsOptions;

  constructor(options: DownTargetsOptions = {}) {
    this.#options = options;
  }

  /** The places, and since when they are silent (milliseconds since 1970). */
  list(): readonly { readonly place: string; readonly sinceMs: number }[] {
    return [...this.#down].map(([place, { sinceMs }]) => ({ place, sinceMs }));
  }

  /** To be asked before each claim. */
  turn(nowMs: number): Turn {
    const exceptPlaces: string[] = [];
    const offered: Down[] = [];
    for (const [place, down] of this.#down) {
      // A clock that was set back must not make it wait for longer than any wait is.
      const mustWait = nowMs < down.nextRunAtMs && down.nextRunAtMs <= nowMs + LONGEST_WAIT_MS;
      if (down.probe !== undefined || mustWait) exceptPlaces.push(place);
      else offered.push(down);
    }
    const turn: Turn = {
      exceptPlaces,
      end: (attempt) => {
        const taken = attempt && this.#down.get(placeOf(attempt.job));
        for (const down of offered) if (down.probe === turn) down.probe = down === taken ? attempt?.job.id : undefined;
      },
    };
    for (const down of offered) down.probe = turn;
    return turn;
  }

  /** A run that a claim had brought has ended. */
  runEnded({ job }: Attempt, outcome: Outcome, tookMs: number, nowMs: number): void {
    if (!job.request.output.remote) return;
    const place = placeOf(job);
    const down = this.#down.get(place);
    if (down?.probe === job.id) down.probe = undefined;
    const wasAnswered = answered(outcome);
    if (wasAnswered === undefined) return;
    if (wasAnswered) {
      if (this.#down.delete(place)) this.#options.onChange?.(place, false);
      return;
    }
    const nextRunAtMs = nowMs + Math.min(tookMs, LONGEST_WAIT_MS);
    if (down) down.nextRunAtMs = Math.max(down.nextRunAtMs, nextRunAtMs);
    else {
      this.#down.set(place, { sinceMs: nowMs, nextRunAtMs, probe: undefined });
      this.#options.onChange?.(place, true);
    }
  }
}

/** Whether the target was there; undefined where the run does not tell. */
function answered(outcome: Outcome): boolean | undefined {
  if (outcome.kind === 'succeeded') return true;
  if (outcome.kind === 'cancelled' || !outcome.cameToDeliver) return undefined;
  return ANSWERED_BY_CODE[outcome.errorCode];
}

const ANSWERED_BY_CODE: Readonly<Partial<Record<ErrorCode, boolean>>> = {
  sink_unreachable: false,
  // A run whose time was up while it delivered has waited as well.
  conversion_timeout: false,
  sink_refused: true,
  conflict: true,
  checksum_mismatch: true,
  insufficient_storage: true,
};
