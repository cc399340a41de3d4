/** `ofd-server convert`: one conversion in the foreground, by the same engine as the service (contract D2). */
import { existsSync, readFileSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ConversionOptions, ProducedFile } from '../convert/converter-types.js';
import { checkOptions, type OptionName } from '../convert/options.js';
import { OutputFiles, pageName } from '../convert/output-files.js';
import type { Diagnostic } from '../display/list.js';
import { ServiceError } from '../errors.js';
import { FORMATS, type Format, type FormatId, formatNamed, formatOfFileName } from '../formats.js';
import { makeFolderSync } from '../make-folder.js';

interface ConvertArguments {
  readonly input: string;
  readonly to: FormatId;
  /** A file for document formats, a folder for page formats, `-` for standard output. */
  readonly output: string;
  readonly options: ConversionOptions;
  readonly fontDirs: readonly string[];
  readonly json: boolean;
}

class UsageError extends Error {}

/** Runs the command with the arguments after `convert`; gives the exit code. */
export async function convertCommand(args: readonly string[]): Promise<number> {
  let parsed: ConvertArguments;
  try {
    parsed = parseConvertArguments(args);
  } catch (error) {
    process.stderr.write(`ofd-server convert: ${(error as Error).message}\n`);
    return 2;
  }
  try {
    const { files, pages, warnings } = await convert(parsed);
    if (parsed.json) printJson(parsed, { ok: true, files, pages, warnings });
    else printWarnings(warnings);
    return 0;
  } catch (error) {
    const failure =
      error instanceof ServiceError
        ? { code: error.code, reason: error.reason ?? 'internal', message: error.message }
        : { code: 'internal_error', reason: 'internal', message: (error as Error).message };
    if (parsed.json) printJson(parsed, { ok: false, ...failure });
    else process.stderr.write(`ofd-server convert: ${failure.message} (${failure.code}, ${failure.reason})\n`);
    return 1;
  }
}

function parseConvertArguments(args: readonly string[]): ConvertArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      to: { type: 'string' },
      output: { type: 'string', short: 'o' },
      pages: { type: 'string' },
      dpi: { type: 'string' },
      width: { type: 'string' },
      height: { type: 'string' },
      background: { type: 'string' },
      quality: { type: 'string' },
      'no-annotations': { type: 'boolean' },
      'fail-on': { type: 'string', multiple: true },
      'font-dir': { type: 'string', multiple: true },
      json: { type: 'boolean' },
    },
  });
  const [input, ...more] = positionals;
  if (input === undefined) throw new UsageError('name the file to convert');
  if (more.length > 0) throw new UsageError(`one file at a time; "${more[0]}" is one too many`);
  const to = outputFormat(values.to, values.output);
  const output = values.output ?? defaultOutput(input, to);
  const isPaged = (FORMATS[to] as Format).paging === 'page';
  if (output === '-' && isPaged) throw new UsageError(`${to} makes a file for each page: give a folder with -o`);
  return {
    input,
    to,
    output,
    options: conversionOptions(values, to),
    fontDirs: values['font-dir'] ?? [],
    json: values.json ?? false,
  };
}

function outputFormat(to: string | undefined, output: string | undefined): FormatId {
  const format = to !== undefined ? formatNamed(to) : output !== undefined ? formatOfFileName(output) : 'pdf';
  if (format !== undefined && (FORMATS[format] as Format).paging !== undefined) return format;
  const outputs = Object.keys(FORMATS).filter((id) => (FORMATS[id as FormatId] as Format).paging !== undefined);
  throw new UsageError(
    to !== undefined
      ? `--to ${to}: no such output format; there are ${outputs.join(' ')}`
      : `-o ${output}: the extension names no output format; add --to (${outputs.join(' ')})`,
  );
}

interface OptionArguments {
  readonly pages?: string | undefined;
  readonly dpi?: string | undefined;
  readonly width?: string | undefined;
  readonly height?: string | undefined;
  readonly background?: string | undefined;
  readonly quality?: string | undefined;
  readonly 'no-annotations'?: boolean | undefined;
  readonly 'fail-on'?: readonly string[] | undefined;
}

const SPELLINGS: Readonly<Partial<Record<OptionName, string>>> = {
  annotations: '--no-annotations',
  failOn: '--fail-on',
};

