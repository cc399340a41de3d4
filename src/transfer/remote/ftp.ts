/** FTP and FTPS by basic-ftp (contract S6). One connection at a time does one thing; what hangs is cut from outside. */
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { Client, enterPassiveModeIPv6, type FileInfo, type FTPContext, FTPError, type FTPResponse } from 'basic-ftp';
import type { ConfigOf } from '../../config/key.js';
import { partsOf } from '../path-segments.js';
import type { FTP_KEYS } from '../targets.js';
import { hostAndPort, urlPath } from './address.js';
import {
  type FaultKind,
  faultOf,
  folderAround,
  inFolder,
  type OutgoingFile,
  type RemoteClient,
  type RemoteEntry,
  RemoteFault,
} from './client.js';
import type { RemoteProtocol } from './target.js';

const PORT = 21;
const IMPLICIT_PORT = 990;
/** From here on one listing of the folder is cheaper than a question for each name. */
const LISTING_PAYS = 4;

type FtpSettings = ConfigOf<typeof FTP_KEYS>;

export function ftpProtocol(settings: FtpSettings): RemoteProtocol {
  const { host, port } = hostAndPort(settings.addr, settings.implicit ? IMPLICIT_PORT : PORT);
  const scheme = settings.insecure ? 'ftp' : 'ftps';
  const base = settings.baseDir.replace(/(?<!\/)\/+$/, '') || (settings.baseDir === '' ? '' : '/');
  return {
    folder: (segments) => segments.reduce(inFolder, base),
    location: (path) => `${scheme}://${settings.addr}/${urlPath(partsOf(path))}`,
    connect: (signal, onAlive) => connect(settings, { host, port }, signal, onAlive),
    secrets: settings.password ? [settings.password] : [],
  };
}

