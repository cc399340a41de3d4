/** A line between the service and a server that can be cut, held, slowed or closed. */
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What is done to connections. Bytes are those that the client has sent, over all connections since the fault was set. */
export type Fault =
  | { readonly kind: 'none' }
  /** Nobody listens. */
  | { readonly kind: 'refuse' }
  /** The line is reset, both ways, when so many bytes have passed. */
  | { readonly kind: 'reset'; readonly afterBytes: number }
  /** It is closed in order. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Nothing passes any more, and nobody says so. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }
  /** What the client says reaches the server; no answer comes back from when it has said this. */
  | { readonly kind: 'mute'; readonly from: string };

export class FaultProxy {
  readonly host: string;
  readonly #ports: readonly number[];
  #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #fault: Fault = { kind: 'none' };
  #sentBytes = 0;
  #connections = 0;
  #turns = 0;
  #lastWay = '';
  #isMute = false;

  private constructor(host: string, ports: readonly number[]) {
    this.host = host;
    this.#ports = ports;
  }

  /** @param host a loopback address of its own: the ports are those of the server */
  static async start(ports: readonly number[], host = '127.0.0.2'): Promise<FaultProxy> {
    const proxy = new FaultProxy(host, ports);
    await proxy.#listen();
    return proxy;
  }

  /** Since the last `set`. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  get connections(): number {
    return this.#connections;
  }

  /** How often the server answered after the client had spoken: what a distance would cost, once each. */
  get roundTrips(): number {
    return this.#turns;
  }

  /** Cuts every connection and treats new ones so. */
  async set(fault: Fault): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const wasDeaf = this.#fault.kind === 'refuse';
    this.#fault = fault;
    this.#sentBytes = 0;
    this.#connections = 0;
    this.#turns = 0;
    this.#isMute = false;
    if (fault.kind === 'refuse' && !wasDeaf) await this.#deafen();
    if (fault.kind !== 'refuse' && wasDeaf) await this.#listen();
  }

  async #listen(): Promise<void> {
    this.#servers = await Promise.all(
      this.#ports.map(async (port) => {
        const server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket, port));
        await new Promise<void>((resolve, reject) => {
          server.once('error', reject);
          server.listen(port, this.host, resolve);
        });
        return server;
      }),
    );
  }

  async #deafen(): Promise<void> {
    const servers = this.#servers;
    this.#servers = [];
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #accept(client: Socket, port: number): void {
    this.#connections += 1;
    const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    }
    client.on('data', (piece: Buffer) => void this.#pass(piece, client, server));
    server.on('data', (piece: Buffer) => {
      this.#turn('back');
      if (!this.#isStalled() && !this.#isMute) client.write(piece);
    });
    client.once('end', () => !this.#isStalled() && server.end());
    server.once('end', () => !this.#isStalled() && client.end());
    client.once('close', () => server.destroy());
    server.once('close', () => {
      if (!this.#isStalled()) client.destroySoon();
    });
  }

  #turn(way: string): void {
    if (way === 'back' && this.#lastWay === 'out') this.#turns += 1;
    this.#lastWay = way;
  }

  #isStalled(): boolean {
    return this.#fault.kind === 'stall' && this.#sentBytes >= this.#fault.afterBytes;
  }

  async #pass(piece: Buffer, client: Socket, server: Socket): Promise<void> {
    this.#turn('out');
    const fault = this.#fault;
    if (fault.kind === 'mute' && piece.includes(fault.from)) this.#isMute = true;
    if (fault.kind === 'slow') {
      client.pause();
      server.write(piece);
      await new Promise((resolve) => setTimeout(resolve, (piece.length / fault.bytesPerSecond) * 1000));
      client.resume();
      return;
    }
    if (!('afterBytes' in fault)) {
      this.#sentBytes += piece.length;
      server.write(piece);
      return;
    }
    const rest = fault.afterBytes - this.#sentBytes;
    this.#sentBytes += piece.length;
    if (rest > 0) server.write(piece.subarray(0, rest));
    if (piece.length < rest) return;
    if (fault.kind === 'reset') {
      client.resetAndDestroy();
      server.resetAndDestroy();
    } else if (fault.kind === 'cut') {
      client.destroy();
      server.end();
    }
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#deafen();
  }
}
