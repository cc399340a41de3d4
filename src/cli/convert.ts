/** `ofd-server convert`: one conversion in the foreground, by the same engine as the service (contract D2). */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { ConversionOptions, ConversionResult } from '../convert/converter-types.js';
import { checkOptions, OptionError, type Pair } from '../convert/options.js';
import type { Diagnostic } from '../display/list.js';
import { ServiceError } from '../errors.js';
import {
  type AnswerForm,
  answerForm,
  CONVERT_USAGE,
  type ConvertArguments,
  inFlags,
  parseConvertArguments,
  spell,
  UsageError,
} from './convert-arguments.js';
import { openTarget, type Target } from './convert-target.js';

/** What an interrupted conversion gets to end in order. */
const INTERRUPT_MS = 500;

/** Runs the command with the arguments after `convert`; gives the exit code. */
export async function convertCommand(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(CONVERT_USAGE);
    return 0;
  }
  const form = answerForm(args);
  try {
    const parsed = parseConvertArguments(args);
    const { files, pages, warnings } = await convert(parsed);
    if (form.json) printJson(form, { ok: true, files, pages, warnings: warnings.map(warningAnswer) });
    else printResult(files, warnings);
    return 0;
  } catch (error) {
    return fail(error as Error, form);
  }
}

/** Says what went wrong; gives the exit code. */
function fail(error: Error, form: AnswerForm): number {
  const isUsage = error instanceof UsageError;
  const failure = isUsage
    ? { code: 'invalid_request', message: error.message }
    : error instanceof ServiceError
      ? { code: error.code, reason: error.reason, message: inFlags(error.message) }
      : { code: 'internal_error', reason: 'internal', message: error.message };
  if (form.json) printJson(form, { ok: false, ...failure });
  else {
    const codes = isUsage ? '' : ` (${[failure.code, failure.reason].filter(Boolean).join(', ')})`;
    process.stderr.write(`ofd-server convert: ${failure.message}${codes}\n`);
  }
  return isUsage ? 2 : 1;
}

interface Converted {
  readonly files: readonly string[];
  readonly pages: number;
  readonly warnings: readonly Diagnostic[];
}

async function convert(args: ConvertArguments): Promise<Converted> {
  const scratch = makeScratch();
  try {
    return await convertTo(openTarget(args, scratch), args, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A private folder. */
function makeScratch(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'ofd-server-'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`no temporary folder can be made in ${tmpdir()} (${code}); set TMPDIR to one that takes it`, {
      cause: error,
    });
  }
}

async function convertTo(target: Target, args: ConvertArguments, scratch: string): Promise<Converted> {
  const interruption = new AbortController();
  const running = convertFile(args, target, scratch, interruption.signal).then(
    async ({ files, pages, warnings }): Promise<Converted> => ({ files: await target.publish(files), pages, warnings }),
  );
  const stopListening = onInterrupt(async () => {
    interruption.abort(new ServiceError('cancelled', 'Interrupted'));
    // Not before the thread has ended, which may be writing a file.
    const isOver = await isSettled(running, INTERRUPT_MS);
    target.discard();
    rmSync(scratch, { recursive: true, force: true });
    return isOver;
  });
  try {
    return await running;
  } finally {
    stopListening();
    target.discard();
  }
}

async function convertFile(
  args: ConvertArguments,
  target: Target,
  scratch: string,
  signal: AbortSignal,
): Promise<ConversionResult> {
  const [{ openEngines }, { readInputFile }] = await Promise.all([import('./engines.js'), import('./input.js')]);
  const { inputPath, from } = await readInputFile(args.input, args.from, scratch, signal);
  checkPair(args.options, { from, to: args.to });
  const { converter, close } = openEngines(args.fontDirs, args.programs, scratch);
  try {
    const scratchDirectory = join(scratch, 'work');
    mkdirSync(scratchDirectory);
    const { to, options } = args;
    const { folder: outputDirectory, baseName } = target;
    return await converter.run(
      { inputPath, from, to, options, outputDirectory, scratchDirectory, baseName, pagesField: '--pages' },
      { signal, onProgress: progressOnTerminal() },
    );
  } finally {
    await close();
  }
}

/** Whether the options fit the input is known when it has been looked at. */
function checkPair(options: ConversionOptions, pair: Pair): void {
  try {
    checkOptions(options, pair, spell);
  } catch (error) {
    throw error instanceof OptionError ? new ServiceError('invalid_request', error.message, { cause: error }) : error;
  }
}

/** @param stop gives whether everything has ended */
function onInterrupt(stop: () => Promise<boolean>): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    void stop().then((isOver) => {
      if (isOver) process.exit(130);
      // A call into a library cannot be broken off, and an orderly exit would wait for it: the signal's own way does not.
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  return () => process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
}

/** Whether it ends, one way or the other, within the time. */
async function isSettled(running: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, timeoutMs, false).unref());
  const settled = running.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]);
}

function progressOnTerminal(): (done: number, total: number) => void {
  if (!process.stderr.isTTY) return () => undefined;
  return (done, total) => process.stderr.write(`\rpage ${done} of ${total}${done === total ? '\n' : ''}`);
}

function printJson(form: AnswerForm, value: object): void {
  (form.isBesideProduct ? process.stderr : process.stdout).write(`${JSON.stringify(value)}\n`);
}

/** As the service writes it. */
function warningAnswer({ objectId, ...warning }: Diagnostic): object {
  return { ...warning, object_id: objectId };
}

/** On standard error, so that a product on standard output stays alone. */
function printResult(files: readonly string[], warnings: readonly Diagnostic[]): void {
  for (const file of files) if (file !== '-') process.stderr.write(`wrote ${relative('', file)}\n`);
  for (const { message, page, part } of warnings) {
    const place = [page !== undefined ? `page ${page}` : '', part ?? ''].filter((text) => text !== '').join(', ');
    process.stderr.write(`warning: ${message}${place ? ` (${place})` : ''}\n`);
  }
}