async function connect(
  settings: FtpSettings,
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
  onAlive: () => void,
): Promise<FtpClient> {
  // Without timeouts of its own: whoever uses it watches every step.
  const client = new Client(0);
  const onAbort = (): void => client.close();
  signal.addEventListener('abort', onAbort, { once: true });
  // Told of every line that comes and goes, before anything is made of it.
  client.ftp.log = (line) => {
    if (line.startsWith('<')) onAlive();
  };
  try {
    client.prepareTransfer = settings.disableEpsv ? passive : (ftp) => extendedPassive(client, ftp);
    await client.access({
      host,
      port,
      user: settings.user || 'anonymous',
      password: settings.password?.reveal() ?? '',
      secure: settings.insecure ? false : settings.implicit ? 'implicit' : true,
      secureOptions: { rejectUnauthorized: !settings.insecureSkipVerify, host },
    });
    if (!settings.insecure) await requireProtectedData(client);
    const home = await client.pwd();
    const hasMlst = (await client.features()).has('MLST');
    client.ftp.log = () => undefined;
    return new FtpClient(client, home, hasMlst);
  } catch (error) {
    client.close();
    throw ftpFault(error, 'cannot be reached');
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The library asks for it and takes a refusal for granted; files would then travel in the clear. */
async function requireProtectedData(client: Client): Promise<void> {
  const { code, message } = await client.sendIgnoringError('PROT P');
  if (code >= 300) throw new RemoteFault('refused', `does not encrypt the connections of files (PROT P: ${message})`);
}

/** EPSV, and PASV from then on where the server has no EPSV. */
async function extendedPassive(client: Client, ftp: FTPContext): Promise<FTPResponse> {
  try {
    return await enterPassiveModeIPv6(ftp);
  } catch (error) {
    if (!(error instanceof FTPError) || error.code < 500) throw error;
    client.prepareTransfer = passive;
    return passive(ftp);
  }
}

/**
 * PASV, of whose answer the port alone counts: data goes to the host of the control connection, wherever the server points
 * to. The port is handed to the library in the form of an EPSV answer, which carries no address.
 */
function passive(ftp: FTPContext): Promise<FTPResponse> {
  const asExtended = async (): Promise<FTPResponse> => {
    const { code, message } = await ftp.request('PASV');
    const [, high, low] = /(?:\d{1,3}\s*,\s*){4}(\d{1,3})\s*,\s*(\d{1,3})/.exec(message) ?? [];
    if (high === undefined) throw new RemoteFault('refused', `gives no port for files: ${message}`);
    return { code, message: `229 (|||${Number(high) * 256 + Number(low)}|)` };
  };
  return enterPassiveModeIPv6(
    new Proxy(ftp, {
      get: (target, key) => (key === 'request' ? asExtended : Reflect.get(target, key, target)),
      set: (target, key, value) => Reflect.set(target, key, value, target),
    }),
  );
}

class FtpClient implements RemoteClient {
  readonly #client: Client;
  readonly #home: string;
  readonly #hasMlst: boolean;

  constructor(client: Client, home: string, hasMlst: boolean) {
    this.#client = client;
    this.#home = home;
    this.#hasMlst = hasMlst;
  }

  /** Relative paths count from where the login lands: the working folder changes. */
  #absolute(path: string): string {
    return path.startsWith('/') ? path : inFolder(this.#home, path);
  }

  async hasFolder(path: string): Promise<boolean> {
    const { code, message } = await this.#ask(`CWD ${this.#absolute(path)}`);
    if (code < 400) return true;
    // 550 says both "there is none" and "not for you"; making it then tells which.
    if (code === 550 || code === 501 || code === 553) return false;
    throw answerFault(code, message);
  }

  async makeFolder(path: string): Promise<void> {
    const { code, message } = await this.#ask(`MKD ${this.#absolute(path)}`);
    if (code >= 400) throw answerFault(code, message);
  }

  async find(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, RemoteEntry>> {
    const found = new Map<string, RemoteEntry>();
    let isClear = names.length < LISTING_PAYS;
    for (const name of isClear ? names : []) {
      const answer = await this.#ask(`SIZE ${this.#absolute(inFolder(folder, name))}`);
      const sizeBytes = sizeOf(answer);
      if (sizeBytes !== undefined) found.set(name, { isFile: true, sizeBytes });
      else if (!saysAbsent(answer)) isClear = false;
    }
    return isClear ? found : this.#findInListing(folder, names);
  }

  /** What the listing of the folder says, where an answer about a name can mean several things. */
  async #findInListing(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, RemoteEntry>> {
    const { code, message } = await this.#ask(`CWD ${this.#absolute(folder)}`);
    if (code >= 400) throw answerFault(code, message);
    const wanted = new Set(names);
    const found = new Map<string, RemoteEntry>();
    for (const { name, isFile, size } of await this.#list()) {
      if (wanted.has(name)) found.set(name, { isFile, sizeBytes: size });
    }
    return found;
  }

  async #list(): Promise<readonly Pick<FileInfo, 'name' | 'isFile' | 'size'>[]> {
    try {
      return await this.#client.list();
    } catch (error) {
      if (this.#client.closed) throw ftpFault(error);
      if (error instanceof FTPError && isEmptyListing(error)) return [];
      return this.#listNames();
    }
  }

  /** Names alone, for listings that nobody can read; the size of each is asked for. */
  async #listNames(): Promise<readonly Pick<FileInfo, 'name' | 'isFile' | 'size'>[]> {
    let text = '';
    const client = this.#client;
    const { parseList, availableListCommands } = client;
    client.parseList = (raw) => {
      text = raw;
      return [];
    };
    client.availableListCommands = ['NLST'];
    try {
      await client.list();
    } catch (error) {
      if (error instanceof FTPError && isEmptyListing(error)) return [];
      throw ftpFault(error);
    } finally {
      client.parseList = parseList;
      client.availableListCommands = availableListCommands;
    }
    const names = text.split(/\r?\n/).flatMap((line) => line.split('/').at(-1) || []);
    const entries = [];
    for (const name of names) {
      const size = sizeOf(await this.#ask(`SIZE ${name}`));
      entries.push({ name, isFile: size !== undefined, size: size ?? 0 });
    }
    return entries;
  }

  async put(path: string, file: OutgoingFile): Promise<boolean> {
    const body = file.sizeBytes === 0 ? Readable.from(this.#nothing(file)) : file.next();
    try {
      await this.#client.uploadFrom(body, this.#absolute(path));
      return true;
    } catch (error) {
      throw file.failure ?? ftpFault(error);
    } finally {
      body.destroy();
    }
  }

  /** A connection that is closed before its TLS stands takes the session with it; what has bytes to send waits by itself. */
  async *#nothing(file: OutgoingFile): AsyncGenerator<Buffer> {
    const { dataSocket } = this.#client.ftp;
    const isOpening = dataSocket instanceof TLSSocket && !(dataSocket.getFinished() && dataSocket.getPeerFinished());
    if (isOpening) await once(dataSocket, 'secureConnect');
    yield* file.next();
  }

  async rename(from: string, to: string, mayReplace: boolean): Promise<boolean> {
    // Some servers replace on RNTO, some refuse: what is there now decides, not they.
    const target = this.#absolute(to);
    const isTaken = await this.#isTaken(target);
    if (isTaken && !mayReplace) return false;
    try {
      await this.#client.rename(this.#absolute(from), target);
    } catch (error) {
      if (!isTaken || !(error instanceof FTPError) || error.code < 500) throw ftpFault(error);
      await this.remove(to);
      await this.#client.rename(this.#absolute(from), target).catch((second: unknown) => {
        throw ftpFault(second);
      });
    }
    return true;
  }

  async #isTaken(path: string): Promise<boolean> {
    const answer = await this.#ask(`SIZE ${path}`);
    if (sizeOf(answer) !== undefined) return true;
    if (saysAbsent(answer) || !this.#hasMlst) return saysDenied(answer) ? Promise.reject(faultIn(answer)) : false;
    return (await this.#ask(`MLST ${path}`)).code < 300;
  }

  async remove(path: string): Promise<void> {
    const answer = await this.#ask(`DELE ${this.#absolute(path)}`);
    if (answer.code < 400) return;
    const folder = folderAround(path) ?? '';
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (answer.code === 550 && !(await this.find(folder, [name])).has(name)) return;
    throw faultIn(answer);
  }

  async *read(path: string): AsyncGenerator<Uint8Array> {
    const content = new PassThrough();
    const download = this.#client.downloadTo(content, this.#absolute(path)).catch((error: unknown) => {
      content.destroy(ftpFault(error) as Error);
    });
    try {
      for await (const piece of content) yield piece as Buffer;
    } finally {
      // A transfer that was read only in part leaves the connection in the middle of something.
      if (!content.readableEnded) this.#client.close();
      await download;
    }
  }

  async probe(): Promise<void> {
    await this.#client.send('NOOP');
  }

  destroy(): void {
    this.#client.close();
  }

  /** An answer, whatever its code. */
  async #ask(command: string): Promise<FTPResponse> {
    try {
      return await this.#client.sendIgnoringError(command);
    } catch (error) {
      throw ftpFault(error);
    }
  }
}

