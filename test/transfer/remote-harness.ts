/** Deliveries to a target as the configuration opens it, with a ledger in memory and products on disk. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/app.js';
import { RemoteTargets } from '../../src/transfer/remote/book.js';
import type { Delivery, Receipt, SinkFile, UploadLedger, UploadRecord } from '../../src/transfer/sink.js';
import { sinkKindNamed } from '../../src/transfer/sinks/index.js';
import { temporaryFolder } from '../support/jobs.js';

export class MemoryLedger implements UploadLedger {
  readonly #jobs = new Map<string, Map<string, UploadRecord>>();
  /** Called with each file that has been delivered: a test may end the run there. */
  onDelivered: ((receipt: Receipt) => void) | undefined;

  #of(jobId: string): Map<string, UploadRecord> {
    const records = this.#jobs.get(jobId) ?? new Map<string, UploadRecord>();
    this.#jobs.set(jobId, records);
    return records;
  }

  async planned(jobId: string): Promise<readonly UploadRecord[]> {
    return [...this.#of(jobId).values()];
  }

  async plan(jobId: string, files: readonly Omit<UploadRecord, 'isDelivered'>[]): Promise<void> {
    for (const file of files) {
      const known = this.#of(jobId).get(file.name);
      const isSame = known?.sha256 === file.sha256 && known.location === file.location;
      if (!isSame) this.#of(jobId).set(file.name, { ...file, isDelivered: false });
    }
  }

  async delivered(jobId: string, receipt: Receipt): Promise<void> {
    this.onDelivered?.(receipt);
    const { name, sizeBytes, sha256, location } = receipt;
    this.#of(jobId).set(name, { name, sizeBytes, sha256, location, isDelivered: true });
  }
}

export interface DeliverOptions {
  readonly path?: string;
  readonly jobId?: string;
  readonly attempt?: number;
  readonly signal?: AbortSignal;
  readonly onAlive?: () => void;
  /** Of another harness, in place of its own. */
  readonly ledger?: UploadLedger;
}

export const JOB = 'dn8h75g98u8d';

export class RemoteHarness {
  readonly kind: string;
  readonly ledger = new MemoryLedger();
  readonly #folder = temporaryFolder('remote');
  readonly #targets: RemoteTargets;

  private constructor(kind: string, targets: RemoteTargets) {
    this.kind = kind;
    this.#targets = targets;
  }

  /** @param keys of the target, as the configuration file has them */
  static async open(kind: string, keys: Record<string, unknown>): Promise<RemoteHarness> {
    const folder = temporaryFolder('remote-config');
    const path = join(folder.path, 'config.json');
    const config = {
      listen: '127.0.0.1:0',
      api_key: 'test-key-of-sixteen-and-more',
      db_path: join(folder.path, 'jobs.db'),
      temp_dir: join(folder.path, 'tmp'),
      output_dir: join(folder.path, 'out'),
      log_dir: join(folder.path, 'log'),
      allow_insecure_ftp: true,
      allow_insecure_s3: true,
      [`${kind}_targets`]: { box: { timeout_seconds: 20, ...keys } },
    };
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    const targets = await RemoteTargets.open(loadConfig(path, {}).config);
    folder.remove();
    return new RemoteHarness(kind, targets);
  }

  /** A product as a conversion has left it. */
  made(name: string, content: string | Buffer): SinkFile {
    const path = join(this.#folder.path, name);
    writeFileSync(path, content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { name, path, sizeBytes: Buffer.byteLength(content), sha256 };
  }

  deliver(files: readonly SinkFile[], options: DeliverOptions = {}): Promise<Delivery> {
    const { path, jobId = JOB, attempt = 1, signal, onAlive, ledger = this.ledger } = options;
    const settings = { outputDir: '/none', targets: this.#targets, ledger };
    const sink = sinkKindNamed(this.kind)?.open({ jobId, attempt }, { remote: { target: 'box', path } }, settings);
    if (!sink) throw new Error(`No sink ${this.kind}`);
    return sink.deliver(files, signal ?? new AbortController().signal, onAlive ?? (() => undefined));
  }

  close(): void {
    this.#targets.close();
    this.#folder.remove();
  }
}

/** Bytes that compress badly and are the same in every run. */
export function noise(sizeBytes: number, seed = 1): Buffer {
  const bytes = Buffer.allocUnsafe(sizeBytes);
  let state = seed;
  for (let at = 0; at < sizeBytes; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    bytes[at] = state >> 16;
  }
  return bytes;
}
