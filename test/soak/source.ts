/** A server that documents are fetched from: whole, slowly, broken off, not at all. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const DRIP_MS = 1000;

export class Source {
  origin = '';
  readonly #document: Uint8Array;
  readonly #server = createServer((request, response) => this.#answer(request.url ?? '', response));

  constructor(document: Uint8Array) {
    this.#document = document;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(url: string, response: ServerResponse): void {
    const document = this.#document;
    if (url.startsWith('/missing')) response.writeHead(404).end();
    else if (url.startsWith('/cut')) {
      response.writeHead(200, { 'content-length': document.length });
      response.write(document.subarray(0, 500));
      setTimeout(() => response.destroy(), 50);
    } else if (url.startsWith('/drip')) {
      response.writeHead(200);
      let at = 0;
      const timer = setInterval(() => response.write(document.subarray(at, ++at)), DRIP_MS);
      response.once('close', () => clearInterval(timer));
    } else response.end(document);
  }
}
