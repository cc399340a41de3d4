/** A receiver of notifications that fails now and then: refuses, answers late, hangs up. Keeps whom it took what from. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Numbers } from '../fuzz/numbers.js';

/** Longer than the target's `timeout_seconds`. */
const LATE_MS = 4000;

export class Receiver {
  /** How often each id was taken: answered with 204, and the answer went out. */
  readonly taken = new Map<string, number>();
  /** Bodies by id; more than one is a fault. */
  readonly bodies = new Map<string, Set<string>>();
  calls = 0;
  readonly #numbers: Numbers;
  readonly #server = createServer(async (request, response) => {
    let body: string;
    try {
      body = Buffer.concat(await request.toArray()).toString();
    } catch {
      return;
    }
    this.calls += 1;
    const id = String(request.headers['x-ofd-delivery']);
    const bodies = this.bodies.get(id) ?? new Set();
    this.bodies.set(id, bodies.add(body));
    this.#answer(id, response);
  });

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(id: string, response: ServerResponse): void {
    const fate = this.#numbers.below(100);
    if (fate < 6) response.writeHead(503).end();
    else if (fate < 8) response.writeHead(429, { 'retry-after': '1' }).end();
    else if (fate < 10) response.destroy();
    else if (fate < 11) setTimeout(() => response.destroy(), LATE_MS);
    else {
      this.taken.set(id, (this.taken.get(id) ?? 0) + 1);
      response.writeHead(204).end();
    }
  }
}

/** How often the service waited for an answer in vain, by notification: such a one may be taken once more. */
export function unansweredOf(logLines: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of logLines.split('\n')) {
    if (!line.includes('"msg":"notify"') || !line.includes('no answer within')) continue;
    const { notification } = JSON.parse(line) as { readonly notification: string };
    counts.set(notification, (counts.get(notification) ?? 0) + 1);
  }
  return counts;
}
