/** The arguments of `ofd-server convert`, checked as far as they can be before anything is read. */
import { accessSync, constants, existsSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ConversionOptions } from '../convert/converter-types.js';
import { withFieldNames } from '../convert/field-names.js';
import { checkOptions, type OptionName, type Pair, wireNameOf } from '../convert/options.js';
import { FORMAT_IDS, FORMATS, type Format, type FormatId, formatNamed, formatOfFileName } from '../formats.js';
import { cannotWrite } from './cannot-write.js';
import type { ProgramPaths } from './engines.js';
import { refuseTwice } from './given-twice.js';

export interface ConvertArguments {
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

/** Wrong usage: what the command was asked for cannot be begun. */
export class UsageError extends Error {}

const OUTPUT_FORMATS = FORMAT_IDS.filter((format) => pagingOf(format) !== undefined);
const PAGED_FORMATS = OUTPUT_FORMATS.filter((format) => pagingOf(format) === 'page');

export const CONVERT_USAGE = `ofd-server convert IN [--to FORMAT] [-o OUT] [options]

  IN, OUT             files; "-" is standard input or output. Without -o OUT has the name of IN (of standard input
                      "output") with FORMAT's extension, or without one where it is a folder, and lies in the current
                      folder. A file that stands there under the name of a new one is replaced and keeps its mode; a
                      symbolic link is followed, a pipe or a device is written into
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
  --password P        of an encrypted PDF
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

const OPTIONS = {
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
} as const;

/** How the end is told. */
export interface AnswerForm {
  readonly json: boolean;
  /** On standard error, because the product is on standard output. */
  readonly isBesideProduct: boolean;
}

/** Also of arguments that are wrong. */
export function answerForm(args: readonly string[]): AnswerForm {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, strict: false });
  const { json, output } = values;
  return { json: json === true, isBesideProduct: typeof output === 'string' && isStandardOutput(output) };
}

/** @throws UsageError that says what is wrong with the arguments */
export function parseConvertArguments(args: readonly string[]): ConvertArguments {
  try {
    return checkedArguments(args);
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError((error as Error).message, { cause: error });
  }
}

function checkedArguments(args: readonly string[]): ConvertArguments {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    tokens: true,
    options: OPTIONS,
  });
  refuseTwice(tokens, ['fail-on', 'font-dir']);
  const [input, ...more] = positionals;
  if (input === undefined) throw new UsageError('name the file to convert');
  if (more.length > 0) throw new UsageError(`one file at a time; "${more[0]}" is one too many`);
  const to = outputFormat(values.to, values.output);
  const from = inputFormat(values.from);
  const output =
    values.output === undefined
      ? defaultOutput(input, to)
      : isStandardOutput(values.output)
        ? STANDARD_STREAM
        : values.output;
  if (values.output === undefined && resolve(output) === resolve(input)) {
    throw new UsageError(`the ${to} of ${input} would take its place: name it with -o`);
  }
  checkOutput(output, to);
  for (const dir of values['font-dir'] ?? []) checkFontDir(dir);
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

const STANDARD_STREAM = '-';

function isStandardOutput(output: string): boolean {
  return output === STANDARD_STREAM || ['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'].includes(resolve(output));
}

function checkFontDir(dir: string): void {
  try {
    if (!statSync(dir).isDirectory()) throw new UsageError(`--font-dir ${dir}: this is no folder`);
    accessSync(dir, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const isClosed = (error as NodeJS.ErrnoException).code === 'EACCES';
    const fault = isClosed ? 'this user may not read it' : 'there is no such folder';
    throw new UsageError(`--font-dir ${dir}: ${fault}`, { cause: error });
  }
}

/** Whether a format is one file a document or one a page; undefined for those that nothing is converted to. */
export function pagingOf(format: FormatId): Format['paging'] {
  return (FORMATS[format] as Format).paging;
}

/** What can be known of the place before anything is converted. */
function checkOutput(output: string, to: FormatId): void {
  const isPaged = pagingOf(to) === 'page';
  if (output === '-') {
    if (isPaged) throw new UsageError(`${to} makes a file for each page: give a folder with -o`);
    return;
  }
  const kind = kindOf(output);
  if (isPaged && !namesPages(output, to)) {
    if (kind && !kind.isDirectory()) throw new UsageError(`-o ${output} is a file: ${to} makes a file for each page`);
    return;
  }
  if (kind?.isDirectory()) throw new UsageError(`-o ${output} is a folder: ${to} makes one file, name it`);
  if (!existsSync(dirname(resolve(output)))) throw new UsageError(`-o ${output}: that folder does not exist`);
}

/** Whether OUT names the files of the pages (`a.png`) and not the folder that they are put in. */
export function namesPages(output: string, to: FormatId): boolean {
  return formatOfFileName(output) === to && !kindOf(output)?.isDirectory();
}

/** What stands there; undefined for nothing. */
function kindOf(output: string): Stats | undefined {
  try {
    return statSync(output, { throwIfNoEntry: false });
  } catch (error) {
    throw new UsageError(cannotWrite(output, error), { cause: error });
  }
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
export function spell(name: OptionName): string {
  return SPELLINGS[name] ?? `--${wireNameOf(name).replaceAll('_', '-')}`;
}

/** What messages call fields of a request and keys of the configuration, as the command line has it. */
const FLAGS: Readonly<Record<string, string>> = {
  'input.format': '--from',
  'input.file_name': 'the file name',
  'output.format': '--to',
  soffice_path: '--soffice-path',
  chrome_path: '--chrome-path',
  chrome_no_sandbox: '--chrome-no-sandbox',
  fail_on: '--fail-on',
};

/** A message of the engines in the words of the command line: `--from html` for `input.format "html"`. */
export function inFlags(message: string): string {
  return withFieldNames(message, FLAGS).replace(/(--from|--to) "([a-z]+)"/g, '$1 $2');
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
