/** The file known_hosts of OpenSSH, as far as a client needs it: which keys a host may show. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a file says of one host. Keys as the wire has them. */
export interface KnownHost {
  /** Key types, in the order of the file. */
  readonly types: readonly string[];
  accepts(key: Buffer): boolean;
}

interface Line {
  readonly type: string;
  readonly key: Buffer;
  readonly isRevoked: boolean;
}

/**
 * @param text of the file; lines that are none of its format, and certificate authorities, count for nothing
 * @param host name or address as configured
 */
export function knownHost(text: string, host: string, port: number): KnownHost {
  const name = host.toLowerCase();
  const names = port === 22 ? [name, `[${name}]:22`] : [`[${name}]:${port}`];
  const lines = text.split(/\r?\n/).flatMap((line) => readLine(line, names) ?? []);
  const trusted = lines.filter(({ isRevoked }) => !isRevoked);
  return {
    types: trusted.map(({ type }) => type),
    accepts: (key) => {
      const isAmong = (known: readonly Line[]): boolean => known.some((line) => line.key.equals(key));
      return isAmong(trusted) && !isAmong(lines.filter(({ isRevoked }) => isRevoked));
    },
  };
}

function readLine(line: string, names: readonly string[]): Line | undefined {
  const parts = line.trim().split(/\s+/);
  const marker = parts[0]?.startsWith('@') ? parts.shift() : undefined;
  const [hosts, type, key] = parts;
  if (hosts === undefined || hosts.startsWith('#') || type === undefined || key === undefined) return undefined;
  if (marker !== undefined && marker !== '@revoked') return undefined;
  if (!matches(hosts, names)) return undefined;
  return { type, key: Buffer.from(key, 'base64'), isRevoked: marker === '@revoked' };
}

/** Patterns with commas between them; one that begins with `!` and matches excludes the line. */
function matches(hosts: string, names: readonly string[]): boolean {
  if (hosts.startsWith('|1|')) return names.some((name) => isHashOf(hosts, name));
  const patterns = hosts.toLowerCase().split(',');
  const isNamed = (pattern: string): boolean => names.some((name) => patternOf(pattern).test(name));
  if (patterns.some((pattern) => pattern.startsWith('!') && isNamed(pattern.slice(1)))) return false;
  return patterns.some(isNamed);
}

function patternOf(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}

/** `|1|salt|hash`: the name under HMAC-SHA1. */
function isHashOf(field: string, name: string): boolean {
  const [, , salt = '', hash = ''] = field.split('|');
  const expected = Buffer.from(hash, 'base64');
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
