/** Opening the port that `listen` names. */
import type { AddressInfo } from 'node:net';
import type { HttpServer } from '../http/services.js';
import { StartError } from './start-error.js';

/** Listens on `:9705` (all interfaces), `127.0.0.1:9705`, `[::1]:9705`. Gives the port, which port 0 leaves open. */
export async function listen(server: HttpServer, address: string): Promise<number> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(colon + 1));
  try {
    await listenOn(server, host === '' ? ['::', '0.0.0.0'] : [host], port);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const advice = code === 'EADDRINUSE' ? 'another program has it; stop that or choose another port' : message;
    throw new StartError(`listen: cannot open ${address} (${code ?? 'error'}): ${advice}`, { cause: error });
  }
  return (server.server.address() as AddressInfo).port;
}

/** The first host that the machine has: one without IPv6 has no `::`. */
async function listenOn(server: HttpServer, hosts: readonly string[], port: number): Promise<void> {
  for (const [index, host] of hosts.entries()) {
    try {
      await server.listen({ host, port });
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isMissing = code === 'EAFNOSUPPORT' || code === 'EADDRNOTAVAIL';
      if (!isMissing || index === hosts.length - 1) throw error;
    }
  }
}
