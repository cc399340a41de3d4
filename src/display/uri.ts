/** URIs of links: complete, in ASCII, and of schemes that lead somewhere instead of running something. */

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** What a reader may be sent to by a document that nobody vouches for; `javascript:`, `file:` and `data:` are not. */
const SAFE_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ftp', 'ftps', 'mailto', 'tel']);
/** What a relative reference may be relative to. */
const BASE_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ftp', 'ftps']);
/** Read as another host (`//host`, `\\\\host`, `/\\host`), as a path of Windows, or, with a colon, as a scheme that is none. */
const UNSAFE_REFERENCE = /^[\\/]{2}|\\|^[^/?#]*:/;
/** Browsers and servers take no longer ones. */
const MAX_LENGTH = 8192;

/**
 * The URI that a link means, printable ASCII without blanks; undefined where it is empty, too long, of a scheme that is
 * not safe, or a reference without a scheme that some reader takes for more than a path.
 *
 * @param base what a relative URI is relative to
 */
export function linkUri(uri: string, base: string | undefined): string | undefined {
  const trimmed = withoutBreaks(uri);
  if (trimmed === '' || trimmed.length > MAX_LENGTH) return undefined;
  const complete = SCHEME.test(trimmed) ? trimmed : completed(trimmed, withoutBreaks(base ?? ''));
  if (complete === undefined) return undefined;
  const scheme = schemeOf(complete);
  if (scheme === undefined ? UNSAFE_REFERENCE.test(complete) : !SAFE_SCHEMES.has(scheme)) return undefined;
  const ascii = complete.replace(/[^\x21-\x7e]/gu, percentEncoded);
  return ascii.length > MAX_LENGTH ? undefined : ascii;
}

function schemeOf(uri: string): string | undefined {
  return SCHEME.exec(uri)?.[1]?.toLowerCase();
}

function percentEncoded(char: string): string {
  return Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** Breaks and tabs come from the layout of the XML; browsers drop them too. */
function withoutBreaks(text: string): string {
  return text.replace(/[\p{Cc}]/gu, '').trim();
}

/** Authors who leave out the scheme of a web address mean http. Undefined where the base is none to follow. */
function completed(uri: string, base: string): string | undefined {
  if (/^www\./i.test(uri)) return `http://${uri}`;
  const scheme = schemeOf(base);
  if (scheme === undefined) return UNSAFE_REFERENCE.test(base) ? undefined : uri;
  if (!BASE_SCHEMES.has(scheme)) return undefined;
  return URL.canParse(uri, base) ? new URL(uri, base).href : uri;
}
