/**
 * `allow_input_url_hosts`: which hosts and addresses documents may be fetched from (contract U1, U2). An entry is a host,
 * `*.example.com`, a CIDR or an IP address, which is a CIDR of one.
 */
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { getPublicSuffix } from 'tldts';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [address: Address, prefixLength: number];

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
const FOUR_NUMBERS = /^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/;

/** What is wrong with an entry, or undefined. */
export function checkUrlHost(entry: string): string | undefined {
  if (entry.includes('/')) return rangeOf(entry) ? undefined : 'write a CIDR as 10.0.0.0/8 or fd00::/8';
  if (rangeOf(entry)) return undefined;
  const { isWildcard, name } = hostEntry(entry);
  const labels = name.split('.');
  const isNumeric = /^(?:\d+|0x[\da-f]*)$/.test(labels.at(-1) ?? '');
  if (isNumeric || !labels.every((label) => LABEL.test(label))) {
    return 'write a host name without scheme and port, *.example.com, a CIDR or an IP address';
  }
  return isWildcard && isTooWide(name) ? 'is too wide; name a domain below it, as in *.example.com' : undefined;
}

/** Everybody can have a name below a public suffix (com, co.uk, com.cn), so nobody vouches for what lies there. */
function isTooWide(name: string): boolean {
  return !name.includes('.') || getPublicSuffix(name) === name;
}

function hostEntry(entry: string): { readonly isWildcard: boolean; readonly name: string } {
  const isWildcard = entry.startsWith('*.');
  const given = (isWildcard ? entry.slice(2) : entry).replace(/\.$/, '');
  return { isWildcard, name: domainToASCII(given).toLowerCase() };
}

/** undefined for what is no CIDR and no address in its usual form: octal and shortened ones mislead. */
function rangeOf(entry: string): Range | undefined {
  const [address = '', length, ...more] = entry.split('/');
  const parsed = addressOf(address);
  if (!parsed || more.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const bits = parsed.kind() === 'ipv4' ? 32 : 128;
  const prefixLength = length === undefined ? bits : Number(length);
  return prefixLength <= bits ? [parsed, prefixLength] : undefined;
}

function addressOf(text: string): Address | undefined {
  if (FOUR_NUMBERS.test(text)) return ipaddr.IPv4.isValid(text) ? ipaddr.IPv4.parse(text) : undefined;
  return text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

/** Public by its number, but answered by the machine's own host: the platform's service for its guests. */
const PLATFORM_SERVICES: readonly string[] = ['168.63.129.16'];
/** What is given out for the whole internet. */
const GLOBAL_IPV6: Range = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Whether an address belongs to the public internet: not to a private network, this machine, its link, a platform's
 * metadata, a carrier, a group, and not to a range that wraps another address (mapped, NAT64, 6to4, Teredo).
 */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || PLATFORM_SERVICES.includes(address.toString())) return false;
  return address.kind() === 'ipv4' || isIn(address, GLOBAL_IPV6);
}

function isIn(address: Address, [network, prefixLength]: Range): boolean {
  if (address.kind() !== network.kind()) return false;
  return (address as ipaddr.IPv6).match(network as ipaddr.IPv6, prefixLength);
}

/** The entries of the list, each right by checkUrlHost. */
export class UrlHosts {
  readonly #ranges: readonly Range[];
  readonly #names: ReadonlySet<string>;
  /** What an allowed name ends with: ".example.com". */
  readonly #endings: readonly string[];

  constructor(entries: readonly string[]) {
    this.#ranges = entries.map(rangeOf).filter((range) => range !== undefined);
    const hosts = entries.filter((entry) => rangeOf(entry) === undefined).map(hostEntry);
    this.#names = new Set(hosts.filter(({ isWildcard }) => !isWildcard).map(({ name }) => name));
    this.#endings = hosts.filter(({ isWildcard }) => isWildcard).map(({ name }) => `.${name}`);
  }

  /** Nothing is allowed. */
  get isEmpty(): boolean {
    return this.#ranges.length + this.#names.size + this.#endings.length === 0;
  }

  /** @param name in ASCII and lower case, without a dot at its end */
  allowsName(name: string): boolean {
    return this.#names.has(name) || this.#endings.some((ending) => name.endsWith(ending) && name !== ending);
  }

  /** An address that is written in the URL itself must be listed. */
  allowsLiteral(address: string): boolean {
    const parsed = addressOf(address);
    return parsed !== undefined && this.#isListed(parsed);
  }

  /** An address that an allowed name leads to: listed, or public. */
  allowsResolved(address: string): boolean {
    const parsed = addressOf(address);
    return parsed !== undefined && (this.#isListed(parsed) || isPublic(parsed));
  }

  #isListed(address: Address): boolean {
    return this.#ranges.some((range) => isIn(address, range));
  }
}
