/**
 * A document from an address, streamed to a file. Every name is resolved here, all of its addresses are checked, and one
 * of those very addresses is dialled: a name that leads elsewhere a moment later leads nowhere (contract U2).
 */
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../errors.js';
import type { UrlHosts } from '../url-hosts.js';
import { admitHost, type InputUrl, parseInputUrl, pathNameOf } from './input-url.js';

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

export interface UrlSourceSettings {
  readonly hosts: UrlHosts;
  /** Of the whole download, redirects included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly followsRedirects: boolean;
  /** In place of the machine's own. */
  readonly resolve?: Resolve;
  /** Certificates that are trusted beside the usual ones, in PEM. */
  readonly authorities?: readonly string[];
}

export interface Download {
  readonly sizeBytes: number;
  /** Names that the server and the address give the file, the best first: hints, nothing more. */
  readonly fileNames: readonly string[];
  readonly contentType: string | undefined;
}

const FIELD = 'input.url';
const MOST_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Statuses that another attempt may not meet. */
const PASSING_STATUSES: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/**
 * @param path of the file, which must not exist; nothing is left of it where this rejects
 * @throws ServiceError: url_not_allowed, payload_too_large, conversion_timeout, source_refused, source_unreachable,
 *   insufficient_storage, or the reason of the signal
 */
export async function downloadInput(
  address: string,
  path: string,
  settings: UrlSourceSettings,
  hooks: { readonly signal: AbortSignal; onAlive(): void },
): Promise<Download> {
  const timeout = AbortSignal.timeout(settings.timeoutMs);
  const signal = AbortSignal.any([hooks.signal, timeout]);
  let url = parseInputUrl(address, FIELD);
  try {
    for (let redirects = 0; ; redirects++) {
      admitHost(url, settings.hosts, FIELD);
      const response = await ask(url, settings, signal);
      if (!REDIRECTS.includes(response.statusCode ?? 0)) {
        checkAnswer(response, settings.maxBytes);
        const sizeBytes = await save(response, path, settings.maxBytes, signal, hooks.onAlive);
        return describe(response, url, sizeBytes);
      }
      response.destroy();
      if (!settings.followsRedirects) {
        throw refused(`${url.host} answers with a redirect (${response.statusCode}); allow_url_redirects is off`);
      }
      if (redirects === MOST_REDIRECTS) throw refused(`more than ${MOST_REDIRECTS} redirects`);
      url = nextUrl(response, url);
    }
  } catch (error) {
    await rm(path, { force: true });
    if (hooks.signal.aborted) throw hooks.signal.reason;
    if (timeout.aborted) {
      throw new ServiceError('conversion_timeout', `${FIELD}: not downloaded within url_timeout`, {
        reason: 'timeout',
      });
    }
    throw faultOf(error, url);
  }
}

/** The answer's head. */
function ask(url: InputUrl, settings: UrlSourceSettings, signal: AbortSignal): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  const hasDefaultPort = url.port === (isSecure ? 443 : 80);
  const host = url.host.includes(':') ? `[${url.host}]` : url.host;
  const options: RequestOptions & { servername?: string } = {
    host: url.host,
    port: url.port,
    path: url.target,
    method: 'GET',
    headers: {
      Host: hasDefaultPort ? host : `${host}:${url.port}`,
      Accept: '*/*',
      'Accept-Encoding': 'identity',
      'User-Agent': 'ofd-server',
      Connection: 'close',
    },
    agent: false,
    lookup: checkedLookup(settings),
    signal,
    ...(isSecure && {
      rejectUnauthorized: true,
      ...(!url.isAddress && { servername: url.host }),
      ...(settings.authorities && { ca: [...settings.authorities] }),
    }),
  };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(options);
    request.once('response', resolve).on('error', reject);
    request.end();
  });
}

/** What the connection is made to: addresses that were checked, and no others. One that is forbidden forbids the name. */
function checkedLookup({ hosts, resolve = resolveBySystem }: UrlSourceSettings): LookupFunction {
  return (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        const forbidden = addresses.find(({ address }) => !hosts.allowsResolved(address));
        const [first] = addresses;
        if (forbidden || !first) callback(forbidden ? notAllowed(name, forbidden.address) : noAddress(name), '', 0);
        else if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

function resolveBySystem(name: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(name, { all: true, verbatim: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(addresses);
    });
  });
}

