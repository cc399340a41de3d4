/**
 * The story of one attempt, top to bottom: input into a private directory, conversion, delivery, and how it ended. The
 * lanes and the stream requests both come through here.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConversionResult, ConversionTask, Converter } from './convert/converter-types.js';
import { inWorkspace } from './convert/workspace.js';
import { type ErrorCode, ServiceError } from './errors.js';
import type { FormatId } from './formats.js';
import { fetchInput } from './input.js';
import type { ActiveRuns, Run } from './jobs/active-runs.js';
import type { AttemptLogs } from './jobs/attempt-log.js';
import type { Attempt, Job, Outcome, SucceededOutcome } from './jobs/job.js';
import type { JobStore, KeptInput } from './jobs/store.js';
import type { Sink, SinkSettings, StreamedProduct } from './transfer/sink.js';
import { sinkKindNamed } from './transfer/sinks/index.js';
import { StreamSink } from './transfer/sinks/stream.js';
import type { UrlSourceSettings } from './transfer/sources/url.js';

export interface AttemptServices {
  readonly store: Pick<JobStore, 'input' | 'settle'>;
  readonly converter: Converter;
  /** Where what the engines print is kept. */
  readonly logs: AttemptLogs;
  /** Where the runs of streams are found by whoever wants to stop one. */
  readonly runs: ActiveRuns;
  /** workspaceRoot() of convert/workspace.ts, swept at start. */
  readonly workspaceRoot: string;
  readonly sinks: SinkSettings;
  /** How documents are fetched from their addresses. */
  readonly urls: UrlSourceSettings;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** An error that is a fault of this program or of its machine: for the log, under the job's id. */
  readonly onFault?: (error: unknown, job: Job) => void;
}

/** What an attempt has found out by the time it fails. */
interface Known {
  inputBytes?: number;
  fromActual?: FormatId;
  result?: ConversionResult;
}

/** One run of a queued job; what a Lane calls. Never rejects: however it ends is its outcome. */
export function runAttempt(run: Run, services: AttemptServices): Promise<Outcome> {
  return outcomeOf(run, services, async (known) => {
    const { job, number } = run.attempt;
    const { output } = job.request;
    const row = sinkKindNamed(output.kind);
    if (!row) throw new ServiceError('internal_error', `There is no sink for output.kind "${output.kind}"`);
    const sink = row.open({ jobId: job.id, attempt: number }, output, services.sinks);
    const input = await services.store.input(job.id);
    return convertAndDeliver(run, { input, sink }, services, known);
  });
}

/**
 * The run of a stream, inside its request: settles the job as well.
 * @param attempt from JobStore.begin
 * @param input the request's own; a file stays the caller's. undefined where the job has a URL
 * @param maxBytes largest product (`max_stream_bytes`)
 * @param signal the client's: aborted with the ServiceError that the run shall end with
 * @returns the product, which outlives the workspace; the caller sends its body or destroys it
 * @throws ServiceError, as it is to be answered; the job has been settled with it
 */
export async function runStream(
  attempt: Attempt,
  input: KeptInput | undefined,
  maxBytes: number,
  services: AttemptServices,
  signal: AbortSignal,
): Promise<StreamedProduct & { readonly warningCount: number }> {
  const sink = new StreamSink();
  const run = services.runs.start(attempt);
  const onAbort = (): void => run.stop(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (signal.aborted) onAbort();
    const outcome = await outcomeOf(run, services, (known) =>
      convertAndDeliver(run, { input, sink, maxBytes }, services, known),
    );
    run.finish();
    await services.store.settle(attempt, outcome, services.now());
    if (outcome.kind !== 'succeeded') throw answerTo(outcome, run.signal);
    return { ...sink.take(), warningCount: outcome.warnings?.length ?? 0 };
  } catch (error) {
    sink.discard();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    services.runs.end(run);
  }
}

interface Work {
  /** undefined where it is to be fetched from a URL. */
  readonly input: KeptInput | undefined;
  readonly sink: Sink;
  readonly maxBytes?: number;
}

