/** SFTP (contract S6): the operations of the protocol, with their own status codes. */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { SFTPWrapper, Stats } from 'ssh2';
import type { ConfigOf } from '../../config/key.js';
import type { Secret } from '../../config/secret.js';
import { partsOf } from '../path-segments.js';
import type { SFTP_KEYS } from '../targets.js';
import { urlPath } from './address.js';
import {
  faultOf,
  folderAround,
  inFolder,
  type OutgoingFile,
  type RemoteClient,
  type RemoteEntry,
  RemoteFault,
} from './client.js';
import { connectSftp, HostKeys, type OpenSftp, PrivateKeys } from './sftp-login.js';
import type { RemoteProtocol } from './target.js';

/** Requests that may be on their way at a time: a round trip each would make every file slow. */
const QUESTIONS = 16;
const WRITES = 8;
const READS = 8;
const READ_BYTES = 32 * 1024;

type SftpSettings = ConfigOf<typeof SFTP_KEYS>;

export function sftpProtocol(settings: SftpSettings): RemoteProtocol {
  const base = settings.baseDir.replace(/(?<!\/)\/+$/, '') || (settings.baseDir === '' ? '' : '/');
  const { auth } = settings;
  const secrets = [auth.password, auth.privateKeyPassphrase].filter((secret) => secret !== undefined) as Secret[];
  const hostKeys = new HostKeys(settings);
  const privateKeys = new PrivateKeys(settings);
  return {
    folder: (segments) => segments.reduce(inFolder, base),
    location: (path) => `sftp://${settings.addr}/${urlPath(partsOf(path))}`,
    connect: async (signal, onAlive) =>
      new SftpClient(await connectSftp({ settings, hostKeys, privateKeys, signal, onAlive })),
    // An encrypted key takes a second in which nothing else runs.
    prepare: async () => void (await privateKeys.current().catch(() => undefined)),
    secrets,
  };
}

class SftpClient implements RemoteClient {
  readonly #socket: Socket;
  readonly #sftp: SFTPWrapper;

  constructor({ socket, sftp }: OpenSftp) {
    this.#socket = socket;
    this.#sftp = sftp;
  }

  async hasFolder(path: string): Promise<boolean> {
    try {
      const stats = await this.#call<Stats>((done) => this.#sftp.stat(path, done));
      return stats.isDirectory();
    } catch (error) {
      if (statusOf(error) === STATUS.noSuchFile) return false;
      throw sshFault(error);
    }
  }

  async makeFolder(path: string): Promise<void> {
    await this.#call<void>((done) => this.#sftp.mkdir(path, done)).catch(rethrow);
  }

