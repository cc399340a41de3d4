/** Where products go: the interface of every sink, and what all kinds share. A sink never tries again; the lane does. */
import type { Readable } from 'node:stream';
import type { RemoteTarget } from './remote/target.js';

/** A file made by a conversion, with the digest of the bytes as they were written. */
export interface SinkFile {
  readonly name: string;
  /** Where it lies now, in the attempt's workspace. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** What is known of one delivered file (contract S7). */
export interface Receipt {
  readonly name: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  /** Absolute path, or address at the target; empty for a stream. */
  readonly location: string;
  /** The same bytes were there already. */
  readonly reused: boolean;
  /** When it was known to lie there, in milliseconds since 1970; absent of a stream. */
  readonly deliveredAtMs?: number;
}

export interface Delivery {
  readonly output: { readonly kind: string; readonly path: string; readonly sizeBytes: number };
  readonly receipts: readonly Receipt[];
}

/** Opened for one attempt. */
export interface Sink {
  /** Largest product it takes, in bytes; the conversion stops there too (contract S4). No limit where absent. */
  readonly maxBytes?: number;
  /**
   * Delivers all files. On a failure a local sink takes away again what this call had put there; a remote one keeps the
   * files that are complete, for the next attempt to go on from, and removes half ones.
   * @throws ServiceError: conflict, checksum_mismatch, insufficient_storage, unavailable, invalid_request, output_too_large,
   *   sink_unreachable, sink_refused, unknown_remote_target, internal_error, or the reason of the signal
   * @param onAlive called while bytes move, so that a long delivery can be told from one that hangs
   */
  deliver(files: readonly SinkFile[], signal: AbortSignal, onAlive: () => void): Promise<Delivery>;
}

/** What a request says of the place. Each kind reads its own part. */
export interface Destination {
  /** Of kind `dir`: under output_dir, relative, or absolute and inside. */
  readonly dir?: string | undefined;
  /** Of the remote kinds. */
  readonly remote?: { readonly target?: string | undefined; readonly path?: string | undefined } | undefined;
}

/** What the configuration says of the place. */
export interface SinkSettings {
  readonly outputDir: string;
  /** The configured remote targets; none where absent. */
  readonly targets?: RemoteTargetBook | undefined;
  /** Absent where nothing is kept between the attempts of a job. */
  readonly ledger?: UploadLedger | undefined;
}

/** Finds a remote target by the word of `output.kind` and its name in the configuration. */
export interface RemoteTargetBook {
  named(kind: string, name: string): RemoteTarget | undefined;
}

/** What a job has planned to put at a remote target, and whether it is known to have arrived. */
export interface UploadRecord {
  readonly name: string;
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly location: string;
  readonly isDelivered: boolean;
}

/**
 * The uploads of each job, kept with its record (contract S3, X3): by them a later attempt knows its own files at the
 * target from anybody else's. There is one record for each name of a job.
 */
export interface UploadLedger {
  /** What earlier attempts of the job have planned. */
  planned(jobId: string): Promise<readonly UploadRecord[]>;
  /**
   * Written before the first byte goes out. A record of the same name, size, sha256 and location stays as it is; any other
   * of the same name gives way to the new one, which is not delivered.
   */
  plan(jobId: string, files: readonly Omit<UploadRecord, 'isDelivered'>[]): Promise<void>;
  /** The file stands at the target, whole, under its name. */
  delivered(jobId: string, receipt: Receipt): Promise<void>;
}

/** The run that delivers. */
export interface SinkOwner {
  readonly jobId: string;
  readonly attempt: number;
}

/** A protocol; a row of the table in sinks/index.ts. */
export interface SinkKind {
  /** The word of `output.kind`. */
  readonly kind: string;
  /**
   * What can be known of a destination at submission. Throws ServiceError `invalid_request` or `unknown_remote_target`.
   * Touches neither disk nor network.
   */
  check(destination: Destination, settings: SinkSettings): void;
  /**
   * What the disk tells of a destination at submission; the delivery looks again. Throws ServiceError `invalid_request`.
   */
  inspect?(destination: Destination, settings: SinkSettings): Promise<void>;
  open(owner: SinkOwner, destination: Destination, settings: SinkSettings): Sink;
  /**
   * Removes what interrupted runs of a job left half done, but for what is complete. Called at start, while no run of it
   * is in progress.
   */
  sweep?(jobId: string, destination: Destination, settings: SinkSettings): Promise<void>;
}

/** The product of a synchronous conversion, ready to be sent; whoever takes it reads it to its end or destroys it. */
export interface StreamedProduct {
  readonly name: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly body: Readable;
}

export function totalBytes(files: readonly { readonly sizeBytes: number }[]): number {
  return files.reduce((sum, file) => sum + file.sizeBytes, 0);
}
