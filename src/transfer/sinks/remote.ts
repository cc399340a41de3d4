/**
 * Sinks `ftp`, `s3`, `webdav` and `sftp` (contract S2–S7), written once: where a product goes, what is never overwritten,
 * what an earlier attempt has delivered already, and that a name shows a whole file or none.
 */
import { createReadStream } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../errors.js';
import { pathSegments, refusePath } from '../path-segments.js';
import { folderAround, inFolder, type RemoteClient, type RemoteEntry, RemoteFault } from '../remote/client.js';
import { digestOf, HashedFile } from '../remote/outgoing-file.js';
import { RemoteSession } from '../remote/session.js';
import type { RemoteTarget } from '../remote/target.js';
import {
  type Delivery,
  type Destination,
  type Receipt,
  type Sink,
  type SinkFile,
  type SinkKind,
  type SinkOwner,
  type SinkSettings,
  totalBytes,
  type UploadLedger,
  type UploadRecord,
} from '../sink.js';

/** Longest `output.remote.path`; the longest key that an object store takes. */
const MAX_PATH_BYTES = 1024;
const FIELD = 'output.remote.path';

/** The row of a remote kind in the table of sinks. */
export function remoteSink(kind: string): SinkKind {
  return {
    kind,
    check: (destination, settings) => {
      targetNamed(kind, destination, settings);
      subfolder(destination);
    },
    open: (owner, destination, settings) =>
      new RemoteSink(owner, targetNamed(kind, destination, settings), subfolder(destination), settings.ledger),
  };
}

function targetNamed(kind: string, { remote }: Destination, { targets }: SinkSettings): RemoteTarget {
  if (!remote?.target) {
    const example = `{"target": "name"}, one of the ${kind}_targets of the service`;
    throw new ServiceError('invalid_request', `output.remote is required where output.kind is "${kind}": ${example}`);
  }
  const target = targets?.named(kind, remote.target);
  if (target) return target;
  throw new ServiceError(
    'unknown_remote_target',
    `output.remote.target: "${remote.target}" is not among the ${kind}_targets of the service`,
  );
}

/** The components of `output.remote.path`, each checked before anything is joined. */
function subfolder({ remote }: Destination): string[] {
  const path = remote?.path ?? '';
  if (path.startsWith('/')) refusePath(path, FIELD, 'must be relative: it lies below the folder of the target');
  return pathSegments(path, FIELD, MAX_PATH_BYTES);
}

/** What is to be done about one file. */
interface Step {
  readonly file: SinkFile;
  readonly index: number;
  /** It stands there already: an earlier attempt of this job has put it there. */
  readonly isThere: boolean;
}

class RemoteSink implements Sink {
  readonly maxBytes: number;
  readonly #owner: SinkOwner;
  readonly #target: RemoteTarget;
  readonly #folder: string;
  readonly #ledger: UploadLedger | undefined;

  constructor(owner: SinkOwner, target: RemoteTarget, segments: readonly string[], ledger: UploadLedger | undefined) {
    this.maxBytes = target.maxBytes;
    this.#owner = owner;
    this.#target = target;
    this.#folder = target.folder(segments);
    this.#ledger = ledger;
  }

