/** A conversion request: every rule that can be decided at submission (contract A3, B2, B4, B5, S1). */
import { ServiceError } from '../errors.js';
import { FORMATS, type Format, type FormatId, formatNamed } from '../formats.js';
import type { ConversionOptions } from './converter-types.js';
import { detectFormat } from './detect.js';
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
  readonly isUrlInputEnabled: boolean;
  readonly notifyTargets: ReadonlySet<string>;
  readonly notifyEvents: readonly string[];
}

/** A request that is right in every respect that can be known before it runs. */
export interface ConversionRequest {
  readonly inputBytes: number;
  /** What the client claimed, else what was decided. */
  readonly from: FormatId;
  readonly to: FormatId;
  readonly plan: Plan;
  readonly input: {
    readonly kind: 'upload';
    readonly fileName: string | undefined;
    /** What the bytes are converted as. */
    readonly format: FormatId;
  };
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
  const { input, output } = submission;
  checkInput(input, rules);
  const kind = outputKind(output);
  checkDestination(output, kind, rules);
  const to = outputFormat(output.format, kind);
  const { sizeBytes, signs } = uploaded(input.upload);
  const { claimed, decided } = detectFormat(input, signs);
  const plan = planFor(decided, to, rules.absentEngines);
  const request: ConversionRequest = {
    inputBytes: sizeBytes,
    from: claimed,
    to,
    plan,
    input: { kind: 'upload', fileName: input.fileName, format: decided },
    output: {
      kind,
      format: to,
      dir: output.dir,
      remote:
        output.remote?.target === undefined ? undefined : { target: output.remote.target, path: output.remote.path },
      fileName: output.fileName,
      options: conversionOptions(output.options ?? {}, { from: decided, to }),
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

function checkInput(input: Submission['input'], rules: RequestRules): void {
  const kind = normalKind(input.kind ?? '') || 'upload';
  if (!(INPUT_KINDS as readonly string[]).includes(kind)) {
    throw invalid(`input.kind: "${input.kind}" is no kind of input; there are ${INPUT_KINDS.join(' and ')}`);
  }
  if (kind === 'url') checkUrlInput(input, rules);
  if (input.url !== undefined)
    throw invalid('input.url belongs to input.kind "url"; an upload carries input.bytes alone');
  if (input.fileName !== undefined) checkFileName(input.fileName, 'input.file_name', 255);
}

/** No download is made yet: a URL is refused either way, and the answer says why. */
function checkUrlInput(input: Submission['input'], rules: RequestRules): never {
  for (const [field, value] of [
    ['bytes', input.upload],
    ['file_name', input.fileName],
  ] as const) {
    if (value !== undefined)
      throw invalid(`input.${field} belongs to input.kind "upload"; a URL input has url and format`);
  }
  if (input.url === undefined) throw invalid('input.url is required where input.kind is "url"');
  if (!rules.isUrlInputEnabled) {
    throw new ServiceError('url_input_disabled', 'input.kind "url" is off: allow_input_url_hosts is not configured');
  }
  throw new ServiceError('unsupported_conversion', 'input.kind "url" is not available; send the file as an upload');
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
