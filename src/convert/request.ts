/** A conversion request: every rule that can be decided at submission (contract A3, B2, B4, B5, S1). */
import { ServiceError } from '../errors.js';
import { FORMATS, type Format, type FormatId, formatNamed, formatOfFileName } from '../formats.js';
import type { ConversionOptions } from './converter-types.js';
import { detectFormat, namedInput } from './detect.js';
import { checkFileName } from './names.js';
import { checkOptions, type GivenOptions, OptionError, type Pair, wireNameOf } from './options.js';
import { type AbsentEngines, type Plan, planFor } from './plan.js';
import type { ContentSigns } from './signs.js';

/** What there is to know of an upload's bytes. */
export interface UploadFacts {
  readonly sizeBytes: number;
  readonly signs: ContentSigns;
}

/** A submission whose shape is right and whose rules are not checked yet. Absent, null and "" are all undefined here. */
export interface Submission {
  readonly input: {
    readonly kind?: string | undefined;
    readonly fileName?: string | undefined;
    readonly upload?: UploadFacts | undefined;
    readonly format?: string | undefined;
    readonly url?: string | undefined;
  };
  readonly output: {
    readonly kind?: string | undefined;
    readonly format?: string | undefined;
    readonly dir?: string | undefined;
    readonly fileName?: string | undefined;
    readonly remote?: { readonly target?: string | undefined; readonly path?: string | undefined } | undefined;
    readonly options?: GivenOptions | undefined;
  };
  readonly notify?:
    | { readonly target?: string | undefined; readonly events?: readonly string[] | undefined }
    | undefined;
  readonly highPriority?: boolean | undefined;
}

/** What of the configuration the rules need. */
export interface RequestRules {
  /** What the kind itself can tell of a destination; throws `invalid_request` or `unknown_remote_target`. */
  readonly checkDestination: (kind: string, destination: Submission['output']) => void;
  readonly absentEngines: AbsentEngines;
  /**
   * Throws `invalid_request` or `url_not_allowed` for an address that nothing is fetched from; gives the name of the file
   * there, where it tells. undefined where URL input is off.
   */
  readonly admitUrl: ((url: string) => { readonly fileName: string | undefined }) | undefined;
  readonly notifyTargets: ReadonlySet<string>;
  readonly notifyEvents: readonly string[];
}

interface RequestInput {
  readonly kind: 'upload' | 'url';
  readonly fileName: string | undefined;
  /** What the bytes are converted as; undefined where they are still to be fetched and the client did not say. */
  readonly format: FormatId | undefined;
  readonly url: string | undefined;
}

/** A request that is right in every respect that can be known before it runs. */
export interface ConversionRequest {
  /** 0 of what is still to be fetched. */
  readonly inputBytes: number;
  /** What the client claimed, else what was decided; undefined as long as an address tells nothing. */
  readonly from: FormatId | undefined;
  readonly to: FormatId;
  readonly lane: Plan['lane'];
  readonly input: RequestInput;
  readonly output: {
    readonly kind: OutputKind;
    readonly format: FormatId;
    readonly dir: string | undefined;
    readonly remote: { readonly target: string; readonly path: string | undefined } | undefined;
    readonly fileName: string | undefined;
    readonly options: ConversionOptions;
  };
  readonly notify: { readonly target: string; readonly events: readonly string[] | undefined } | undefined;
  readonly highPriority: boolean;
}

const LOCAL_KINDS = ['stream', 'dir'] as const;
const REMOTE_KINDS = ['ftp', 's3', 'webdav', 'sftp'] as const;
const OUTPUT_KINDS = [...LOCAL_KINDS, ...REMOTE_KINDS] as const;
type OutputKind = (typeof OUTPUT_KINDS)[number];
const INPUT_KINDS = ['upload', 'url'] as const;

/** Throws ServiceError for the first rule that does not hold. */
export function parseConversionRequest(submission: Submission, rules: RequestRules): ConversionRequest {
  const { output } = submission;
  const inputKind = checkInput(submission.input);
  const kind = outputKind(output);
  checkDestination(output, kind, rules);
  const to = outputFormat(output.format, kind);
  const { input, claimed, inputBytes } =
    inputKind === 'url' ? urlInput(submission.input, rules) : uploadInput(submission.input);
  const plan = input.format === undefined ? undefined : planFor(input.format, to, rules.absentEngines);
  const request: ConversionRequest = {
    inputBytes,
    from: claimed,
    to,
    // How long a server takes is nobody's to say.
    lane: inputKind === 'url' ? 'heavy' : (plan?.lane ?? 'heavy'),
    input,
    output: {
      kind,
      format: to,
      dir: output.dir,
      remote:
        output.remote?.target === undefined ? undefined : { target: output.remote.target, path: output.remote.path },
      fileName: output.fileName,
      options: conversionOptions(output.options ?? {}, { from: input.format, to }),
    },
    notify: notification(submission.notify, rules),
    highPriority: submission.highPriority ?? false,
  };
  return Object.freeze(request);
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}

/** Kinds ignore case and white space around them. */
function normalKind(kind: string): string {
  return kind.trim().toLowerCase();
}

