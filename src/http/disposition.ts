/** The Content-Disposition header, for file names in any script (RFC 6266, RFC 5987). */
import { ServiceError } from '../errors.js';

/**
 * Old clients read the plain name, in which what is not ASCII becomes `_`, and which is `output` where nothing else would
 * be left; the rest read the one in UTF-8.
 */
export function attachment(fileName: string): string {
  const masked = fileName.replace(/[^\x20-\x7e]|["\\%]/gu, '_');
  const [, base = masked, extension = ''] = /^(.+)(\.[^.]*)$/.exec(masked) ?? [];
  const plain = /[a-z\d]/i.test(base) ? masked : `output${extension}`;
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

const PARAMETER = /;\s*([\w!#$&+.^`|~-]+\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))\s*/gy;

/**
 * The file name that a request's header gives: `filename*` before `filename`; undefined where it has neither.
 * Throws `invalid_request` for a header that cannot be read.
 * @param header each character is a byte, as headers arrive; names that are UTF-8 are read as such
 */
export function fileNameOf(header: string): string | undefined {
  return dispositionOf(header).fileName;
}

/** What a Content-Disposition says. */
export interface Disposition {
  /** In lower case: `attachment`, `form-data`. */
  readonly type: string;
  /** Of a part of a form: the field. */
  readonly name: string | undefined;
  readonly fileName: string | undefined;
}

/** As `fileNameOf`, and what else there is. */
export function dispositionOf(header: string): Disposition {
  const parameters = parametersOf(header);
  const extended = parameters.get('filename*');
  return {
    type: TYPE.exec(header)?.[0].trim().toLowerCase() ?? '',
    name: decodeBytes(parameters.get('name')),
    fileName: extended === undefined ? decodeBytes(parameters.get('filename')) : decodeExtended(extended),
  };
}

const TYPE = /^\s*[^\s;=]*\s*/;

/** The parameters of a header such as `type; name=value; name="value"`, by their names in lower case. */
export function parametersOf(header: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  const type = TYPE.exec(header)?.[0] ?? '';
  let end = type.length;
  PARAMETER.lastIndex = end;
  for (const match of header.matchAll(PARAMETER)) {
    const [whole, name, quoted, token] = match as unknown as [string, string, string | undefined, string | undefined];
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? token ?? '');
    end = match.index + whole.length;
  }
  const rest = header.slice(end).replace(/^[;\s]+$/, '');
  if (rest === '') return parameters;
  throw invalid(
    `Content-Disposition cannot be read from ${shown(rest)} on; write attachment; filename="a.ofd", or filename*=UTF-8''… with %XX`,
  );
}

function decodeBytes(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text, 'latin1');
  const decoded = bytes.toString('utf8');
  return decoded.includes('\uFFFD') ? text : decoded;
}

/** UTF-8''%E5%8F%91.ofd */
function decodeExtended(value: string): string {
  const [, charset, encoded] = /^([\w-]+)'[\w-]*'(.*)$/.exec(value) ?? [];
  const isUtf8 = charset?.toLowerCase() === 'utf-8';
  if (encoded === undefined || (!isUtf8 && charset?.toLowerCase() !== 'iso-8859-1')) {
    throw invalid(
      `Content-Disposition: filename*=${shown(value)} is not readable; write filename*=UTF-8''name with %XX`,
    );
  }
  if (!isUtf8) return latin1Of(encoded);
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw invalid(`Content-Disposition: filename*=${shown(value)} is no UTF-8 with %XX`);
  }
}

/** Each %XX is a character. */
function latin1Of(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
