/** How an SFTP session begins: whose host key is accepted, and the ways to log in (contract S6). */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect as connectSocket, type Socket } from 'node:net';
import type { AnyAuthMethod, ParsedKey, ServerHostKeyAlgorithm, SFTPWrapper } from 'ssh2';
import SftpConnection from 'ssh2-sftp-client';
import type { ConfigOf } from '../../config/key.js';
import type { SFTP_KEYS } from '../targets.js';
import { hostAndPort } from './address.js';
import { faultOf, RemoteFault } from './client.js';
import { knownHost } from './known-hosts.js';

const PORT = 22;

type SftpSettings = ConfigOf<typeof SFTP_KEYS>;

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

export class HostKeys {
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
  return createHash('sha256')
    .update(key)
    .digest('base64')
    .replace(/={1,2}$/, '');
}

/** The library's own, wherever it lies: what parses a key for it must be the same. */
const { parseKey } = (
  createRequire(createRequire(import.meta.url).resolve('ssh2-sftp-client'))('ssh2') as typeof import('ssh2')
).utils;

export class PrivateKeys {
  readonly #settings: SftpSettings;
  #known: ParsedFile | undefined;

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
      this.#known = { content, passphrase, key: parseKey(content, passphrase) };
    }
    return usable(this.#known.key, file);
  }
}

/** What was made of a file; a key that cannot be used is not parsed for every run either. */
interface ParsedFile {
  readonly content: string;
  readonly passphrase: string | undefined;
  readonly key: ParsedKey | Error;
}

function usable(key: ParsedKey | Error, file: string): ParsedKey {
  if (!(key instanceof Error)) return key;
  const isLocked = /passphrase|decrypt|integrity/i.test(key.message);
  const advice = isLocked ? '; set private_key_passphrase' : '; write it with ssh-keygen';
  throw new RemoteFault(isLocked ? 'login' : 'refused', `cannot use private_key_file ${file}: ${key.message}${advice}`);
}

/** A session that is logged in. */
export interface OpenSftp {
  readonly socket: Socket;
  readonly sftp: SFTPWrapper;
}

export interface Connecting {
  readonly settings: SftpSettings;
  readonly hostKeys: HostKeys;
  readonly privateKeys: PrivateKeys;
  readonly signal: AbortSignal;
  readonly onAlive: () => void;
}

/** @throws RemoteFault, or what the network says */
export async function connectSftp(connecting: Connecting): Promise<OpenSftp> {
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
      if (fingerprint === undefined && !isNoSuchType) throw loginFault(error);
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
): Promise<OpenSftp> {
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
    return { socket, sftp };
  } catch (error) {
    cut();
    throw error;
  } finally {
    socket.off('data', onAlive);
    signal.removeEventListener('abort', cut);
  }
}

function loginFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RemoteFault) return faultOf(error);
  const text = error.message.replace(/^\w+(?:->\w+)?: /, '');
  if (/authentication methods failed/i.test(text)) {
    return new RemoteFault('login', `does not accept the login: ${text}`, { cause: error });
  }
  if (/no matching|handshake failed: (?!.*(?:reset|timed out))/i.test(text)) {
    return new RemoteFault('refused', `cannot be spoken to: ${text}`, { cause: error });
  }
  return faultOf(error);
}
