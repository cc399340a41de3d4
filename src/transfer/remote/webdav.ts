/** WebDAV by the webdav package (contract S6). Requests share the kept connections of their target. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import {
  AuthType,
  createClient,
  type FileStat,
  parseStat,
  parseXML,
  type WebDAVClient,
  type WebDAVClientError,
} from 'webdav';
import type { ConfigOf } from '../../config/key.js';
import { partsOf } from '../path-segments.js';
import type { WEBDAV_KEYS } from '../targets.js';
import { urlPath } from './address.js';
import {
  type FaultKind,
  faultOf,
  inFolder,
  type OutgoingFile,
  type RemoteClient,
  type RemoteEntry,
  RemoteFault,
} from './client.js';
import { shortText } from './short-answer.js';
import type { RemoteProtocol } from './target.js';

/** Questions that are asked at a time. */
const QUESTIONS = 4;
/** A server that closes idle connections after 5 s, as the usual ones do, does not close one under a request. */
const IDLE_MS = 4000;

type WebdavSettings = ConfigOf<typeof WEBDAV_KEYS>;

export function webdavProtocol(settings: WebdavSettings): RemoteProtocol {
  const endpoint = settings.endpoint.replace(/(?<!\/)\/+$/, '');
  const agents = agentsFor(new URL(endpoint));
  const base = partsOf(settings.baseDir);
  return {
    folder: (segments) => `/${[...base, ...segments].join('/')}`,
    location: (path) => `${endpoint}/${urlPath(partsOf(path))}`,
    connect: async () => {
      const password = settings.password?.reveal() ?? '';
      // Basic at first, Digest where the server asks for it.
      const login = settings.user ? { authType: AuthType.Auto, username: settings.user, password } : {};
      return new WebdavClient(createClient(endpoint, { ...login, ...agents }));
    },
    secrets: settings.password ? [settings.password] : [],
    close: () => {
      agents.httpAgent.destroy();
      agents.httpsAgent.destroy();
    },
  };
}

/**
 * Connections that are kept, to the endpoint alone. The library follows redirects: a server could lead its requests to any
 * address that this machine reaches.
 */
function agentsFor({ protocol, hostname, port }: URL): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } {
  const keepAlive = { keepAlive: true, timeout: IDLE_MS };
  const agents = { httpAgent: new HttpAgent(keepAlive), httpsAgent: new HttpsAgent(keepAlive) };
  const isSecure = protocol === 'https:';
  const wanted = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (isSecure ? 443 : 80)) };
  confine(agents.httpAgent, isSecure ? undefined : wanted);
  confine(agents.httpsAgent, isSecure ? wanted : undefined);
  return agents;
}

/** @param wanted the one place that the agent may connect to; nowhere where absent */
function confine(agent: HttpAgent, wanted: { readonly host: string; readonly port: number } | undefined): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    if (options.host === wanted?.host && Number(options.port) === wanted?.port) return connect(options, callback);
    throw new RemoteFault('refused', `redirects to ${options.host}:${options.port}, which is not followed`);
  };
}

class WebdavClient implements RemoteClient {
  readonly #client: WebDAVClient;
  readonly #end = new AbortController();

  constructor(client: WebDAVClient) {
    this.#client = client;
  }

  get #options(): { readonly signal: AbortSignal } {
    return { signal: this.#end.signal };
  }

  async hasFolder(path: string): Promise<boolean> {
    return (await this.#stat(path))?.type === 'directory';
  }

  async makeFolder(path: string): Promise<void> {
    await this.#client.createDirectory(path, this.#options).catch(rethrow);
  }

  async find(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, RemoteEntry>> {
    const found = new Map<string, RemoteEntry>();
    const waiting = [...names];
    const ask = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const stat = await this.#stat(inFolder(folder, name));
        if (stat) found.set(name, { isFile: stat.type === 'file', sizeBytes: stat.size });
      }
    };
    await Promise.all(Array.from({ length: Math.min(QUESTIONS, names.length) }, ask));
    return found;
  }

  async #stat(path: string): Promise<FileStat | undefined> {
    try {
      // The library's own reads an answer however long it is.
      const headers = { Accept: 'text/plain,application/xml', Depth: '0' };
      const response = await this.#client.customRequest(path, { ...this.#options, method: 'PROPFIND', headers });
      // A refused Digest is no error to the library.
      if (response.status === 401) throw new RemoteFault('login', `answers: 401 ${response.statusText}`.trimEnd());
      const { body } = response as unknown as { readonly body: Readable };
      const text = await shortText(body);
      return parseStat(await parseXML(text), path);
    } catch (error) {
      const { status } = error as WebDAVClientError;
      if (status === 404 || status === 410) return undefined;
      throw davFault(error);
    }
  }

  async put(path: string, file: OutgoingFile): Promise<boolean> {
    const body = file.next();
    const headers = { 'Content-Length': String(file.sizeBytes) };
    try {
      await this.#client.putFileContents(path, body, { ...this.#options, headers });
      return true;
    } catch (error) {
      throw file.failure ?? davFault(error);
    } finally {
      body.destroy();
    }
  }

  async rename(from: string, to: string, mayReplace: boolean): Promise<boolean> {
    try {
      await this.#client.moveFile(from, to, { ...this.#options, overwrite: mayReplace });
      return true;
    } catch (error) {
      if ((error as WebDAVClientError).status === 412 && !mayReplace) return false;
      throw davFault(error);
    }
  }

  async remove(path: string): Promise<void> {
    await this.#client.deleteFile(path, this.#options).catch((error: unknown) => {
      const { status } = error as WebDAVClientError;
      if (status !== 404 && status !== 410) throw davFault(error);
    });
  }

  async *read(path: string): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.#client.createReadStream(path, this.#options) as Readable) yield piece as Buffer;
    } catch (error) {
      throw davFault(error);
    }
  }

  destroy(): void {
    this.#end.abort();
  }
}

function rethrow(error: unknown): never {
  throw davFault(error);
}

function kindOf(status: number): FaultKind {
  if (status === 401 || status === 407) return 'login';
  if (status === 507) return 'full';
  // Locked by somebody, asked too often, out of order for now.
  const mayPass = status === 408 || status === 423 || status === 425 || status === 429 || status >= 500;
  return mayPass && status !== 501 && status !== 505 ? 'unreachable' : 'refused';
}

function davFault(error: unknown): unknown {
  const { status, response } = error as WebDAVClientError;
  if (status === undefined && /redirect/.test(String((error as { type?: unknown }).type))) {
    return new RemoteFault('refused', 'redirects, which is not followed', { cause: error });
  }
  if (status === undefined) return faultOf(error);
  return new RemoteFault(kindOf(status), `answers: ${status} ${response?.statusText ?? ''}`.trimEnd(), {
    cause: error,
  });
}
