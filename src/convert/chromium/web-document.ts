/** An HTML or MHTML file as the answer to the one request that a tab may make. */
import { readFile, stat } from 'node:fs/promises';
import { ServiceError } from '../../errors.js';
import { isTextIn, markedEncoding } from '../decode-text.js';

export interface WebDocument {
  /** An address that is nowhere: its answer is `body`. */
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: Buffer;
}

/** In base64 it must fit into one message of the DevTools protocol, which takes 100 MB. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/** The address is a site of its own, with no power over files; the policy is the wall inside the tab. */
export const HTML_URL = 'https://document.invalid/';
const HTML_POLICY =
  "default-src 'none'; img-src data:; media-src data:; font-src data:; style-src 'unsafe-inline' data:; sandbox";
/** Archives are opened from file addresses alone. There is no such file, and the archive gets an origin of its own. */
const ARCHIVE_URL = 'file:///document.mhtml';
/** What an archive holds may stand under any address; what it lacks is not looked for elsewhere. */
const ARCHIVE_POLICY = "script-src 'none'; object-src 'none'; sandbox";

/**
 * @throws ServiceError `conversion_failed`: too_large; corrupt for what is no such document
 */
export async function readWebDocument(path: string, from: 'html' | 'mhtml'): Promise<WebDocument> {
  const { size } = await stat(path);
  if (size > MAX_DOCUMENT_BYTES) {
    const limit = `${MAX_DOCUMENT_BYTES} bytes`;
    throw new ServiceError('conversion_failed', `The document has ${size} bytes; Chromium is given at most ${limit}`, {
      reason: 'too_large',
    });
  }
  const body = await readFile(path);
  return from === 'html' ? htmlDocument(body) : archiveDocument(body);
}

function htmlDocument(body: Buffer): WebDocument {
  const charset = charsetOf(body);
  if (charset === 'binary') throw corrupt('The file is no HTML document: it holds bytes that no text has');
  return {
    url: HTML_URL,
    headers: [
      { name: 'Content-Type', value: charset === undefined ? 'text/html' : `text/html; charset=${charset}` },
      { name: 'Content-Security-Policy', value: HTML_POLICY },
    ],
    body,
  };
}

/** Where the header of a message must have ended. */
const HEADER_WITHIN_BYTES = 64 * 1024;

function archiveDocument(body: Buffer): WebDocument {
  const start = body.subarray(0, HEADER_WITHIN_BYTES).toString('latin1');
  const header = start.split(/\r?\n\r?\n/, 1)[0] ?? '';
  if (!/^content-type:\s*multipart\/related\b/im.test(header)) {
    throw corrupt('The file is no MHTML document: its header has no Content-Type multipart/related');
  }
  return {
    url: ARCHIVE_URL,
    headers: [
      { name: 'Content-Type', value: 'multipart/related' },
      { name: 'Content-Security-Policy', value: ARCHIVE_POLICY },
    ],
    body,
  };
}

function corrupt(message: string): ServiceError {
  return new ServiceError('conversion_failed', message, { reason: 'corrupt' });
}

/** Browsers look for a declaration among the first 1,024 bytes; a little more does no harm. */
const DECLARED_WITHIN_BYTES = 4096;

/**
 * The encoding that the browser would not find by itself: that of a document which declares none. A byte order mark and a
 * <meta> are left to it. undefined where there is nothing to say, `binary` for what is no text.
 */
function charsetOf(body: Buffer): string | undefined {
  if (markedEncoding(body) !== undefined) return undefined;
  const start = body.toString('latin1', 0, DECLARED_WITHIN_BYTES);
  if (/^<\0/.test(start)) return 'utf-16le';
  if (/^\0</.test(start)) return 'utf-16be';
  if (start.includes('\0')) return 'binary';
  if (/<meta\b[^>]*\bcharset\s*=/i.test(start)) return undefined;
  const ofXml = /^\s*<\?xml\b[^>]*\bencoding\s*=\s*["']([\w.:-]{1,40})["']/i.exec(start)?.[1];
  if (ofXml !== undefined) return ofXml;
  return (['utf-8', 'gb18030'] as const).find((encoding) => isTextIn(encoding, body)) ?? 'windows-1252';
}
