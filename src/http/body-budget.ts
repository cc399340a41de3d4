/**
 * How many bytes of bodies are held at a time. A body that finds no room waits, unread, in the order of arrival: its
 * client is held up by the network, and the process keeps its memory however many clients come at once.
 */
import type { ServerResponse } from 'node:http';

interface Waiting {
  readonly sizeBytes: number;
  readonly enter: () => void;
}

export class BodyBudget {
  readonly #capacityBytes: number;
  readonly #waiting: Waiting[] = [];
  #heldBytes = 0;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  /**
   * Resolves when there is room for a body, which is given back when its response is closed; rejects with `gone` where
   * that happens first. One that is larger than everything waits until it is alone.
   */
  async enter(sizeBytes: number, response: ServerResponse, gone: () => Error): Promise<void> {
    if (this.#hasRoom(sizeBytes) && this.#waiting.length === 0) this.#heldBytes += sizeBytes;
    else await this.#wait(sizeBytes, response, gone);
    if (response.destroyed) this.#leave(sizeBytes);
    else response.once('close', () => this.#leave(sizeBytes));
  }

  #hasRoom(sizeBytes: number): boolean {
    return this.#heldBytes === 0 || this.#heldBytes + sizeBytes <= this.#capacityBytes;
  }

  #wait(sizeBytes: number, response: ServerResponse, gone: () => Error): Promise<void> {
    return new Promise((resolve, reject) => {
      const onClose = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        this.#admit();
        reject(gone());
      };
      const waiting: Waiting = {
        sizeBytes,
        enter: () => {
          response.off('close', onClose);
          resolve();
        },
      };
      response.once('close', onClose);
      this.#waiting.push(waiting);
    });
  }

  #leave(sizeBytes: number): void {
    this.#heldBytes -= sizeBytes;
    this.#admit();
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.sizeBytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#heldBytes += next.sizeBytes;
      next.enter();
    }
  }
}
