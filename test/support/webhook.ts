/** A receiver of notifications over real HTTP, that can be away, refuse, and come back under the same address. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebhookCall {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export class Webhook {
  readonly calls: WebhookCall[] = [];
  /** Answers a call: a status. */
  answer: (call: WebhookCall) => number = () => 204;
  #server: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  /** Listens, the second time on the port of the first. */
  async start(): Promise<void> {
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      const call = { id: String(request.headers['x-ofd-delivery']), headers: request.headers, body };
      this.calls.push(call);
      response.writeHead(this.answer(call)).end();
    });
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** How often each id was received. */
  counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { id } of this.calls) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  }
}
