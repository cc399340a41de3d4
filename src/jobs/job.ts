/** A job and one run of it: what was asked, where it stands, how a run ended. Plain data that may cross threads. */
import type { ErrorCode, FailureReason } from '../errors.js';
import type { FormatId } from '../formats.js';

/**
 * What each state can become:
 *
 *   queued    → running (claim), cancelled (cancel)
 *   running   → succeeded, failed, cancelled (settle); queued (retry, shutdown, crash of the process)
 *   failed    → queued (by hand, where it is a dead letter)
 *   the rest  → nothing: all but the first two are terminal
 */
export const JOB_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

export type JobState = (typeof JOB_STATES)[number];

const TERMINAL_STATES: readonly JobState[] = ['succeeded', 'failed', 'cancelled'];

export function isTerminal(state: JobState): boolean {
  return TERMINAL_STATES.includes(state);
}

/** The pool of workers that runs a job (contract B3): decided by the server at submission, never changed. */
export const LANE_NAMES = ['fast', 'heavy'] as const;

export type LaneName = (typeof LANE_NAMES)[number];

/** Options of a conversion (contract B4) as validated at submission. */
export interface StoredOptions {
  /** Page list such as `1-3,7`. */
  readonly pages?: string;
  /** Dots per inch of raster outputs. */
  readonly dpi?: number;
  /** Pixels of a raster page. */
  readonly width?: number;
  readonly height?: number;
  /** Colour under the page. */
  readonly background?: string;
  readonly quality?: number;
  readonly annotations?: boolean;
  /** Of an encrypted input; never shown. */
  readonly password?: string;
  /** Sheets for inputs that have no pages of their own: `A4`, `210x297`; millimetres; sideways. */
  readonly paper?: string;
  readonly margins?: string;
  readonly landscape?: boolean;
  readonly printBackground?: boolean;
  /** Codes of warnings that make the job fail. */
  readonly failOn?: readonly string[];
}

/** The validated request without the input's bytes: plain JSON, kept with the job, never shown to a client. */
export interface StoredRequest {
  readonly input: {
    readonly kind: 'upload' | 'url';
    readonly fileName?: string | undefined;
    /** What the input is converted as, where that was decided at submission; the claim of `Job.from` may differ. */
    readonly format?: FormatId | undefined;
    readonly url?: string | undefined;
  };
  readonly output: {
    /** A name of the sink table: `stream`, `dir` … */
    readonly kind: string;
    readonly format: FormatId;
    /** As the client wrote it: relative to output_dir, or absolute and inside it. */
    readonly dir?: string | undefined;
    /** Of the remote kinds: a name of the configuration, and a folder below that target's own. */
    readonly remote?: { readonly target: string; readonly path?: string | undefined } | undefined;
    /** Base name of the products, checked at submission. */
    readonly fileName?: string | undefined;
    readonly options: StoredOptions;
  };
  readonly notify?: { readonly target: string; readonly events?: readonly string[] | undefined } | undefined;
  readonly highPriority: boolean;
}

/** The receipt of one delivered file (contract S7). */
export interface Product {
  readonly name: string;
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Where it lies: an absolute path, or the address at the target. Empty for a streamed product. */
  readonly location: string;
  /** The same bytes were there already. */
  readonly reused: boolean;
  /** When it was known to lie there; absent of streams, and in records of earlier versions. */
  readonly deliveredAtMs?: number | undefined;
}

/** Something that was not as it should be in a document that was converted all the same (the shape of contract A7). */
export interface JobWarning {
  readonly code: string;
  readonly message: string;
  readonly page?: number;
  readonly part?: string;
  readonly objectId?: string;
  readonly characters?: string;
}

/** Where the products of a succeeded job went, as a whole. */
export interface JobOutput {
  /** Kind of the sink. */
  readonly kind: string;
  /** The folder of a `dir` job, the file name of a stream. */
  readonly path: string;
  /** Sum over all products. */
  readonly sizeBytes: number;
}

/** What a queued job can wait for: the next run after one that failed, its target to come back. */
export const WAITING_REASONS = ['retry', 'sink_unreachable'] as const;

export type WaitingReason = (typeof WAITING_REASONS)[number];

/** Why a queued job is not run yet, though a worker is free. */
export interface Waiting {
  readonly reason: WaitingReason;
  readonly sinceMs: number;
  readonly nextAttemptAtMs: number;
}

