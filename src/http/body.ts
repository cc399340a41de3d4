/**
 * Request bodies: read up to a limit, and taken apart so that a 64 MiB document costs the event loop no long stop. Long
 * texts (the base64 of an upload) are cut out of the bytes before the rest, which is small, goes through JSON.parse.
 */
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { findJsonFault } from '../config/json-fault.js';
import { ServiceError } from '../errors.js';

/** Texts from this length on are cut out. */
const LONG_TEXT_BYTES = 64 * 1024;
/** Everything beside the long texts; many times what any request needs. */
const LARGEST_REST_BYTES = 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Reads a body. Throws `payload_too_large` as soon as `limitBytes` is passed; `declaredBytes` is the Content-Length. */
export async function readBody(body: Readable, declaredBytes: number | undefined, limitBytes: number): Promise<Buffer> {
  if (declaredBytes !== undefined && declaredBytes > limitBytes) throw tooLarge(limitBytes);
  const known = declaredBytes === undefined ? undefined : Buffer.allocUnsafe(declaredBytes);
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  await new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      if (sizeBytes + chunk.length > limitBytes) settle(() => reject(tooLarge(limitBytes)));
      else if (known) known.set(chunk, sizeBytes);
      else chunks.push(Buffer.from(chunk));
      sizeBytes += chunk.length;
    };
    const onEnd = (): void => settle(resolve);
    const onGone = (): void => settle(() => reject(new ServiceError('cancelled', 'The request ended before its body')));
    const settle = (then: () => void): void => {
      body.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      // What still comes is thrown away, and whatever goes wrong with it is of no interest.
      body.on('error', () => undefined).resume();
      then();
    };
    body.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
  return known?.subarray(0, sizeBytes) ?? Buffer.concat(chunks, sizeBytes);
}

function tooLarge(limitBytes: number): ServiceError {
  const limit = `max_upload_bytes allows ${limitBytes} bytes of body`;
  return new ServiceError('payload_too_large', `The request is too large: ${limit}, of which base64 takes a third`);
}

/** A text cut out of a body: as sent, escapes included. */
interface LongText {
  readonly placeholder: string;
  readonly bytes: Buffer;
}

/** A parsed body. `longTexts` stand in `value` as placeholders that no client can guess. */
export interface JsonBody {
  readonly value: unknown;
  readonly longTexts: readonly LongText[];
}

/** Throws `invalid_request` that names the place of the first fault. */
export function parseJsonBody(body: Buffer): JsonBody {
  if (body.length === 0) throw invalid('The body is empty; a JSON object was expected');
  const { rest, cuts } = cutLongTexts(body);
  const text = decodeUtf8(rest);
  const longTexts = cuts.map(({ placeholder, start, end }) => ({ placeholder, bytes: body.subarray(start, end) }));
  try {
    return { value: JSON.parse(text), longTexts };
  } catch {
    const { offset, wanted } = findJsonFault(text);
    const removed = cuts.filter((cut) => cut.restAt <= offset);
    const original = removed.reduce((sum, cut) => sum + cut.end - cut.start - cut.placeholder.length, offset);
    const end = offset >= text.length ? ', where it ends' : '';
    throw invalid(`The body is no valid JSON at character ${original}${end}: ${wanted} was expected`);
  }
}

interface Cut {
  readonly placeholder: string;
  readonly start: number;
  readonly end: number;
  /** Where the placeholder ends in the rest. */
  readonly restAt: number;
}

/** The body with a placeholder in place of each long text. */
function cutLongTexts(body: Buffer): { rest: Buffer; cuts: readonly Cut[] } {
  if (body.length <= LONG_TEXT_BYTES) return { rest: body, cuts: [] };
  const nonce = randomBytes(16).toString('hex');
  const parts: Buffer[] = [];
  const cuts: Cut[] = [];
  let restBytes = 0;
  const keep = (part: Buffer): void => {
    parts.push(part);
    restBytes += part.length;
    if (restBytes > LARGEST_REST_BYTES) throw restTooLarge();
  };
  let kept = 0;
  for (let at = 0; at < body.length; ) {
    const open = body.indexOf(QUOTE, at);
    if (open < 0) break;
    if (restBytes + open - kept > LARGEST_REST_BYTES) throw restTooLarge();
    const close = closingQuote(body, open);
    if (close - open > LONG_TEXT_BYTES) {
      keep(body.subarray(kept, open + 1));
      const placeholder = `${nonce}${cuts.length}`;
      keep(Buffer.from(placeholder));
      cuts.push({ placeholder, start: open + 1, end: close, restAt: restBytes });
      kept = close;
    }
    at = close + 1;
  }
  keep(body.subarray(kept));
  return { rest: Buffer.concat(parts), cuts };
}

function restTooLarge(): ServiceError {
  return invalid(
    `The body without its long texts is larger than ${LARGEST_REST_BYTES} bytes; only input.bytes is large`,
  );
}

function closingQuote(body: Buffer, open: number): number {
  for (let close = body.indexOf(QUOTE, open + 1); close >= 0; close = body.indexOf(QUOTE, close + 1)) {
    let backslashes = 0;
    while (body[close - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return close;
  }
  throw invalid(`The body is no valid JSON: the text that starts at character ${open} has no end; is the body cut?`);
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ServiceError('invalid_request', 'The body is not valid UTF-8; JSON is sent in UTF-8', { cause: error });
  }
}

/** The bytes of a long text with its escapes resolved; some clients write every / as \/. */
export function unescapeLongText(bytes: Buffer): Buffer {
  if (!bytes.includes(BACKSLASH)) return bytes;
  try {
    return Buffer.from(JSON.parse(`"${bytes.toString('utf8')}"`) as string, 'utf8');
  } catch (error) {
    throw new ServiceError('invalid_request', 'The body is no valid JSON: a long text holds an invalid escape', {
      cause: error,
    });
  }
}

function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message);
}