function conversionOptions(values: OptionArguments, to: FormatId): ConversionOptions {
  const given = {
    pages: values.pages,
    dpi: wholeNumber(values.dpi),
    width: wholeNumber(values.width),
    height: wholeNumber(values.height),
    background: values.background,
    quality: wholeNumber(values.quality),
    annotations: values['no-annotations'] ? false : undefined,
    failOn: values['fail-on']?.flatMap((list) => list.split(',').map((code) => code.trim())),
  };
  return checkOptions(given, to, (name) => SPELLINGS[name] ?? `--${name}`);
}

/** The number that the text is, else the text itself, which no option takes. */
function wholeNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function defaultOutput(input: string, to: FormatId): string {
  const base = input === '-' ? 'output' : basename(input, extname(input));
  return (FORMATS[to] as Format).paging === 'page' ? base : `${base}.${to}`;
}

interface Converted {
  readonly files: readonly string[];
  readonly pages: number;
  readonly warnings: readonly Diagnostic[];
}

async function convert(args: ConvertArguments): Promise<Converted> {
  const input = readInput(args.input);
  const target = openTarget(args);
  const stopListening = discardOnInterrupt(target);
  try {
    const [{ convertOfd }, { systemFontBook }] = await Promise.all([
      import('../convert/engines/ofd.js'),
      import('../fonts/system.js'),
    ]);
    const { pages, warnings } = await convertOfd({
      input,
      to: args.to,
      options: args.options,
      output: target.files,
      fonts: systemFontBook(args.fontDirs),
      onProgress: progressOnTerminal(),
    });
    return { files: target.publish(target.files.finish()), pages, warnings };
  } catch (error) {
    target.discard();
    throw error;
  } finally {
    stopListening();
  }
}

function readInput(path: string): Uint8Array {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    throw new ServiceError('not_found', `${path}: cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Where the files go: under names of their own first, under their right ones when all is done. */
interface Target {
  readonly files: OutputFiles;
  publish(files: readonly ProducedFile[]): readonly string[];
  discard(): void;
}

function openTarget(args: ConvertArguments): Target {
  const isPaged = (FORMATS[args.to] as Format).paging === 'page';
  const output = args.output === '-' ? join(process.env.TMPDIR ?? '/tmp', 'ofd-server') : resolve(args.output);
  const folder = isPaged ? output : dirname(output);
  const isNewFolder = isPaged && !existsSync(folder);
  if (isPaged) makeFolderSync(folder);
  else if (existsSync(output) && statSync(output).isDirectory()) {
    throw new ServiceError('invalid_request', `${args.output} is a folder: ${args.to} makes one file, name it with -o`);
  }
  const temporary = (name: string): string => `.${name}.${process.pid}.part`;
  const files = new OutputFiles(folder, {
    document: () => temporary(basename(output)),
    page: (pageNumber) => temporary(pageName(undefined, pageNumber, args.to)),
  });
  return {
    files,
    publish: (produced) =>
      args.output === '-'
        ? produced.map((file) => sendToStandardOutput(file.path))
        : produced.map((file) => rename(file.path, join(folder, file.name.slice(1, -`.${process.pid}.part`.length)))),
    discard: () => {
      files.discard();
      if (isNewFolder) removeIfEmpty(folder);
    },
  };
}

function rename(from: string, to: string): string {
  renameSync(from, to);
  return to;
}

function sendToStandardOutput(path: string): string {
  process.stdout.write(readFileSync(path));
  rmSync(path);
  return '-';
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else was put there meanwhile: it stays.
  }
}

function discardOnInterrupt(target: Target): () => void {
  const onSignal = (): void => {
    target.discard();
    process.exit(130);
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  return () => process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
}

function progressOnTerminal(): (done: number, total: number) => void {
  if (!process.stderr.isTTY) return () => undefined;
  return (done, total) => process.stderr.write(`\rpage ${done} of ${total}${done === total ? '\n' : ''}`);
}

function printJson(args: ConvertArguments, value: object): void {
  (args.output === '-' ? process.stderr : process.stdout).write(`${JSON.stringify(value)}\n`);
}

function printWarnings(warnings: readonly Diagnostic[]): void {
  for (const { message, page, part } of warnings) {
    const place = [page !== undefined ? `page ${page}` : '', part ?? ''].filter((text) => text !== '').join(', ');
    process.stderr.write(`warning: ${message}${place ? ` (${place})` : ''}\n`);
  }
}