  async deliver(files: readonly SinkFile[], signal: AbortSignal, onAlive: () => void): Promise<Delivery> {
    for (const file of files) this.#checkSize(file);
    const receipts = await this.#withFreshSecrets(async () => {
      const session = new RemoteSession(this.#target, signal, onAlive);
      try {
        return await this.#deliverAll(session, files);
      } finally {
        session.close();
      }
    }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : this.#target.errorOf(error);
    });
    const path = this.#target.location(this.#folder);
    return { output: { kind: this.#target.kind, path, sizeBytes: totalBytes(files) }, receipts };
  }

  #checkSize({ name, sizeBytes }: SinkFile): void {
    const { maxBytes } = this;
    if (sizeBytes <= maxBytes) return;
    throw new ServiceError(
      'output_too_large',
      `${name} has ${sizeBytes} bytes; target "${this.#target.name}" takes ${maxBytes} (max_bytes)`,
      { reason: 'too_large' },
    );
  }

  /** A secret that was changed in its file while the service runs is taken up when the old one is refused. */
  async #withFreshSecrets<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const isLogin = error instanceof RemoteFault && error.kind === 'login';
      if (!isLogin || !this.#target.reloadSecrets()) throw error;
      return work();
    }
  }

  async #deliverAll(session: RemoteSession, files: readonly SinkFile[]): Promise<Receipt[]> {
    const records = new Map((await this.#planned()).map((record) => [record.name, record]));
    const isNew = await this.#makeFolder(session, this.#folder);
    const steps = await this.#plan(session, files, records, isNew);
    await this.#ledger?.plan(
      this.#owner.jobId,
      files.map(({ name, sizeBytes, sha256 }) => ({ name, sizeBytes, sha256, location: this.#location(name) })),
    );
    if (records.size > 0) await this.#removeStale(session, steps, records);
    const receipts: Receipt[] = [];
    for (const step of steps) {
      if (!step.isThere) await this.#send(session, step);
      const { name, sizeBytes, sha256 } = step.file;
      const location = this.#location(name);
      const receipt = { name, sizeBytes, sha256, location, reused: step.isThere, deliveredAtMs: Date.now() };
      await this.#ledger?.delivered(this.#owner.jobId, receipt);
      receipts.push(receipt);
    }
    return receipts;
  }

  /** What earlier attempts have planned at this very place. */
  async #planned(): Promise<readonly UploadRecord[]> {
    const records = (await this.#ledger?.planned(this.#owner.jobId)) ?? [];
    return records.filter(({ name, location }) => location === this.#location(name));
  }

  /** Makes a folder and those around it that are missing. True where it was not there. */
  async #makeFolder(session: RemoteSession, path: string): Promise<boolean> {
    const around = folderAround(path);
    if (around === undefined || (await session.step((client) => client.hasFolder(path)))) return false;
    await this.#makeFolder(session, around);
    // A failure counts only where the folder is not there afterwards: another job may have made it in between.
    let failure: unknown;
    await session.step((client) =>
      client.makeFolder(path).catch((error: unknown) => {
        if (!(error instanceof RemoteFault) || error.kind === 'unreachable') throw error;
        failure = error;
      }),
    );
    if (failure === undefined) return true;
    if (await session.step((client) => client.hasFolder(path))) return false;
    throw failure;
  }

  /** Looks at every name before the first byte goes out, so that a conflict leaves nothing behind. */
  async #plan(
    session: RemoteSession,
    files: readonly SinkFile[],
    records: ReadonlyMap<string, UploadRecord>,
    isNewFolder: boolean,
  ): Promise<Step[]> {
    const names = files.map(({ name }) => name);
    const found = isNewFolder
      ? new Map<string, RemoteEntry>()
      : await session.step((client) => client.find(this.#folder, names));
    const steps: Step[] = [];
    for (const [index, file] of files.entries()) {
      const entry = found.get(file.name);
      const isThere = entry !== undefined && (await this.#isDelivered(session, file, entry, records.get(file.name)));
      steps.push({ file, index, isThere });
    }
    return steps;
  }

  /**
   * Whether this job has put exactly this file there.
   * @throws ServiceError `conflict` where something else stands there that may not be replaced
   */
  async #isDelivered(
    session: RemoteSession,
    file: SinkFile,
    entry: RemoteEntry,
    record: UploadRecord | undefined,
  ): Promise<boolean> {
    if (entry.isFile && record && (await this.#isOurs(session, file, entry, record))) {
      if (record.sha256 === file.sha256 && entry.sizeBytes === file.sizeBytes) return true;
      // Of an earlier run that made other bytes, or half a file: it is ours to take away.
      await session.step((client) => client.remove(inFolder(this.#folder, file.name)));
      return false;
    }
    if (entry.isFile && this.#target.mayReplace) return false;
    throw this.#conflict(file.name, entry.isFile ? 'exists' : 'is a folder');
  }

  #conflict(name: string, what: string): ServiceError {
    const ways =
      'choose another output.remote.path or output.file_name, remove the file, or set overwrite for the target';
    return new ServiceError('conflict', `${this.#location(name)} ${what} and is not overwritten: ${ways}`);
  }

  /** Whether what stands there is what the record says, or, where no temporary name is used, the start of it. */
  async #isOurs(session: RemoteSession, file: SinkFile, entry: RemoteEntry, record: UploadRecord): Promise<boolean> {
    const isWhole = entry.sizeBytes === record.sizeBytes;
    if (isWhole) {
      const sha256 = entry.sha256 ?? (await this.#readBack(session, file.name, record.sizeBytes)).sha256;
      return sha256 === record.sha256;
    }
    const mayBeHalf = record.sha256 === file.sha256 && entry.sizeBytes < record.sizeBytes;
    return mayBeHalf && (await this.#isHalf(session, file, entry.sizeBytes));
  }

  async #isHalf(session: RemoteSession, file: SinkFile, sizeBytes: number): Promise<boolean> {
    if (await session.step(async ({ rename }) => rename !== undefined)) return false;
    if (sizeBytes === 0) return true;
    // It may still grow: a server writes down what it had of a request that broke off.
    const there = await session.step((client) => {
      const pieces = watched(client.read(inFolder(this.#folder, file.name)), session);
      return digestOf(firstOf(pieces, sizeBytes), sizeBytes);
    });
    const start = createReadStream(file.path, { start: 0, end: sizeBytes - 1 }) as AsyncIterable<Buffer>;
    return there.sizeBytes === sizeBytes && there.sha256 === (await digestOf(start, sizeBytes)).sha256;
  }

  #readBack(session: RemoteSession, name: string, maxBytes: number): ReturnType<typeof digestOf> {
    return session.step((client) => digestOf(watched(client.read(inFolder(this.#folder, name)), session), maxBytes));
  }

  /**
   * Takes away what earlier attempts that ended in the middle have left under temporary names. Files go out one after the
   * other, so that it can only be at the first that is planned and not known to have arrived.
   */
  async #removeStale(
    session: RemoteSession,
    steps: readonly Step[],
    records: ReadonlyMap<string, UploadRecord>,
  ): Promise<void> {
    const first = steps.find(({ file }) => records.get(file.name)?.isDelivered === false);
    if (!first) return;
    for (let attempt = 1; attempt < this.#owner.attempt; attempt += 1) {
      await session.step(async (client) => {
        if (client.rename) await client.remove(this.#temporaryPath(first.index, attempt));
      });
    }
    await session.step(async (client) => client.abandon?.(inFolder(this.#folder, first.file.name)));
  }

  /** Of this attempt alone: an older one that still lives must not find another's half file under its name. */
  #temporaryPath(index: number, attempt: number): string {
    return inFolder(this.#folder, `.${this.#owner.jobId}-${attempt}-${index}.part`);
  }

  async #send(session: RemoteSession, { file, index }: Step): Promise<void> {
    const { mayReplace } = this.#target;
    const path = inFolder(this.#folder, file.name);
    const temporary = this.#temporaryPath(index, this.#owner.attempt);
    const outgoing = new HashedFile(file, (isLast) => session.alive(isLast));
    let isSent = false;
    try {
      const isStored = await session.step(async (client) => {
        if (!client.rename) return client.put(path, outgoing, mayReplace);
        await client.put(temporary, outgoing, true);
        return true;
      });
      isSent = true;
      const stored = await session.step(async (client) => {
        if (!isStored) return true;
        await this.#checkStored(client, file, client.rename ? temporary : path);
        return client.rename?.(temporary, path, mayReplace) ?? true;
      });
      if (!(isStored && stored)) throw this.#conflict(file.name, 'exists');
    } catch (error) {
      const isConflict = error instanceof ServiceError && error.code === 'conflict';
      await this.#cleanUp(file, isConflict ? undefined : path, temporary, isSent);
      throw error;
    }
  }

  /** A server that says that all is well may still have kept less: a full disk, a proxy that cuts. */
  async #checkStored(client: RemoteClient, file: SinkFile, path: string): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const entry = (await client.find(this.#folder, [name])).get(name);
    // Where no temporary name is used, another may have come in between.
    if (!client.rename && entry?.sha256 !== undefined && entry.sha256 !== file.sha256) {
      throw this.#conflict(file.name, 'exists');
    }
    if (entry?.sizeBytes === file.sizeBytes) return;
    const arrived = entry ? `${entry.sizeBytes} bytes` : 'nothing';
    throw new ServiceError(
      'checksum_mismatch',
      `${file.name} has ${file.sizeBytes} bytes, and ${arrived} arrived at target "${this.#target.name}"`,
      { reason: 'internal' },
    );
  }

  /**
   * Removes half a file after a failure, as far as that can be done at once; the next attempt does the rest.
   * @param path where half a file may stand under its final name; undefined where that is somebody else's
   * @param isSent the server has answered: nothing comes after what stands there now
   */
  async #cleanUp(file: SinkFile, path: string | undefined, temporary: string, isSent: boolean): Promise<void> {
    const session = new RemoteSession(this.#target, AbortSignal.timeout(CLEAN_UP_MS), () => undefined);
    try {
      const hasTemporary = await session.step(async ({ rename }) => rename !== undefined);
      if (hasTemporary) {
        await session.step((client) => client.remove(temporary));
        // A server that has not noticed yet that its request broke off may put the file there only now.
        for (const pauseMs of isSent ? [] : LATE_FILE_MS) {
          await delay(pauseMs);
          await session.step((client) => client.remove(temporary));
        }
      } else if (path !== undefined && (await this.#isHalfAt(session, file)))
        await session.step((client) => client.remove(path));
    } catch {
      // The target is out of reach: what is left there is known by its name, or by what it begins with.
    } finally {
      session.close();
    }
  }

  async #isHalfAt(session: RemoteSession, file: SinkFile): Promise<boolean> {
    const found = await session.step((client) => client.find(this.#folder, [file.name]));
    const entry = found.get(file.name);
    return entry !== undefined && entry.sizeBytes < file.sizeBytes && this.#isHalf(session, file, entry.sizeBytes);
  }

  #location(name: string): string {
    return this.#target.location(inFolder(this.#folder, name));
  }
}

/** A cancelled run ends within two seconds (contract R3). */
const CLEAN_UP_MS = 1500;
/** Pauses before each further look for a file that comes late; together they leave time for the looks. */
const LATE_FILE_MS = [100, 200, 300, 500] as const;

async function* firstOf(pieces: AsyncIterable<Uint8Array>, lengthBytes: number): AsyncGenerator<Uint8Array> {
  let leftBytes = lengthBytes;
  for await (const piece of pieces) {
    yield piece.subarray(0, leftBytes);
    leftBytes -= piece.length;
    if (leftBytes <= 0) return;
  }
}

async function* watched(pieces: AsyncIterable<Uint8Array>, session: RemoteSession): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    session.alive();
    yield piece;
  }
}
