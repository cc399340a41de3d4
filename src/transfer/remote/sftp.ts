/** SFTP by ssh2-sftp-client (contract S6): its connection, and the operations of the protocol with their own status codes. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ServerHostKeyAlgorithm, SFTPWrapper, Stats } from 'ssh2';
import SftpConnection from 'ssh2-sftp-client';
import type { ConfigOf } from '../../config/key.js';
import type { Secret } from '../../config/secret.js';
import { partsOf } from '../path-segments.js';
import type { SFTP_KEYS } from '../targets.js';
import { hostAndPort, urlPath } from './address.js';
import {
  faultOf,
  folderAround,
  inFolder,
  type OutgoingFile,
  type RemoteClient,
  type RemoteEntry,
  RemoteFault,
} from './client.js';
import { knownHost } from './known-hosts.js';
import type { RemoteProtocol } from './target.js';

const PORT = 22;
/** Requests that may be on their way at a time: a round trip each would make every file slow. */
const QUESTIONS = 16;
const WRITES = 8;

type SftpSettings = ConfigOf<typeof SFTP_KEYS>;

export function sftpProtocol(settings: SftpSettings): RemoteProtocol {
  const base = settings.baseDir.replace(/\/+$/, '') || (settings.baseDir === '' ? '' : '/');
  const { auth } = settings;
  const secrets = [auth.password, auth.privateKeyPassphrase].filter((secret) => secret !== undefined) as Secret[];
  const keys = new HostKeys(settings);
  return {
    folder: (segments) => segments.reduce(inFolder, base),
    location: (path) => `sftp://${settings.addr}/${urlPath(partsOf(path))}`,
    connect: (signal) => connect(settings, keys, signal),
    secrets,
  };
}

/** Names of an algorithm for each type of key that a known_hosts file may hold. */
const ALGORITHMS: Readonly<Record<string, readonly ServerHostKeyAlgorithm[]>> = {
  'ssh-ed25519': ['ssh-ed25519'],
  'ecdsa-sha2-nistp256': ['ecdsa-sha2-nistp256'],
  'ecdsa-sha2-nistp384': ['ecdsa-sha2-nistp384'],
  'ecdsa-sha2-nistp521': ['ecdsa-sha2-nistp521'],
  'ssh-rsa': ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'],
};

/** What the target's keys say of the key that the server must show. */
interface HostCheck {
  /** In the order in which the server is asked for them; the library's own where absent. */
  readonly algorithms?: ServerHostKeyAlgorithm[];
  accepts(key: Buffer): boolean;
}

class HostKeys {
  readonly #settings: SftpSettings;
  /** The type whose key had the configured fingerprint. */
  #type: string | undefined;

  constructor(settings: SftpSettings) {
    this.#settings = settings;
  }

  /**
   * The ways to look at the server's key, one after the other. A fingerprint does not tell of which type its key is, and a
   * server shows one key at a time.
   */
  async checks(): Promise<readonly HostCheck[]> {
    const { hostKeySha256, hostKeyFile, insecureIgnoreHostKey } = this.#settings;
    if (hostKeySha256 !== '') return this.#byFingerprint(hostKeySha256.replace(/^SHA256:|=$/g, ''));
    if (hostKeyFile !== '') return [await this.#byFile(hostKeyFile)];
    return [{ accepts: () => insecureIgnoreHostKey }];
  }

  #byFingerprint(fingerprint: string): HostCheck[] {
    const types = Object.keys(ALGORITHMS).sort((a, b) => Number(b === this.#type) - Number(a === this.#type));
    return types.map((type) => ({
      algorithms: [...(ALGORITHMS[type] ?? [])],
      accepts: (key) => {
        const isRight = fingerprintOf(key) === fingerprint;
        if (isRight) this.#type = type;
        return isRight;
      },
    }));
  }

  async #byFile(file: string): Promise<HostCheck> {
    const { addr } = this.#settings;
    const { host, port } = hostAndPort(addr, PORT);
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new RemoteFault('refused', `cannot be known: host_key_file ${file} cannot be read (${error.code})`);
    });
    const known = knownHost(text, host, port);
    const algorithms = known.types.flatMap((type) => ALGORITHMS[type] ?? []);
    if (algorithms.length > 0) return { algorithms: [...new Set(algorithms)], accepts: known.accepts };
    throw new RemoteFault('refused', `cannot be known: host_key_file ${file} has no key of ${addr}`);
  }
}

function fingerprintOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('base64').replace(/=+$/, '');
}

