/** Addresses of targets, as the configuration writes them and as a receipt shows them. */

/** The parts of `host`, `host:port` or `[ipv6]:port`. */
export function hostAndPort(address: string, defaultPort: number): { readonly host: string; readonly port: number } {
  const [, inner, outer, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(address) ?? [];
  return { host: inner ?? outer ?? address, port: port === undefined ? defaultPort : Number(port) };
}

/** Components of a path as a URL has them, without a slash in front. */
export function urlPath(segments: readonly string[]): string {
  return segments.map(encodeURIComponent).join('/');
}
