/** `ofd-server convert`: one conversion in the foreground, by the same engine as the service (contract D2). */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ConversionOptions, ConversionResult, ProducedFile } from '../convert/converter-types.js';
import { checkOptions, OptionError, type OptionName, type Pair, wireNameOf } from '../convert/options.js';
import type { Diagnostic } from '../display/list.js';
import { ServiceError } from '../errors.js';
import { FORMAT_IDS, FORMATS, type Format, type FormatId, formatNamed, formatOfFileName } from '../formats.js';
import { makeFolderSync } from '../make-folder.js';
import type { ProgramPaths } from './engines.js';

interface ConvertArguments {
  readonly input: string;
  /** Of the input; what its name and its content tell where absent. */
  readonly from: FormatId | undefined;
  readonly to: FormatId;
  /** A file for document formats, a folder for page formats, `-` for standard output. */
  readonly output: string;
  readonly options: ConversionOptions;
  readonly fontDirs: readonly string[];
  readonly programs: ProgramPaths;
  readonly json: boolean;
}

class UsageError extends Error {}

/** What an interrupted conversion gets to end in order. */
const INTERRUPT_MS = 500;

const OUTPUT_FORMATS = FORMAT_IDS.filter((format) => pagingOf(format) !== undefined);
const PAGED_FORMATS = OUTPUT_FORMATS.filter((format) => pagingOf(format) === 'page');

export const CONVERT_USAGE = `ofd-server convert IN [--to FORMAT] [-o OUT] [options]

  IN, OUT             files; "-" is standard input or output. OUT is replaced where it exists
  --from FORMAT       of IN; without it, what its extension and its content say
  --to FORMAT         ${OUTPUT_FORMATS.join(' ')}; without it, what OUT's extension says, else pdf.
                      ${PAGED_FORMATS.join(' ')} make a file for each page: OUT is a folder, or a name such as
                      a.png, from which a-0001.png, a-0002.png … are made where there is more than one page
  --pages LIST        such as 1-3,7 or 5-
  --dpi N             36 to 600 (150)                             png jpeg webp
  --width N --height N   pixels of a page                         png jpeg webp
  --background COLOUR    #rrggbb, #rrggbbaa or transparent        png jpeg webp svg
  --quality N         1 to 100 (85)                               jpeg webp
  --no-annotations    leaves out what annotations draw        of ofd pdf
  --password P        of an encrypted PDF or Office document
  --paper SIZE        A3 A4 A5 B4 B5 Letter Legal Tabloid, or 210x297 (mm)   of html mhtml md
  --margins MM        20, or top,right,bottom,left                of html mhtml md
  --landscape         lays the paper on its side                  of html mhtml md
  --no-background     leaves backgrounds out                      of html mhtml md
  --fail-on CODES     warnings that make the conversion fail, such as glyph_missing,image_missing
  --font-dir DIR      fonts that come before those of the system; may be given several times
  --soffice-path P --chrome-path P   programs for Office files and HTML; found in PATH where absent
  --chrome-no-sandbox    starts Chromium without its sandbox, as containers and root need it
  --json              one line of JSON at the end: files, pages, warnings; or code, reason, message

  Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted
`;

/** Runs the command with the arguments after `convert`; gives the exit code. */
export async function convertCommand(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(CONVERT_USAGE);
    return 0;
  }
  let parsed: ConvertArguments;
  try {
    parsed = parseConvertArguments(args);
  } catch (error) {
    process.stderr.write(`ofd-server convert: ${(error as Error).message}\n`);
    return 2;
  }
  try {
    const { files, pages, warnings } = await convert(parsed);
    if (parsed.json) printJson(parsed, { ok: true, files, pages, warnings: warnings.map(warningAnswer) });
    else printResult(files, warnings);
    return 0;
  } catch (error) {
    const failure =
      error instanceof ServiceError
        ? { code: error.code, reason: error.reason, message: error.message }
        : { code: 'internal_error', reason: 'internal', message: (error as Error).message };
    if (parsed.json) printJson(parsed, { ok: false, ...failure });
    else
      process.stderr.write(
        `ofd-server convert: ${failure.message} (${[failure.code, failure.reason].filter(Boolean).join(', ')})\n`,
      );
    return 1;
  }
}