function checkInput(input: Submission['input']): (typeof INPUT_KINDS)[number] {
  const name = normalKind(input.kind ?? '') || 'upload';
  const kind = INPUT_KINDS.find((candidate) => candidate === name);
  if (kind === undefined) {
    throw invalid(`input.kind: "${input.kind}" is no kind of input; there are ${INPUT_KINDS.join(' and ')}`);
  }
  if (kind === 'upload' && input.url !== undefined) {
    throw invalid('input.url belongs to input.kind "url"; an upload carries input.bytes alone');
  }
  if (kind === 'url') {
    const stray = input.upload ? 'bytes' : input.fileName === undefined ? undefined : 'file_name';
    if (stray) throw invalid(`input.${stray} belongs to input.kind "upload"; a URL input has url and format`);
  }
  if (input.fileName !== undefined) checkFileName(input.fileName, 'input.file_name', 255);
  return kind;
}

interface CheckedInput {
  readonly input: RequestInput;
  readonly claimed: FormatId | undefined;
  readonly inputBytes: number;
}

function uploadInput(given: Submission['input']): CheckedInput {
  const { sizeBytes, signs } = uploaded(given.upload);
  const { claimed, decided } = detectFormat(given, signs);
  return {
    input: { kind: 'upload', fileName: given.fileName, format: decided, url: undefined },
    claimed,
    inputBytes: sizeBytes,
  };
}

function urlInput({ url, format }: Submission['input'], { admitUrl }: RequestRules): CheckedInput {
  if (url === undefined) throw invalid('input.url is required where input.kind is "url"');
  if (!admitUrl) {
    throw new ServiceError('url_input_disabled', 'input.kind "url" is off: allow_input_url_hosts is not configured');
  }
  const { fileName } = admitUrl(url);
  const explicit = format === undefined ? undefined : namedInput(format);
  return {
    input: { kind: 'url', fileName: undefined, format: explicit, url },
    claimed: explicit ?? (fileName === undefined ? undefined : formatOfFileName(fileName)),
    inputBytes: 0,
  };
}

function uploaded(upload: UploadFacts | undefined): UploadFacts {
  if (upload !== undefined && upload.sizeBytes > 0) return upload;
  throw invalid(`input.bytes is ${upload ? 'empty' : 'required'}; write the file in base64, or send it as part "file"`);
}

function outputKind(output: Submission['output']): OutputKind {
  const name = normalKind(output.kind ?? '') || 'stream';
  const kind = OUTPUT_KINDS.find((candidate) => candidate === name);
  if (kind !== undefined) return kind;
  throw invalid(`output.kind: "${output.kind}" is no kind of output; there are ${OUTPUT_KINDS.join(', ')}`);
}

function checkDestination(output: Submission['output'], kind: OutputKind, rules: RequestRules): void {
  if (output.remote !== undefined && (LOCAL_KINDS as readonly string[]).includes(kind)) {
    throw invalid(`output.remote belongs to ${REMOTE_KINDS.join(', ')}; output.kind is "${kind}"`);
  }
  if (output.dir !== undefined && kind !== 'dir') {
    throw invalid(`output.dir belongs to output.kind "dir"; output.kind is "${kind}"`);
  }
  rules.checkDestination(kind, output);
  if (output.fileName !== undefined) checkFileName(output.fileName, 'output.file_name', 200);
}

function outputFormat(name: string | undefined, kind: OutputKind): FormatId {
  if (name === undefined) throw invalid('output.format is required, for example "pdf"');
  const format = formatNamed(name);
  if (format === undefined) {
    const outputs = Object.entries(FORMATS).filter(([, { paging }]: [string, Format]) => paging !== undefined);
    throw invalid(`output.format: "${name}" is no format; there are ${outputs.map(([id]) => id).join(', ')}`);
  }
  if (kind === 'stream' && (FORMATS[format] as Format).paging === 'page') {
    throw invalid(
      `output.format: ${format} makes a file for each page, which no stream holds; use output.kind "dir" or a remote one`,
    );
  }
  return format;
}

function conversionOptions(given: GivenOptions, pair: Pair): ConversionOptions {
  try {
    return checkOptions(given, pair, (name) => `output.options.${wireNameOf(name)}`);
  } catch (error) {
    throw error instanceof OptionError ? invalid(error.message) : error;
  }
}

function notification(notify: Submission['notify'], rules: RequestRules): ConversionRequest['notify'] {
  if (notify === undefined) return undefined;
  if (notify.target === undefined) throw invalid('notify.target is required, the name of a configured target');
  if (!rules.notifyTargets.has(notify.target)) {
    throw new ServiceError(
      'unknown_notify_target',
      `notify.target: "${notify.target}" is not among the notify_targets of the service`,
    );
  }
  const unknown = notify.events?.find((event) => !rules.notifyEvents.includes(event));
  if (unknown !== undefined) {
    throw invalid(`notify.events: "${unknown}" is no event; there are ${rules.notifyEvents.join(', ')}`);
  }
  return { target: notify.target, events: narrowing(notify.events) };
}

/** Undefined where all events are wanted, however that was said. */
function narrowing(events: readonly string[] | undefined): readonly string[] | undefined {
  return !events || events.length === 0 || events.includes('*') ? undefined : events;
}
