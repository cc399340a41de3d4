/** Entries of `allow_input_url_hosts`: a host, `*.example.com`, a CIDR, an IP address (contract U1). */
import ipaddr from 'ipaddr.js';

/** Second-level labels under which countries register names: *.co.uk is as wide as *.uk. */
const REGISTRY_LABELS = new Set(['ac', 'co', 'com', 'edu', 'go', 'gob', 'gov', 'mil', 'ne', 'net', 'or', 'org']);

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** What is wrong with an entry, or undefined. */
export function checkUrlHost(entry: string): string | undefined {
  if (entry.includes('/')) return ipaddr.isValidCIDR(entry) ? undefined : 'write a CIDR as 10.0.0.0/8 or fd00::/8';
  if (ipaddr.isValid(entry)) return undefined;
  const isWildcard = entry.startsWith('*.');
  const labels = (isWildcard ? entry.slice(2) : entry).toLowerCase().replace(/\.$/, '').split('.');
  if (!labels.every((label) => LABEL.test(label))) {
    return 'write a host name without scheme and port, *.example.com, a CIDR or an IP address';
  }
  return isWildcard && isTooWide(labels) ? 'is too wide; name a domain below it, as in *.example.com' : undefined;
}

function isTooWide(labels: readonly string[]): boolean {
  const [second, top] = labels.slice(-2);
  return labels.length < 2 || (labels.length === 2 && top?.length === 2 && REGISTRY_LABELS.has(second ?? ''));
}
