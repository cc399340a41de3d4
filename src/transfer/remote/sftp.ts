/** SFTP by ssh2-sftp-client (contract S6): its connection, and the operations of the protocol with their own status codes. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect as connectSocket, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { AnyAuthMethod, ParsedKey, ServerHostKeyAlgorithm, SFTPWrapper, Stats } from 'ssh2';
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
const READS = 8;
const READ_BYTES = 32 * 1024;

type SftpSettings = ConfigOf<typeof SFTP_KEYS>;

export function sftpProtocol(settings: SftpSettings): RemoteProtocol {
  const base = settings.baseDir.replace(/\/+$/, '') || (settings.baseDir === '' ? '' : '/');
  const { auth } = settings;
  const secrets = [auth.password, auth.privateKeyPassphrase].filter((secret) => secret !== undefined) as Secret[];
  const hostKeys = new HostKeys(settings);
  const privateKeys = new PrivateKeys(settings);
  return {
    folder: (segments) => segments.reduce(inFolder, base),
    location: (path) => `sftp://${settings.addr}/${urlPath(partsOf(path))}`,
    connect: (signal, onAlive) => connect({ settings, hostKeys, privateKeys, signal, onAlive }),
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

/** The library's own, wherever it lies: what parses a key for it must be the same. */
const { parseKey } = (
  createRequire(createRequire(import.meta.url).resolve('ssh2-sftp-client'))('ssh2') as typeof import('ssh2')
).utils;

class PrivateKeys {
  readonly #settings: SftpSettings;
  #known: { readonly content: string; readonly passphrase: string | undefined; readonly key: ParsedKey } | undefined;

  constructor(settings: SftpSettings) {
    this.#settings = settings;
  }

  /** The key of the file as it is now. It is parsed anew only where it has changed: an encrypted one takes a second. */
  async current(): Promise<ParsedKey | undefined> {
    const { privateKeyFile: file, privateKeyPassphrase } = this.#settings.auth;
    if (file === '') return undefined;
    const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new RemoteFault('refused', `has no key: private_key_file ${file} cannot be read (${error.code})`);
    });
    const passphrase = privateKeyPassphrase?.reveal();
    if (this.#known?.content !== content || this.#known.passphrase !== passphrase) {
      this.#known = { content, passphrase, key: parsed(content, passphrase, file) };
    }
    return this.#known.key;
  }
}

function parsed(content: string, passphrase: string | undefined, file: string): ParsedKey {
  const key = parseKey(content, passphrase);
  if (!(key instanceof Error)) return key;
  const isLocked = /passphrase|decrypt|integrity/i.test(key.message);
  const advice = isLocked ? '; set private_key_passphrase' : '; write it with ssh-keygen';
  throw new RemoteFault(isLocked ? 'login' : 'refused', `cannot use private_key_file ${file}: ${key.message}${advice}`);
}

interface Connecting {
  readonly settings: SftpSettings;
  readonly hostKeys: HostKeys;
  readonly privateKeys: PrivateKeys;
  readonly signal: AbortSignal;
  readonly onAlive: () => void;
}

async function connect(connecting: Connecting): Promise<SftpClient> {
  const logins = loginsOf(connecting.settings, await connecting.privateKeys.current());
  let last: unknown;
  for (const check of await connecting.hostKeys.checks()) {
    const shown: { fingerprint?: string } = {};
    try {
      return await open(connecting, check, logins, shown);
    } catch (error) {
      // Another type of key is asked for only where this one was not the right one, or the server has none of the kind.
      const { fingerprint } = shown;
      const isNoSuchType = /no matching host key|host key algorithm/i.test(String(error));
      if (fingerprint === undefined && !isNoSuchType) throw sshFault(error);
      if (fingerprint !== undefined || last === undefined) {
        const text = `shows a host key that is not the configured one (${fingerprint ?? 'none of its type'})`;
        last = new RemoteFault('refused', text);
      }
    }
  }
  throw last;
}

/** The configured ways to log in, in the order in which they are recommended. */
function loginsOf({ user, auth }: SftpSettings, key: ParsedKey | undefined): AnyAuthMethod[] {
  const password = auth.password?.reveal();
  const logins: AnyAuthMethod[] = [{ type: 'none', username: user }];
  if (auth.agentSocket !== '') logins.push({ type: 'agent', username: user, agent: auth.agentSocket });
  if (key) logins.push({ type: 'publickey', username: user, key });
  if (password === undefined) return logins;
  logins.push({ type: 'password', username: user, password });
  // Some servers ask for the password in a dialogue of their own.
  logins.push({
    type: 'keyboard-interactive',
    username: user,
    prompt: (_name, _instructions, _language, prompts, finish) => finish(prompts.map(() => password)),
  });
  return logins;
}

async function open(
  { settings, signal, onAlive }: Connecting,
  check: HostCheck,
  logins: AnyAuthMethod[],
  shown: { fingerprint?: string },
): Promise<SftpClient> {
  const ignore = (): void => undefined;
  const connection = new SftpConnection('ofd-server', { error: ignore, end: ignore, close: ignore });
  const { host, port } = hostAndPort(settings.addr, PORT);
  const socket = connectSocket({ host, port, noDelay: true });
  socket.on('data', onAlive);
  const cut = (): void => void socket.destroy();
  signal.addEventListener('abort', cut, { once: true });
  try {
    const sftp = await connection.connect({
      sock: socket,
      username: settings.user,
      // Whoever uses it watches every step.
      readyTimeout: 0,
      authHandler: logins,
      ...(check.algorithms && { algorithms: { serverHostKey: check.algorithms } }),
      hostVerifier: (key: Buffer) => {
        if (check.accepts(key)) return true;
        shown.fingerprint = `SHA256:${fingerprintOf(key)}`;
        return false;
      },
    });
    return new SftpClient(socket, sftp);
  } catch (error) {
    cut();
    throw error;
  } finally {
    socket.off('data', onAlive);
    signal.removeEventListener('abort', cut);
  }
}

class SftpClient implements RemoteClient {
  readonly #socket: Socket;
  readonly #sftp: SFTPWrapper;

  constructor(socket: Socket, sftp: SFTPWrapper) {
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
  const text = error.message.replace(/^\w+(?:->\w+)?: /, '');
  if (/authentication methods failed/i.test(text)) {
    return new RemoteFault('login', `does not accept the login: ${text}`, { cause: error });
  }
  if (/no matching|handshake failed: (?!.*(?:reset|timed out))/i.test(text)) {
    return new RemoteFault('refused', `cannot be spoken to: ${text}`, { cause: error });
  }
  return faultOf(error);
}