async function connect(settings: SftpSettings, keys: HostKeys, signal: AbortSignal): Promise<SftpClient> {
  const privateKey = await readPrivateKey(settings);
  let last: unknown;
  for (const check of await keys.checks()) {
    const shown: { fingerprint?: string } = {};
    try {
      return await open(settings, check, privateKey, shown, signal);
    } catch (error) {
      // Another type of key is asked for only where this one was not the right one, or the server has none of the kind.
      const isOtherKey = shown.fingerprint !== undefined;
      if (!isOtherKey && !/no matching host key|host key algorithm/i.test(String(error))) throw sshFault(error);
      if (isOtherKey || !last) {
        last = new RemoteFault(
          'refused',
          `shows a host key that is not the configured one (${shown.fingerprint ?? 'no such type'})`,
        );
      }
    }
  }
  throw last;
}

async function readPrivateKey({ auth }: SftpSettings): Promise<Buffer | undefined> {
  if (auth.privateKeyFile === '') return undefined;
  return readFile(auth.privateKeyFile).catch((error: NodeJS.ErrnoException) => {
    throw new RemoteFault(
      'refused',
      `has no key: private_key_file ${auth.privateKeyFile} cannot be read (${error.code})`,
    );
  });
}

async function open(
  settings: SftpSettings,
  check: HostCheck,
  privateKey: Buffer | undefined,
  shown: { fingerprint?: string },
  signal: AbortSignal,
): Promise<SftpClient> {
  const { auth } = settings;
  const ignore = (): void => undefined;
  const connection = new SftpConnection('ofd-server', { error: ignore, end: ignore, close: ignore });
  const password = auth.password?.reveal();
  const cut = (): void => cutConnection(connection);
  signal.addEventListener('abort', cut, { once: true });
  // For servers that ask for the password in a dialogue of their own.
  connection.on('keyboard-interactive', (_name, _instructions, _language, prompts: unknown[], answer) => {
    (answer as (answers: string[]) => void)(prompts.map(() => password ?? ''));
  });
  try {
    const sftp = await connection.connect({
      ...hostAndPort(settings.addr, PORT),
      username: settings.user,
      readyTimeout: settings.timeoutSeconds * 1000,
      authHandler: ['none', 'agent', 'publickey', 'password', 'keyboard-interactive'],
      ...(auth.agentSocket !== '' && { agent: auth.agentSocket }),
      ...(privateKey && { privateKey }),
      ...(auth.privateKeyPassphrase && { passphrase: auth.privateKeyPassphrase.reveal() }),
      ...(password !== undefined && { password, tryKeyboard: true }),
      ...(check.algorithms && { algorithms: { serverHostKey: check.algorithms } }),
      hostVerifier: (key: Buffer) => {
        if (check.accepts(key)) return true;
        shown.fingerprint = `SHA256:${fingerprintOf(key)}`;
        return false;
      },
    });
    return new SftpClient(connection, sftp);
  } catch (error) {
    cut();
    throw error;
  } finally {
    signal.removeEventListener('abort', cut);
  }
}

/** The library's own end waits for the server's; what is in the way here is a server that does not answer. */
function cutConnection(connection: SftpConnection): void {
  const { client } = connection as unknown as { readonly client: { destroy(): void } };
  client.destroy();
}

class SftpClient implements RemoteClient {
  readonly #connection: SftpConnection;
  readonly #sftp: SFTPWrapper;

  constructor(connection: SftpConnection, sftp: SFTPWrapper) {
    this.#connection = connection;
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
    try {
      for await (const piece of this.#sftp.createReadStream(path)) yield piece as Buffer;
    } catch (error) {
      throw sshFault(error);
    }
  }

  async probe(): Promise<void> {
    await this.#call<string>((done) => this.#sftp.realpath('.', done));
  }

  destroy(): void {
    cutConnection(this.#connection);
  }

  /** One request; the library throws some failures in place of handing them over. */
  #call<Result>(request: (done: (error: Error | undefined | null, result?: Result) => void) => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      request((error, result) => (error ? reject(error) : resolve(result as Result)));
    });
  }
}

/** Of the protocol, version 3; the last two come from servers that speak a later one. */
const STATUS = { noSuchFile: 2, denied: 3, failure: 4, connectionLost: 7, unsupported: 8, noSpace: 14, quota: 15 };

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
  const text = error.message.replace(/^\w+(?:->\w+)?: /, '');
  if (/encrypted .*key.*passphrase|no passphrase given|bad passphrase|bad decrypt|integrity check/i.test(text)) {
    return new RemoteFault('login', `cannot use private_key_file: ${text}; set private_key_passphrase`, {
      cause: error,
    });
  }
  if (/cannot parse privateKey|unsupported key format/i.test(text)) {
    return new RemoteFault('refused', `cannot use private_key_file: ${text}`, { cause: error });
  }
  if (/authentication methods failed/i.test(text)) {
    return new RemoteFault('login', `does not accept the login: ${text}`, { cause: error });
  }
  if (/no matching|handshake failed: (?!.*(?:reset|timed out))/i.test(text)) {
    return new RemoteFault('refused', `cannot be spoken to: ${text}`, { cause: error });
  }
  return faultOf(error);
}