/** The size that an answer to SIZE tells. */
function sizeOf({ code, message }: FTPResponse): number | undefined {
  const size = code === 213 ? /^213[ -]\s*(\d+)/.exec(message)?.[1] : undefined;
  return size === undefined ? undefined : Number(size);
}

/** Servers use 550 for every failure; the words after it are the only difference. */
function saysAbsent({ code, message }: FTPResponse): boolean {
  return code === 550 && /no such|not found|cannot find|can't find|does(?:n't| not) exist|not exist/i.test(message);
}

function saysDenied({ message }: FTPResponse): boolean {
  return /denied|not permitted|not allowed|permission|forbidden/i.test(message);
}

function isEmptyListing({ code, message }: FTPError): boolean {
  return (code === 550 || code === 450) && /no files|no such file|not found|empty/i.test(message);
}

function faultIn({ code, message }: FTPResponse): RemoteFault {
  return answerFault(code, message);
}

/** The codes for it are little used: what is said beside others, vsftpd's last among them. */
const FULL_WORDS = /no space left|disk (?:is )?full|quota|insufficient (?:storage|disk)|failure writing to local file/i;

function kindOf(code: number, message: string): FaultKind {
  if (code === 430 || code === 530 || code === 332 || code === 331) return 'login';
  if (code === 452 || code === 552 || FULL_WORDS.test(message)) return 'full';
  return code < 500 ? 'unreachable' : 'refused';
}

function answerFault(code: number, message: string): RemoteFault {
  return new RemoteFault(kindOf(code, message), `answers: ${message}`);
}

function ftpFault(error: unknown, doing = 'broke off'): unknown {
  return error instanceof FTPError ? answerFault(error.code, error.message) : faultOf(error, doing);
}
