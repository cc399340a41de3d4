/** Every remote target of the configuration, opened at start and closed at shutdown. A protocol is a function here. */
import type { RemoteTargetBook } from '../sink.js';
import type { TransferConfig } from '../targets.js';
import { type RemoteProtocol, RemoteTarget, type RemoteTargetOptions } from './target.js';

type TargetMaps = Pick<TransferConfig, 'ftpTargets' | 's3Targets' | 'webdavTargets' | 'sftpTargets'>;

/** Keys that every kind of target has. */
interface CommonKeys {
  readonly maxBytes: number;
  readonly overwrite: boolean;
  readonly timeoutSeconds: number;
  readonly maxIdle?: number;
  readonly idleTtlMs?: number;
}

export class RemoteTargets implements RemoteTargetBook {
  readonly #targets = new Map<string, RemoteTarget>();

  /** Connects to nothing yet; loads the libraries of those protocols alone that are configured. */
  static async open(config: TargetMaps): Promise<RemoteTargets> {
    const book = new RemoteTargets();
    await book.#add('ftp', config.ftpTargets, async () => (await import('./ftp.js')).ftpProtocol);
    await book.#add('s3', config.s3Targets, async () => (await import('./s3.js')).s3Protocol);
    await book.#add('webdav', config.webdavTargets, async () => (await import('./webdav.js')).webdavProtocol);
    await book.#add('sftp', config.sftpTargets, async () => (await import('./sftp.js')).sftpProtocol);
    return book;
  }

  async #add<Keys extends CommonKeys>(
    kind: string,
    targets: ReadonlyMap<string, Keys>,
    load: () => Promise<(keys: Keys) => RemoteProtocol>,
  ): Promise<void> {
    if (targets.size === 0) return;
    const protocolOf = await load();
    for (const [name, keys] of targets) {
      const protocol = protocolOf(keys);
      await protocol.prepare?.();
      this.#targets.set(`${kind}/${name}`, new RemoteTarget(optionsOf(kind, name, keys), protocol));
    }
  }

  named(kind: string, name: string): RemoteTarget | undefined {
    return this.#targets.get(`${kind}/${name}`);
  }

  close(): void {
    for (const target of this.#targets.values()) target.close();
  }
}

function optionsOf(kind: string, name: string, keys: CommonKeys): RemoteTargetOptions {
  const { maxBytes, overwrite, timeoutSeconds, maxIdle, idleTtlMs } = keys;
  return {
    kind,
    name,
    maxBytes,
    mayReplace: overwrite,
    timeoutMs: timeoutSeconds * 1000,
    pool: maxIdle === undefined || idleTtlMs === undefined ? undefined : { maxIdle, idleTtlMs },
  };
}
