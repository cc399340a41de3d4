/** A receiver of notifications that keeps what it gets and checks each signature; some calls it answers late or badly. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Delivery {
  readonly jobId: string;
  /** Different bodies under one id; one where all is well. */
  readonly bodies: Set<string>;
  calls: number;
}

export class Receiver {
  readonly deliveries = new Map<string, Delivery>();
  readonly faults: string[] = [];
  /** Called with each notification before it is answered. */
  onCall: () => void = () => undefined;
  readonly #secret: string;
  readonly #isRefused: () => boolean;
  readonly #server = createServer(async (request, response) => {
    try {
      this.#take(request, Buffer.concat(await request.toArray()).toString());
    } catch {
      // The caller was killed while it was sending.
      return;
    }
    this.onCall();
    response.writeHead(this.#isRefused() ? 503 : 204).end();
  });

  /** @param isRefused whether a call is answered with 503 */
  constructor(secret: string, isRefused: () => boolean) {
    this.#secret = secret;
    this.#isRefused = isRefused;
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #take({ headers }: IncomingMessage, body: string): void {
    const id = String(headers['x-ofd-delivery']);
    const expected = `v1=${createHmac('sha256', this.#secret).update(`v1.${headers['x-ofd-timestamp']}.${body}`).digest('hex')}`;
    const given = String(headers['x-ofd-signature']);
    if (given.length !== expected.length || !timingSafeEqual(Buffer.from(given), Buffer.from(expected))) {
      this.faults.push(`${id}: signature ${given}`);
    }
    const { job_id: jobId } = JSON.parse(body) as { job_id: string };
    if (jobId !== headers['x-ofd-job']) this.faults.push(`${id}: job ${jobId}`);
    const delivery = this.deliveries.get(id) ?? { jobId, bodies: new Set(), calls: 0 };
    delivery.bodies.add(body);
    delivery.calls += 1;
    this.deliveries.set(id, delivery);
  }
}
