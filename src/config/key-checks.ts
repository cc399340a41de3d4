/** Checks of single values that several modules share. Each gives what is wrong, or undefined. */
import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether a URL stays on this machine: localhost, 127.0.0.0/8, ::1. */
function isLoopback(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const family = isIP(host);
  return family === 0 ? host === 'localhost' : LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** https anywhere, http to this machine only; nothing in it that has a key of its own. */
export function checkSecureUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return 'write a URL such as https://host/path';
  if (url.username !== '' || url.password !== '') return 'user and password have no place in a URL';
  if (url.hash !== '') return 'a fragment (#…) has no place here';
  return url.protocol === 'https:' || isLoopback(url) ? undefined : 'only https, or http to this machine, is allowed';
}

/** `host`, `host:port`, `[ipv6]:port`. */
export function checkAddress(value: string): string | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:\s/]+))(?::(\d{1,5}))?$/.exec(value);
  const isHost = match !== null && (match[1] === undefined || isIP(match[1]) === 6);
  const isPort = match?.[3] === undefined || (Number(match[3]) >= 1 && Number(match[3]) <= 65_535);
  return isHost && isPort ? undefined : 'write host or host:port, an IPv6 address as [::1]:port';
}

/** Where the service listens: `:9705` for all interfaces, `127.0.0.1:9705`, `[::1]:0`. */
export function checkListenAddress(value: string): string | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:\s/]*)):(\d{1,5})$/.exec(value);
  const isHost = match !== null && (match[1] === undefined || isIP(match[1]) === 6);
  return isHost && Number(match[3]) <= 65_535 ? undefined : 'write :9705, 127.0.0.1:9705 or [::1]:9705';
}