  async find(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, RemoteEntry>> {
    const found = new Map<string, RemoteEntry>();
    const waiting = [...names];
    const ask = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const stats = await this.#stat(inFolder(folder, name));
        if (stats) found.set(name, { isFile: stats.isFile(), sizeBytes: stats.size });
      }
    };
    await Promise.all(Array.from({ length: Math.min(QUESTIONS, names.length) }, ask));
    return found;
  }

  /** What stands there itself, a link too; nothing is taken for absent but what the server says is absent. */
  async #stat(path: string): Promise<Stats | undefined> {
    try {
      return await this.#call<Stats>((done) => this.#sftp.lstat(path, done));
    } catch (error) {
      if (statusOf(error) === STATUS.noSuchFile) return undefined;
      throw sshFault(error);
    }
  }

  async put(path: string, file: OutgoingFile): Promise<boolean> {
    const body = file.next();
    try {
      const handle = await this.#call<Buffer>((done) => this.#sftp.open(path, 'w', done));
      await this.#write(handle, body);
      await this.#call<void>((done) => this.#sftp.close(handle, done));
      return true;
    } catch (error) {
      if (file.failure !== undefined) throw file.failure;
      throw (await this.#isFull(error, path)) ? new RemoteFault('full', 'has no space left') : sshFault(error);
    } finally {
      body.destroy();
    }
  }

  /** Several pieces on their way at a time. */
  async #write(handle: Buffer, body: Readable): Promise<void> {
    const writing = new Set<Promise<void>>();
    let at = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      const position = at;
      at += piece.length;
      const write = this.#call<void>((done) => this.#sftp.write(handle, piece, 0, piece.length, position, done));
      const done = write.finally(() => writing.delete(done));
      writing.add(done);
      // Its failure is met below, also when that of another comes first.
      done.catch(() => undefined);
      if (writing.size >= WRITES) await Promise.race(writing);
    }
    await Promise.all(writing);
  }

  /** The protocol has no word for a full disk: OpenSSH says "Failure", and tells the free space when asked. */
  async #isFull(error: unknown, path: string): Promise<boolean> {
    if (statusOf(error) !== STATUS.failure) return false;
    try {
      const space = await this.#call<{ f_bavail: number | bigint }>((done) =>
        this.#sftp.ext_openssh_statvfs(folderAround(path) || '.', done),
      );
      return Number(space.f_bavail) === 0;
    } catch {
      return false;
    }
  }

  async rename(from: string, to: string, mayReplace: boolean): Promise<boolean> {
    if (mayReplace) return this.#renameOver(from, to);
    // What OpenSSH refuses, another server may do: look first, and let the plain rename guard the moment in between.
    if (await this.#stat(to)) return false;
    try {
      await this.#call<void>((done) => this.#sftp.rename(from, to, done));
      return true;
    } catch (error) {
      if (statusOf(error) !== undefined && (await this.#stat(to))) return false;
      throw sshFault(error);
    }
  }

  /** In one step where the server has the extension for it. */
  async #renameOver(from: string, to: string): Promise<boolean> {
    try {
      await this.#call<void>((done) => this.#sftp.ext_openssh_rename(from, to, done));
    } catch (error) {
      const isMissing = statusOf(error) === STATUS.unsupported || /extended request/i.test(String(error));
      if (!isMissing) throw sshFault(error);
      await this.remove(to);
      await this.#call<void>((done) => this.#sftp.rename(from, to, done)).catch(rethrow);
    }
    return true;
  }

  async remove(path: string): Promise<void> {
    await this.#call<void>((done) => this.#sftp.unlink(path, done)).catch((error: unknown) => {
      if (statusOf(error) !== STATUS.noSuchFile) throw sshFault(error);
    });
  }

  async *read(path: string): AsyncGenerator<Uint8Array> {
    const handle = await this.#call<Buffer>((done) => this.#sftp.open(path, 'r', done)).catch(rethrow);
    try {
      // In order, several on their way at a time; past the end a server has nothing to give.
      const reading: Promise<Buffer | undefined>[] = [];
      for (let at = 0; ; at += READ_BYTES) {
        const read = this.#readAt(handle, at);
        read.catch(() => undefined);
        reading.push(read);
        if (reading.length < READS) continue;
        const piece = await reading.shift();
        if (piece === undefined) return;
        yield piece;
      }
    } catch (error) {
      throw sshFault(error);
    } finally {
      await this.#call<void>((done) => this.#sftp.close(handle, done)).catch(() => undefined);
    }
  }

  /** Undefined at the end. */
  async #readAt(handle: Buffer, position: number): Promise<Buffer | undefined> {
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    let length = 0;
    while (length < READ_BYTES) {
      const bytesRead = await this.#readInto(handle, buffer.subarray(length), position + length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return length === 0 ? undefined : buffer.subarray(0, length);
  }

  async #readInto(handle: Buffer, buffer: Buffer, position: number): Promise<number> {
    try {
      return await this.#call<number>((done) => this.#sftp.read(handle, buffer, 0, buffer.length, position, done));
    } catch (error) {
      if (statusOf(error) === STATUS.endOfFile) return 0;
      throw error;
    }
  }

  async probe(): Promise<void> {
    await this.#call<string>((done) => this.#sftp.realpath('.', done));
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** One request; the library throws some failures in place of handing them over. */
  #call<Result>(request: (done: (error: Error | undefined | null, result?: Result) => void) => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      request((error, result) => (error ? reject(error) : resolve(result as Result)));
    });
  }
}

/** Of the protocol, version 3; the last two come from servers that speak a later one. */
const STATUS = { endOfFile: 1, noSuchFile: 2, failure: 4, connectionLost: 7, unsupported: 8, noSpace: 14, quota: 15 };

function statusOf(error: unknown): number | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? code : undefined;
}

function rethrow(error: unknown): never {
  throw sshFault(error);
}

function sshFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RemoteFault) return faultOf(error);
  const status = statusOf(error);
  if (status !== undefined) {
    const isFull = status === STATUS.noSpace || status === STATUS.quota;
    const kind = isFull
      ? 'full'
      : status > STATUS.failure && status <= STATUS.connectionLost
        ? 'unreachable'
        : 'refused';
    return new RemoteFault(kind, `answers: ${error.message}`, { cause: error });
  }
  return faultOf(error);
}