function parseConvertArguments(args: readonly string[]): ConvertArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      output: { type: 'string', short: 'o' },
      pages: { type: 'string' },
      dpi: { type: 'string' },
      width: { type: 'string' },
      height: { type: 'string' },
      background: { type: 'string' },
      quality: { type: 'string' },
      'no-annotations': { type: 'boolean' },
      password: { type: 'string' },
      paper: { type: 'string' },
      margins: { type: 'string' },
      landscape: { type: 'boolean' },
      'no-background': { type: 'boolean' },
      'fail-on': { type: 'string', multiple: true },
      'font-dir': { type: 'string', multiple: true },
      'soffice-path': { type: 'string' },
      'chrome-path': { type: 'string' },
      'chrome-no-sandbox': { type: 'boolean' },
      json: { type: 'boolean' },
    },
  });
  const [input, ...more] = positionals;
  if (input === undefined) throw new UsageError('name the file to convert');
  if (more.length > 0) throw new UsageError(`one file at a time; "${more[0]}" is one too many`);
  const to = outputFormat(values.to, values.output);
  const from = inputFormat(values.from);
  const output = values.output ?? defaultOutput(input, to);
  checkOutput(output, to);
  return {
    input,
    from,
    to,
    output,
    options: conversionOptions(values, { from, to }),
    fontDirs: values['font-dir'] ?? [],
    programs: {
      sofficePath: values['soffice-path'] ?? '',
      chromePath: values['chrome-path'] ?? '',
      chromeNoSandbox: values['chrome-no-sandbox'] ?? process.getuid?.() === 0,
    },
    json: values.json ?? false,
  };
}

function pagingOf(format: FormatId): Format['paging'] {
  return (FORMATS[format] as Format).paging;
}

/** What can be known of the place before anything is converted. */
function checkOutput(output: string, to: FormatId): void {
  const isPaged = pagingOf(to) === 'page';
  if (output === '-') {
    if (isPaged) throw new UsageError(`${to} makes a file for each page: give a folder with -o`);
    return;
  }
  const kind = statSync(output, { throwIfNoEntry: false });
  if (isPaged && !namesPages(output, to)) {
    if (kind && !kind.isDirectory()) throw new UsageError(`-o ${output} is a file: ${to} makes a file for each page`);
    return;
  }
  if (kind?.isDirectory()) throw new UsageError(`-o ${output} is a folder: ${to} makes one file, name it`);
  if (!existsSync(dirname(resolve(output)))) throw new UsageError(`-o ${output}: that folder does not exist`);
}

/** Whether OUT names the files of the pages (`a.png`) and not the folder that they are put in. */
function namesPages(output: string, to: FormatId): boolean {
  return formatOfFileName(output) === to && !statSync(output, { throwIfNoEntry: false })?.isDirectory();
}

function inputFormat(from: string | undefined): FormatId | undefined {
  const format = from === undefined ? undefined : formatNamed(from);
  if (from === undefined || format !== undefined) return format;
  throw new UsageError(`--from ${from}: no such format; there are ${FORMAT_IDS.join(' ')}`);
}

