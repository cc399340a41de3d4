/** Where products go: the interface of every sink, and what all kinds share. A sink never tries again; the lane does. */
import type { Readable } from 'node:stream';

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
}

export interface Delivery {
  readonly output: { readonly kind: string; readonly path: string; readonly sizeBytes: number };
  readonly receipts: readonly Receipt[];
}

/** Opened for one attempt. */
export interface Sink {
  /**
   * Delivers all files or, on any failure, none of them: what this call had put there is taken away again.
   * @throws ServiceError: conflict, checksum_mismatch, insufficient_storage, unavailable, invalid_request, internal_error, or the
   *   reason of the signal
   * @param onAlive called while bytes move, so that a long delivery can be told from one that hangs
   */
  deliver(files: readonly SinkFile[], signal: AbortSignal, onAlive: () => void): Promise<Delivery>;
}

/** What a request says of the place. Each kind reads its own part. */
export interface Destination {
  /** Of kind `dir`: under output_dir, relative, or absolute and inside. */
  readonly dir?: string | undefined;
}

/** What the configuration says of the place. */
export interface SinkSettings {
  readonly outputDir: string;
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
  /** What can be known of a destination at submission. Throws ServiceError `invalid_request`. Touches no disk. */
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
