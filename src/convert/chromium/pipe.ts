/** The DevTools protocol over two pipes of the browser: JSON texts, each with a zero byte behind it. */
import type { Readable, Writable } from 'node:stream';
import type { ConnectionTransport } from 'puppeteer-core';

export class DevToolsPipe implements ConnectionTransport {
  onmessage?: (message: string) => void;
  onclose?: () => void;
  readonly #toBrowser: Writable;
  #pieces: Buffer[] = [];

  /** @param toBrowser file descriptor 3 of the browser, `fromBrowser` its 4 */
  constructor(toBrowser: Writable, fromBrowser: Readable) {
    this.#toBrowser = toBrowser;
    toBrowser.on('error', () => undefined);
    fromBrowser.on('data', (piece: Buffer) => this.#read(piece));
    fromBrowser.once('close', () => this.onclose?.());
  }

  send(message: string): void {
    if (this.#toBrowser.writable) this.#toBrowser.write(`${message}\0`);
  }

  close(): void {
    this.#toBrowser.end();
  }

  #read(piece: Buffer): void {
    let start = 0;
    for (let end = piece.indexOf(0); end >= 0; end = piece.indexOf(0, start)) {
      const message = Buffer.concat([...this.#pieces, piece.subarray(start, end)]).toString('utf8');
      this.#pieces = [];
      start = end + 1;
      this.onmessage?.(message);
    }
    if (start < piece.length) this.#pieces.push(piece.subarray(start));
  }
}
