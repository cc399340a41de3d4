/**
 * A configured remote target: its limits, its sessions, and how its failures are told to a client. What differs between
 * protocols is behind RemoteProtocol.
 */
import type { Secret } from '../../config/secret.js';
import { ServiceError } from '../../errors.js';
import { Pool, type PoolOptions } from '../pool.js';
import { faultOf, type RemoteClient, RemoteFault } from './client.js';

/** What a protocol makes of the keys of a target. */
export interface RemoteProtocol {
  /** The folder below base_dir or prefix, as its clients want it. */
  folder(segments: readonly string[]): string;
  /** Address of a path for people and programs; no credentials in it. */
  location(path: string): string;
  /**
   * @param signal gives up, leaving nothing open
   * @param onAlive called with every sign of the server's: a login takes several steps
   * @throws RemoteFault, or what the network says
   */
  connect(signal: AbortSignal, onAlive: () => void): Promise<RemoteClient>;
  /** Does at start what would stop the whole service for a moment later. Never fails: the run that needs it does. */
  prepare?(): Promise<void>;
  /** Read again when a login fails. */
  readonly secrets: readonly Secret[];
  /** Frees what sessions share. */
  close?(): void;
}

export interface RemoteTargetOptions {
  /** The word of `output.kind`. */
  readonly kind: string;
  /** In the configuration. */
  readonly name: string;
  readonly maxBytes: number;
  readonly mayReplace: boolean;
  /** For each step in which nothing moves. */
  readonly timeoutMs: number;
  /** Where connections are kept between jobs. */
  readonly pool?: Pick<PoolOptions, 'maxIdle' | 'idleTtlMs'> | undefined;
}

type PooledClient = RemoteClient & { probe(): Promise<void> };

export class RemoteTarget implements RemoteTargetOptions {
  readonly kind: string;
  readonly name: string;
  readonly maxBytes: number;
  readonly mayReplace: boolean;
  readonly timeoutMs: number;
  readonly #protocol: RemoteProtocol;
  readonly #pool: Pool<PooledClient> | undefined;

  constructor(options: RemoteTargetOptions, protocol: RemoteProtocol) {
    this.kind = options.kind;
    this.name = options.name;
    this.maxBytes = options.maxBytes;
    this.mayReplace = options.mayReplace;
    this.timeoutMs = options.timeoutMs;
    this.#protocol = protocol;
    this.#pool =
      options.pool &&
      new Pool((signal, onAlive) => this.#protocol.connect(signal, onAlive) as Promise<PooledClient>, {
        ...options.pool,
        probeTimeoutMs: Math.min(PROBE_MS, options.timeoutMs),
      });
  }

  folder(segments: readonly string[]): string {
    return this.#protocol.folder(segments);
  }

  location(path: string): string {
    return this.#protocol.location(path);
  }

  /** A session, new or kept. The caller gives it back. Throws as RemoteProtocol does. */
  connect(signal: AbortSignal, onAlive: () => void): Promise<RemoteClient> {
    return this.#pool?.take(signal, onAlive) ?? this.#protocol.connect(signal, onAlive);
  }

  /** @param isHealthy false after any failure */
  giveBack(client: RemoteClient, isHealthy: boolean): void {
    if (this.#pool) this.#pool.giveBack(client as PooledClient, isHealthy);
    else client.destroy();
  }

  /** Reads the secrets again from their files. Whether one of them has changed. */
  reloadSecrets(): boolean {
    // Each of them, also behind one that has changed.
    return this.#protocol.secrets.map((secret) => secret.reload()).includes(true);
  }

  /** Ends kept connections, and those in use when they come back. */
  close(): void {
    this.#pool?.close();
    this.#protocol.close?.();
  }

  /** How a failure is told: the target, its address, what was said; a code by whether it may pass (contract R4). */
  errorOf(error: unknown): unknown {
    const fault = faultOf(error);
    if (!(fault instanceof RemoteFault)) return fault;
    const text = this.#withoutSecrets(fault.message).replace(/\s+/g, ' ').slice(0, MAX_MESSAGE);
    const code = CODES[fault.kind];
    const advice = fault.kind === 'login' ? `; check the credentials of ${this.kind}_targets.${this.name}` : '';
    return new ServiceError(code, `Target "${this.name}" (${this.location(this.folder([]))}) ${text}${advice}`, {
      reason: 'internal',
      cause: error,
    });
  }

  #withoutSecrets(text: string): string {
    return this.#protocol.secrets.reduce((shown, secret) => shown.replaceAll(secret.reveal(), '[secret]'), text);
  }
}

const PROBE_MS = 5000;
const MAX_MESSAGE = 500;

const CODES = {
  unreachable: 'sink_unreachable',
  login: 'sink_refused',
  refused: 'sink_refused',
  full: 'insufficient_storage',
} as const;
