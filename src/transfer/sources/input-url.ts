/** The address of an input: read once, checked against the list, and sent to the server as the client wrote it. */
import { isIP } from 'node:net';
import { ServiceError } from '../../errors.js';
import type { UrlHosts } from '../url-hosts.js';

export interface InputUrl {
  readonly protocol: 'http:' | 'https:';
  /** In ASCII and lower case, without brackets and without a dot at its end. */
  readonly host: string;
  /** The host is an address, not a name. */
  readonly isAddress: boolean;
  readonly port: number;
  /** Path and query, byte for byte as they were written. */
  readonly target: string;
  /** The whole, for what it is relative to. */
  readonly href: string;
}

const PARTS = /^(https?):\/\/([^/?#]*)([^#]*)/i;
const LONGEST_URL = 4096;

/**
 * @param field how a message names it
 * @throws ServiceError `invalid_request` for what is no address of a document
 */
export function parseInputUrl(text: string, field: string): InputUrl {
  if (text.length > LONGEST_URL) throw invalid(field, `is longer than ${LONGEST_URL} characters`);
  const [, , authority = '', rest = ''] = PARTS.exec(text) ?? [];
  if (authority === '')
    throw invalid(field, 'is no http or https address; write for example https://example.com/a.ofd');
  if (authority.includes('@'))
    throw invalid(field, 'carries a user name; leave it out, what is fetched needs no login');
  // A browser would mend these, each in its own way: what is checked and what is asked for could differ.
  if (/[^\x21-\x7e]|\\/.test(rest) || /[\s\\%<>"{}|^`]/.test(authority)) {
    throw invalid(field, 'holds a character that an address has not; write it with % and its code');
  }
  const url = parsed(text, field);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (host === '' || port === 0) throw invalid(field, 'has no host or no port that could be asked');
  return {
    protocol: url.protocol as InputUrl['protocol'],
    host,
    isAddress: isIP(host) !== 0,
    port,
    target: rest === '' ? '/' : rest.startsWith('/') ? rest : `/${rest}`,
    href: url.href,
  };
}

/** Decimal, octal and hexadecimal numbers as hosts become the address that they mean. */
function parsed(text: string, field: string): URL {
  try {
    return new URL(text);
  } catch {
    throw invalid(field, 'has a host that no address can have');
  }
}

function invalid(field: string, fault: string): ServiceError {
  return new ServiceError('invalid_request', `${field}: ${fault}`);
}

/**
 * Whether the list admits the host as it is written; what a name leads to is checked when it is dialled.
 * @throws ServiceError `url_not_allowed`
 */
export function admitHost({ host, isAddress }: InputUrl, hosts: UrlHosts, field: string): void {
  if (isAddress ? hosts.allowsLiteral(host) : hosts.allowsName(host)) return;
  throw new ServiceError(
    'url_not_allowed',
    `${field}: the ${isAddress ? 'address' : 'host'} ${host} is not among allow_input_url_hosts`,
  );
}

/** The last part of the path, as a file's name; undefined where it has none. */
export function pathNameOf(target: string): string | undefined {
  const path = target.split('?', 1)[0] ?? '';
  const last = path.slice(path.lastIndexOf('/') + 1);
  if (last === '') return undefined;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
