/** Answers that stay open while something goes on elsewhere: each ends when its client goes, or when the server closes. */
import type { HttpServer } from './services.js';

export class OpenAnswers {
  readonly #ends = new Set<() => void>();
  #isClosing = false;

  constructor(server: HttpServer) {
    server.addHook('preClose', async () => {
      this.#isClosing = true;
      for (const end of [...this.#ends]) end();
    });
  }

  /**
   * Notes an open answer.
   * @param end called when the server closes, or at once where it is closing
   * @returns to be called when the answer has ended
   */
  add(end: () => void): () => void {
    if (this.#isClosing) end();
    else this.#ends.add(end);
    return () => this.#ends.delete(end);
  }
}