/** One job as the store keeps it. Times are milliseconds since 1970. */
export interface Job {
  /** Nanosecond time of the submission in base36; unique and increasing (contract A6). */
  readonly id: string;
  readonly state: JobState;
  readonly lane: LaneName;
  /** The format that was claimed, else the one decided at submission. */
  readonly from: FormatId | undefined;
  readonly to: FormatId;
  /** Number of the latest run, from 1; 0 before the first. Interrupted runs are numbered too. */
  readonly attempt: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly finishedAtMs: number | undefined;
  /** The format that a worker really opened the input as. */
  readonly fromActual: FormatId | undefined;
  readonly inputBytes: number;
  readonly highPriority: boolean;
  /** Runs inside its own request: never queued, never retried, no notification. */
  readonly isStream: boolean;
  readonly request: StoredRequest;
  readonly output: JobOutput | undefined;
  readonly products: readonly Product[];
  readonly errorCode: ErrorCode | undefined;
  readonly reason: FailureReason | undefined;
  readonly error: string | undefined;
  readonly pages: number | undefined;
  readonly warnings: readonly JobWarning[];
  readonly waiting: Waiting | undefined;
}

/** What a submission says of its job. */
export interface NewJob {
  readonly lane: LaneName;
  readonly from: FormatId | undefined;
  readonly to: FormatId;
  readonly highPriority: boolean;
  readonly request: StoredRequest;
  /** Size of the input as received; 0 for a URL. */
  readonly inputBytes: number;
  readonly createdAtMs: number;
  /** Makes a repeated submission find the first one (contract X2). */
  readonly idempotency?: { readonly key: string; readonly requestHash: string } | undefined;
}

/**
 * One run of a job. Its number is also its token: numbers only grow, every claim gives a new one, and what ends a run is
 * conditional on the job still being in the run of that number.
 */
export interface Attempt {
  readonly job: Job;
  /** Equal to job.attempt. */
  readonly number: number;
  /** Runs of this job that failed before this one; interrupted ones are not among them (contract R4). */
  readonly failedRuns: number;
  /** When the first run that could not reach the target ended; undefined where none has. */
  readonly unreachableSinceMs?: number | undefined;
}

interface Measured {
  readonly fromActual?: FormatId | undefined;
  /** Size on disk of the input that was read; absent where none was. */
  readonly inputBytes?: number | undefined;
  readonly warnings?: readonly JobWarning[] | undefined;
}

/** How a run ended with its products delivered. */
export interface SucceededOutcome extends Measured {
  readonly kind: 'succeeded';
  readonly fromActual: FormatId;
  readonly output: JobOutput;
  readonly products: readonly Product[];
  readonly pages: number;
}

interface Fault extends Measured {
  readonly errorCode: ErrorCode;
  readonly reason?: FailureReason | undefined;
  readonly error: string;
  /** The conversion had made its products: what failed is the delivery. */
  readonly cameToDeliver?: boolean | undefined;
}

/** The job ends here. */
export interface FailedOutcome extends Fault {
  readonly kind: 'failed';
}

/** The run failed, the job is queued again and runs at `runAtMs` at the earliest. */
export interface RetryOutcome extends Fault {
  readonly kind: 'retry';
  readonly runAtMs: number;
  readonly waitingReason: WaitingReason;
  /** For the next attempt; also `waiting.since` where the target is what is waited for. */
  readonly unreachableSinceMs?: number | undefined;
}

/** Somebody wanted it no more. Not counted among the conversions. */
export interface CancelledOutcome extends Measured {
  readonly kind: 'cancelled';
  readonly error?: string | undefined;
}

/** How a run ended that had products to deliver. */
export type DeliveryOutcome = 'delivered' | 'unreachable' | 'refused' | 'full' | 'conflict' | 'mismatch';

export type Outcome = SucceededOutcome | FailedOutcome | RetryOutcome | CancelledOutcome;

/**
 * The id of a job submitted at `nowMs`: its nanosecond time in base36, at least one more than the last id, so that ids
 * stay unique and increasing within one nanosecond and after the clock stepped back.
 * @param lastId the newest id ever given out, or undefined
 * @param subMillisecondNs 0…999,999, the part that `nowMs` cannot tell
 */
export function nextJobId(nowMs: number, subMillisecondNs: number, lastId: string | undefined): string {
  const wanted = BigInt(Math.trunc(nowMs)) * 1_000_000n + BigInt(subMillisecondNs);
  const floor = lastId === undefined ? 0n : parseBase36(lastId) + 1n;
  return idAt(wanted > floor ? wanted : floor);
}

/** Digits of every id from 1974 to 2119: those before are filled up, so that the order of the texts is that of time. */
const ID_DIGITS = 12;

/** The id of a nanosecond since 1970. */
export function idAt(nanoseconds: bigint): string {
  return nanoseconds.toString(36).padStart(ID_DIGITS, '0');
}

function parseBase36(text: string): bigint {
  let value = 0n;
  for (const digit of text) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  return value;
}