function nextUrl({ headers, statusCode }: IncomingMessage, url: InputUrl): InputUrl {
  const { location } = headers;
  if (location === undefined) throw refused(`${url.host} answers ${statusCode} without saying where to`);
  const isWhole = /^[a-z][a-z\d+.-]*:/i.test(location);
  const next = redirectUrl(isWhole ? location : resolved(location, url));
  if (url.protocol === 'https:' && next.protocol === 'http:') {
    throw refused(`${url.host} redirects from https to http, which is not followed`);
  }
  return next;
}

function redirectUrl(address: string): InputUrl {
  try {
    return parseInputUrl(address, 'the redirect');
  } catch (error) {
    throw refused((error as Error).message);
  }
}

function resolved(location: string, { href, host }: InputUrl): string {
  try {
    return new URL(location, href).href;
  } catch {
    throw refused(`${host} redirects to what is no address`);
  }
}

function checkAnswer({ statusCode = 0, headers }: IncomingMessage, maxBytes: number): void {
  if (statusCode !== 200) {
    const isPassing = PASSING_STATUSES.includes(statusCode);
    const message = `${FIELD}: the server answers ${statusCode} in place of the document`;
    throw new ServiceError(isPassing ? 'source_unreachable' : 'source_refused', message);
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity') {
    throw refused(`the server compresses the document (${encoding.slice(0, 40)}) though it was asked not to`);
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** Gives the size. */
async function save(
  response: IncomingMessage,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
  onAlive: () => void,
): Promise<number> {
  let sizeBytes = 0;
  const limit = new Transform({
    transform(piece: Buffer, _encoding, done) {
      sizeBytes += piece.length;
      onAlive();
      done(sizeBytes > maxBytes ? tooLarge(maxBytes) : null, piece);
    },
  });
  await pipeline(response, limit, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
  if (!response.complete) throw new Error('the answer ended early');
  if (sizeBytes === 0) throw refused('the server answers with an empty document');
  return sizeBytes;
}

function describe({ headers }: IncomingMessage, { target }: InputUrl, sizeBytes: number): Download {
  const disposition = headers['content-disposition'] ?? '';
  const given = [...disposition.matchAll(/filename\*?\s*=\s*(?:"([^"]*)"|([^\s;]+))/gi)];
  const names = [...given.map(([, quoted, token]) => quoted ?? token), pathNameOf(target)];
  return {
    sizeBytes,
    fileNames: names.filter((name) => name !== undefined),
    contentType: headers['content-type'],
  };
}

function refused(text: string): ServiceError {
  return new ServiceError('source_refused', `${FIELD}: ${text}`);
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `${FIELD}: the document is larger than max_upload_bytes (${maxBytes})`, {
    reason: 'too_large',
  });
}

function notAllowed(name: string, address: string): ServiceError {
  return new ServiceError(
    'url_not_allowed',
    `${FIELD}: ${name} leads to ${address}, which is not public; allow_input_url_hosts would have to list that address`,
  );
}

function noAddress(name: string): ServiceError {
  return new ServiceError('source_unreachable', `${FIELD}: ${name} has no address`);
}

/** Faults of our own disk stay what they are. */
function faultOf(error: unknown, { host }: InputUrl): unknown {
  if (error instanceof ServiceError) return error;
  const { code, message, syscall, path } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ServiceError('insufficient_storage', `No space left in temp_dir for the download (${code})`, {
      cause: error,
    });
  }
  if (path !== undefined) return error;
  // Of the certificate or of the protocol: it will be the same the next time.
  const isFinal = /^(?:HPE_|ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ENOTFOUND$)/.test(code ?? '');
  const text = `${FIELD}: ${host} cannot be read: ${code ?? message}${syscall ? ` (${syscall})` : ''}`;
  return new ServiceError(isFinal ? 'source_refused' : 'source_unreachable', text, { cause: error });
}