function outputFormat(to: string | undefined, output: string | undefined): FormatId {
  const format = to !== undefined ? formatNamed(to) : output !== undefined ? formatOfFileName(output) : 'pdf';
  if (format !== undefined && pagingOf(format) !== undefined) return format;
  throw new UsageError(
    to !== undefined
      ? `--to ${to}: no such output format; there are ${OUTPUT_FORMATS.join(' ')}`
      : `-o ${output}: the extension names no output format; add --to (${OUTPUT_FORMATS.join(' ')})`,
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
  readonly password?: string | undefined;
  readonly paper?: string | undefined;
  readonly margins?: string | undefined;
  readonly landscape?: boolean | undefined;
  readonly 'no-background'?: boolean | undefined;
  readonly 'fail-on'?: readonly string[] | undefined;
}

const SPELLINGS: Readonly<Partial<Record<OptionName, string>>> = {
  annotations: '--no-annotations',
  printBackground: '--no-background',
};

/** As the command line writes it. */
function spell(name: OptionName): string {
  return SPELLINGS[name] ?? `--${wireNameOf(name).replaceAll('_', '-')}`;
}

function conversionOptions(values: OptionArguments, pair: Pair): ConversionOptions {
  const given = {
    pages: values.pages,
    dpi: wholeNumber(values.dpi),
    width: wholeNumber(values.width),
    height: wholeNumber(values.height),
    background: values.background,
    quality: wholeNumber(values.quality),
    annotations: values['no-annotations'] ? false : undefined,
    password: values.password,
    paper: values.paper,
    margins: values.margins,
    landscape: values.landscape,
    printBackground: values['no-background'] ? false : undefined,
    failOn: values['fail-on']?.flatMap((list) => list.split(',').map((code) => code.trim())),
  };
  return checkOptions(given, pair, spell);
}

/** The number that the text is, else the text itself, which no option takes. */
function wholeNumber(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function defaultOutput(input: string, to: FormatId): string {
  const base = input === '-' ? 'output' : basename(input, extname(input));
  return pagingOf(to) === 'page' ? base : `${base}.${to}`;
}

interface Converted {
  readonly files: readonly string[];
  readonly pages: number;
  readonly warnings: readonly Diagnostic[];
}

async function convert(args: ConvertArguments): Promise<Converted> {
  const scratch = mkdtempSync(join(tmpdir(), 'ofd-server-'));
  const target = openTarget(args, scratch);
  const interruption = new AbortController();
  const discard = (): void => {
    target.discard();
    rmSync(scratch, { recursive: true, force: true });
  };
  const running = convertFile(args, target, scratch, interruption.signal);
  const stopListening = onInterrupt(async () => {
    interruption.abort(new ServiceError('cancelled', 'Interrupted'));
    // Not before the thread has ended, which may be writing a file.
    const isOver = await isSettled(running, INTERRUPT_MS);
    discard();
    return isOver;
  });
  try {
    const { files, pages, warnings } = await running;
    return { files: target.publish(files), pages, warnings };
  } finally {
    stopListening();
    discard();
  }
}

async function convertFile(
  args: ConvertArguments,
  target: Target,
  scratch: string,
  signal: AbortSignal,
): Promise<ConversionResult> {
  const [{ openEngines }, { readInputFile }] = await Promise.all([import('./engines.js'), import('./input.js')]);
  const { inputPath, from } = await readInputFile(args.input, args.from, scratch);
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

/** Where the files go: into a folder of their own first, under their right names when all is done. */
interface Target {
  /** Exists. */
  readonly folder: string;
  readonly baseName: string | undefined;
  publish(files: readonly ProducedFile[]): readonly string[];
  /** Removes what was not published. */
  discard(): void;
}

function openTarget(args: ConvertArguments, scratch: string): Target {
  if (args.output === '-') return standardOutput(scratch);
  const output = resolve(args.output);
  const isNamed = pagingOf(args.to) === 'document' || namesPages(args.output, args.to);
  return isNamed ? inFolder(dirname(output), basename(output)) : inFolder(output, undefined);
}

/** @param name of the one file, or from which the names of several pages are made; undefined for `page-0001.png` … */
function inFolder(place: string, name: string | undefined): Target {
  const isNewFolder = !existsSync(place);
  if (isNewFolder) makeFolderSync(place);
  // On the same volume, so that a file gets its name in one step.
  const folder = mkdtempSync(join(place, '.ofd-server-'));
  return {
    folder,
    baseName: name === undefined ? undefined : basename(name, extname(name)),
    publish: (files) =>
      files.map((file) => rename(file.path, join(place, name !== undefined && files.length === 1 ? name : file.name))),
    discard: () => {
      rmSync(folder, { recursive: true, force: true });
      if (isNewFolder) removeIfEmpty(place);
    },
  };
}

function standardOutput(scratch: string): Target {
  const folder = join(scratch, 'output');
  mkdirSync(folder);
  return {
    folder,
    baseName: undefined,
    publish: (files) => files.map((file) => sendToStandardOutput(file.path)),
    discard: () => undefined,
  };
}

function rename(from: string, to: string): string {
  renameSync(from, to);
  return to;
}

function sendToStandardOutput(path: string): string {
  process.stdout.write(readFileSync(path));
  return '-';
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else was put there meanwhile: it stays.
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

function printJson(args: ConvertArguments, value: object): void {
  (args.output === '-' ? process.stderr : process.stdout).write(`${JSON.stringify(value)}\n`);
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