async function convertAndDeliver(
  run: Run,
  work: Work,
  services: AttemptServices,
  known: Known,
): Promise<SucceededOutcome> {
  const { attempt, signal } = run;
  const { job } = attempt;
  return inWorkspace(services.workspaceRoot, `${job.id}-${attempt.number}`, async (directory) => {
    const { path: inputPath, from } = await fetchInput(job, work.input, directory, services.urls, {
      signal,
      onAlive: () => run.alive(),
      onSize: (sizeBytes) => {
        known.inputBytes = sizeBytes;
      },
    });
    run.alive();
    const outputDirectory = join(directory, 'products');
    await mkdir(outputDirectory, { mode: 0o700 });
    const scratchDirectory = join(directory, 'scratch');
    await mkdir(scratchDirectory, { mode: 0o700 });
    const directories = { outputDirectory, scratchDirectory };
    const log = services.logs.start(job.id, attempt.number);
    const task = taskOf(job, from, inputPath, directories, work.maxBytes ?? work.sink.maxBytes);
    // Whoever listens from here on for an abort must not have missed it.
    signal.throwIfAborted();
    // The converter comes back when every process of its engines has ended: nothing prints after that.
    const result = await services.converter
      .run(task, {
        signal,
        log: (bytes) => log.write(bytes),
        onAlive: () => run.alive(),
        onOpened: (format) => {
          known.fromActual = format;
          run.alive();
        },
        onProgress: (done, total) => run.advance({ done, total }),
      })
      .finally(() => log.close());
    known.result = result;
    const delivery = await work.sink.deliver(result.files, signal, () => run.alive());
    return {
      kind: 'succeeded',
      fromActual: result.fromActual,
      inputBytes: known.inputBytes ?? 0,
      output: delivery.output,
      products: delivery.receipts,
      pages: result.pages,
      warnings: result.warnings,
    };
  });
}

function taskOf(
  job: Job,
  from: FormatId | undefined,
  inputPath: string,
  directories: Pick<ConversionTask, 'outputDirectory' | 'scratchDirectory'>,
  maxBytes: number | undefined,
): ConversionTask {
  const { fileName, options } = job.request.output;
  return {
    inputPath,
    from,
    to: job.to,
    options,
    ...directories,
    baseName: fileName,
    ...(maxBytes !== undefined && { maxOutputBytes: maxBytes }),
  };
}

/** Runs `work` and turns whatever it throws into an outcome, with what was known by then. */
async function outcomeOf(
  run: Run,
  services: AttemptServices,
  work: (known: Known) => Promise<SucceededOutcome>,
): Promise<Outcome> {
  const known: Known = {};
  const { signal } = run;
  try {
    return await work(known);
  } catch (error) {
    const fault = faultOf(signal.aborted ? signal.reason : error);
    if (fault.code === 'internal_error') services.onFault?.(error, run.attempt.job);
    const measured = {
      fromActual: known.fromActual ?? known.result?.fromActual,
      inputBytes: known.inputBytes,
      warnings: known.result?.warnings,
    };
    return STOPPED.has(fault.code)
      ? { ...measured, kind: 'cancelled', error: fault.message }
      : {
          ...measured,
          kind: 'failed',
          errorCode: fault.code,
          // What the client can mend carries its code alone: "internal" is for faults of this side.
          reason: fault.reason ?? (fault.status < 500 ? undefined : 'internal'),
          error: fault.message,
          cameToDeliver: known.result !== undefined,
        };
  }
}

/** Codes of a run that nobody waits for any more; the lane knows which of them to queue again. */
const STOPPED: ReadonlySet<ErrorCode> = new Set(['cancelled', 'shutting_down']);

function faultOf(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code, name } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') return new ServiceError('cancelled', 'The conversion was cancelled', { cause: error });
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ServiceError('insufficient_storage', `No space left in temp_dir (${code})`, { cause: error });
  }
  return new ServiceError('internal_error', 'Internal error: the log names the cause under this job', { cause: error });
}

/** What a stream's client is told. */
function answerTo(outcome: Exclude<Outcome, SucceededOutcome>, signal: AbortSignal): ServiceError {
  if (signal.reason instanceof ServiceError) return signal.reason;
  if (outcome.kind === 'cancelled')
    return new ServiceError('cancelled', outcome.error ?? 'The conversion was cancelled');
  const { errorCode, error, reason } = outcome;
  return new ServiceError(errorCode, error, { ...(reason !== undefined && { reason }) });
}
