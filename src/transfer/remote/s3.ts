/**
 * Object stores that speak S3 (contract S6). An object appears whole or not at all; large ones go up in parts. The bucket is
 * never made here.
 */
import { createHash, type Hash } from 'node:crypto';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  S3Client,
  type S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { ConfigOf } from '../../config/key.js';
import type { Secret } from '../../config/secret.js';
import { ServiceError } from '../../errors.js';
import { partsOf } from '../path-segments.js';
import type { S3_KEYS } from '../targets.js';
import {
  type FaultKind,
  faultOf,
  inFolder,
  type OutgoingFile,
  type RemoteClient,
  type RemoteEntry,
  RemoteFault,
} from './client.js';
import { digestOf } from './outgoing-file.js';
import { shortAnswer } from './short-answer.js';
import type { RemoteProtocol } from './target.js';

/** Later versions of the library want a later Node; this one is pinned, and its word about it is for developers. */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const REGION = 'us-east-1';
/** From this size on an object goes up in parts of at least this size. */
const PART_BYTES = 16 * 1024 * 1024;
const MAX_PARTS = 10_000;
/** Questions that are asked at a time. */
const QUESTIONS = 8;
const MAX_SOCKETS = 50;
/** How long giving up an upload may take. */
const ABANDON_MS = 1500;

/** Without one the library writes to the console, where the lines of the log are. */
const nothing = (): void => undefined;
const SILENT = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

type S3Settings = ConfigOf<typeof S3_KEYS>;

export function s3Protocol(settings: S3Settings): RemoteProtocol {
  const prefix = partsOf(settings.prefix);
  const { bucket, secretKey, sessionToken } = settings;
  const agents = {
    httpAgent: new HttpAgent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
    httpsAgent: new HttpsAgent({ keepAlive: true, maxSockets: MAX_SOCKETS }),
  };
  const server: Server = { bucket, hasConditions: true };
  return {
    folder: (segments) => [...prefix, ...segments].join('/'),
    location: (path) => `s3://${bucket}/${path}`,
    // A client costs little; a new one for each session takes up a secret that was changed.
    connect: async () => new ObjectClient(clientOf(settings, agents), server),
    secrets: [secretKey, sessionToken].filter((secret) => secret !== undefined) as Secret[],
    close: () => {
      agents.httpAgent.destroy();
      agents.httpsAgent.destroy();
    },
  };
}

/** What is known of the server. */
interface Server {
  readonly bucket: string;
  /** False once it has said that it knows no conditional writes. */
  hasConditions: boolean;
}

function clientOf(settings: S3Settings, agents: { httpAgent: HttpAgent; httpsAgent: HttpsAgent }): S3Client {
  const { accessKey, secretKey, sessionToken } = settings;
  const address = settings.endpoint.replace(/^https?:\/\//, '').replace(/\/$/, '');
  const client = new S3Client({
    endpoint: `${settings.secure ? 'https' : 'http'}://${address}`,
    region: settings.region || REGION,
    forcePathStyle: settings.pathStyle,
    // Never from the surroundings: what is not configured is not used.
    ...(secretKey
      ? {
          credentials: {
            accessKeyId: accessKey,
            secretAccessKey: secretKey.reveal(),
            ...(sessionToken && { sessionToken: sessionToken.reveal() }),
          },
        }
      : { credentials: { accessKeyId: '', secretAccessKey: '' }, signer: { sign: async (request) => request } }),
    // Its default for streams is a framing that older servers store as if it were content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Of questions; what sends a stream is not tried twice.
    maxAttempts: 3,
    requestHandler: agents,
    logger: SILENT,
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (step) => {
        const result = await next(step);
        const response = result.response as { readonly statusCode: number; body: unknown };
        const isContent = commandName === 'GetObjectCommand' && response.statusCode < 300;
        if (!isContent && response.body instanceof Readable) response.body = shortAnswer(response.body);
        return result;
      },
    // Before anything is made of the answer.
    { step: 'deserialize', name: 'shortAnswer', priority: 'low' },
  );
  return client;
}

class ObjectClient implements RemoteClient {
  readonly #s3: S3Client;
  readonly #server: Server;
  readonly #end = new AbortController();

  constructor(s3: S3Client, server: Server) {
    this.#s3 = s3;
    this.#server = server;
  }

  get #options(): { readonly abortSignal: AbortSignal } {
    return { abortSignal: this.#end.signal };
  }

  /** There are no folders to make. */
  async hasFolder(): Promise<boolean> {
    return true;
  }

  async makeFolder(): Promise<void> {}

  async find(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, RemoteEntry>> {
    const found = new Map<string, RemoteEntry>();
    const waiting = [...names];
    const ask = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const head = await this.#head(inFolder(folder, name));
        if (head) found.set(name, { isFile: true, sizeBytes: head.ContentLength ?? 0, sha256: sha256Of(head) });
      }
    };
    await Promise.all(Array.from({ length: Math.min(QUESTIONS, names.length) }, ask));
    return found;
  }

  async #head(key: string): Promise<HeadObjectCommandOutput | undefined> {
    const { bucket: Bucket } = this.#server;
    try {
      return await this.#s3.send(new HeadObjectCommand({ Bucket, Key: key, ChecksumMode: 'ENABLED' }), this.#options);
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw s3Fault(error);
    }
  }

  async put(path: string, file: OutgoingFile, mayReplace: boolean): Promise<boolean> {
    try {
      const etag = await this.#store(path, file, mayReplace);
      if (etag.told !== etag.expected) await this.#readBack(path, file);
      return true;
    } catch (error) {
      if (file.failure !== undefined) throw file.failure;
      if (statusOf(error) === 412 && !mayReplace) return false;
      if (!this.#isUnknownCondition(error)) throw s3Fault(error);
    }
    this.#server.hasConditions = false;
    file.restart();
    return this.put(path, file, mayReplace);
  }

  /** "A header you provided implies functionality that is not implemented". */
  #isUnknownCondition(error: unknown): boolean {
    return this.#server.hasConditions && statusOf(error) === 501;
  }

  /** Where the server knows it, an object that came into being meanwhile is not replaced; the probe guards the rest. */
  #condition(mayReplace: boolean): { readonly IfNoneMatch?: '*' } {
    return mayReplace || !this.#server.hasConditions ? {} : { IfNoneMatch: '*' };
  }

  #store(path: string, file: OutgoingFile, mayReplace: boolean): Promise<Etag> {
    return file.sizeBytes > PART_BYTES
      ? this.#putParts(path, file, mayReplace)
      : this.#putWhole(path, file, mayReplace);
  }

  async #putWhole(path: string, file: OutgoingFile, mayReplace: boolean): Promise<Etag> {
    const { body, md5 } = tapped(file.next());
    const { bucket: Bucket } = this.#server;
    const command = new PutObjectCommand({
      Bucket,
      Key: path,
      Body: body,
      ContentLength: file.sizeBytes,
      ChecksumSHA256: Buffer.from(file.sha256, 'hex').toString('base64'),
      Metadata: { sha256: file.sha256 },
      ...this.#condition(mayReplace),
    });
    // The digest becomes part of the signature: a server that checks signatures checks the bytes as well.
    command.middlewareStack.add(
      (next) => (step) => {
        const { headers } = step.request as { readonly headers: Record<string, string> };
        headers['x-amz-content-sha256'] = file.sha256;
        return next(step);
      },
      { step: 'build', name: 'signedDigest', priority: 'low' },
    );
    const { ETag } = await this.#send(file, body, (options) => this.#s3.send(command, options));
    return { told: unquoted(ETag), expected: md5.digest('hex') };
  }

  async #putParts(path: string, file: OutgoingFile, mayReplace: boolean): Promise<Etag> {
    const at = { Bucket: this.#server.bucket, Key: path };
    const { UploadId } = await this.#s3.send(
      new CreateMultipartUploadCommand({ ...at, Metadata: { sha256: file.sha256 } }),
      this.#options,
    );
    try {
      const { parts, expected } = await this.#sendParts({ ...at, UploadId }, file);
      const MultipartUpload = { Parts: parts };
      const command = new CompleteMultipartUploadCommand({
        ...at,
        UploadId,
        MultipartUpload,
        ...this.#condition(mayReplace),
      });
      const { ETag } = await this.#s3
        .send(command, this.#options)
        .catch((error: unknown) => this.#completedBefore(path, file, error));
      return { told: unquoted(ETag), expected };
    } catch (error) {
      await this.#abort(path, UploadId);
      throw error;
    }
  }

  /**
   * The library asks again where an answer got lost. A server that had completed the upload then says that the name is
   * taken, or that it knows no such upload: what stands there is ours.
   */
  async #completedBefore(path: string, file: OutgoingFile, error: unknown): Promise<{ ETag?: string | undefined }> {
    const { attempts = 1 } = (error as Partial<S3ServiceException>).$metadata ?? {};
    const status = statusOf(error);
    if (attempts < 2 || (status !== 412 && status !== 404)) throw error;
    const head = await this.#head(path);
    if (head && head.ContentLength === file.sizeBytes && sha256Of(head) === file.sha256) return { ETag: head.ETag };
    throw error;
  }

  async #sendParts(
    at: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined },
    file: OutgoingFile,
  ): Promise<{ readonly parts: CompletedPart[]; readonly expected: string }> {
    const partBytes = Math.max(PART_BYTES, Math.ceil(file.sizeBytes / MAX_PARTS));
    const parts: CompletedPart[] = [];
    const digests: Buffer[] = [];
    for (let start = 0; start < file.sizeBytes; start += partBytes) {
      const ContentLength = Math.min(partBytes, file.sizeBytes - start);
      const { body, md5 } = tapped(file.next(ContentLength));
      const PartNumber = parts.length + 1;
      const command = new UploadPartCommand({ ...at, PartNumber, Body: body, ContentLength });
      const { ETag } = await this.#send(file, body, (options) => this.#s3.send(command, options));
      parts.push({ PartNumber, ETag });
      digests.push(md5.digest());
    }
    const expected = `${createHash('md5').update(Buffer.concat(digests)).digest('hex')}-${parts.length}`;
    return { parts, expected };
  }

  /** A body that fails does not end its request by itself. */
  async #send<Output>(
    file: OutgoingFile,
    body: Readable,
    send: (options: { abortSignal: AbortSignal }) => Promise<Output>,
  ): Promise<Output> {
    const failed = new AbortController();
    body.once('error', () => failed.abort());
    try {
      return await send({ abortSignal: AbortSignal.any([failed.signal, this.#end.signal]) });
    } catch (error) {
      throw file.failure ?? error;
    } finally {
      body.destroy();
    }
  }

  /** Also where the session has been cut: parts that nobody completes cost money for ever. */
  async #abort(key: string, uploadId: string | undefined): Promise<void> {
    const command = new AbortMultipartUploadCommand({ Bucket: this.#server.bucket, Key: key, UploadId: uploadId });
    await this.#s3.send(command, { abortSignal: AbortSignal.timeout(ABANDON_MS) }).catch(() => undefined);
  }

  /** For servers whose ETag is no digest of the content. What is not what was sent is taken away again. */
  async #readBack(path: string, file: OutgoingFile): Promise<void> {
    const { sha256 } = await digestOf(this.read(path), file.sizeBytes);
    if (sha256 === file.sha256) return;
    await this.remove(path);
    throw new ServiceError(
      'checksum_mismatch',
      `${this.#server.bucket}/${path} arrived with other content than was sent`,
      {
        reason: 'internal',
      },
    );
  }

  async remove(path: string): Promise<void> {
    const command = new DeleteObjectCommand({ Bucket: this.#server.bucket, Key: path });
    await this.#s3.send(command, this.#options).catch((error: unknown) => {
      if (statusOf(error) !== 404) throw s3Fault(error);
    });
  }

  async *read(path: string): AsyncGenerator<Uint8Array> {
    try {
      const command = new GetObjectCommand({ Bucket: this.#server.bucket, Key: path });
      const { Body } = await this.#s3.send(command, this.#options);
      for await (const piece of Body as Readable) yield piece as Buffer;
    } catch (error) {
      throw s3Fault(error);
    }
  }

  /** The parts of uploads that a process has not lived to complete. */
  async abandon(path: string): Promise<void> {
    const command = new ListMultipartUploadsCommand({ Bucket: this.#server.bucket, Prefix: path });
    // A login that may write need not be allowed to list.
    const listed = await this.#s3.send(command, this.#options).catch(() => undefined);
    for (const { Key, UploadId } of listed?.Uploads ?? []) {
      if (Key === path) await this.#abort(path, UploadId);
    }
  }

  destroy(): void {
    this.#end.abort();
  }
}

/** What a server says of an object, and what it says where that is a digest of the content. */
interface Etag {
  readonly told: string | undefined;
  readonly expected: string;
}

function unquoted(etag: string | undefined): string | undefined {
  return etag?.replace(/^"|"$/g, '');
}

/** A stream whose bytes are digested on the way. */
function tapped(source: Readable): { readonly body: Readable; readonly md5: Hash } {
  const md5 = createHash('md5');
  const pieces = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of source) {
      md5.update(piece as Buffer);
      yield piece as Buffer;
    }
  };
  return { body: Readable.from(pieces(), { objectMode: false }), md5 };
}

/** As the store has computed it, else as was written beside the object when it was put. */
function sha256Of({ ChecksumSHA256, Metadata }: HeadObjectCommandOutput): string | undefined {
  // Of an object that was put in parts it is one of digests, with their number behind it.
  if (ChecksumSHA256 && !ChecksumSHA256.includes('-')) return Buffer.from(ChecksumSHA256, 'base64').toString('hex');
  const { sha256: noted } = Metadata ?? {};
  return noted !== undefined && /^[0-9a-f]{64}$/.test(noted) ? noted : undefined;
}

function statusOf(error: unknown): number | undefined {
  return (error as Partial<S3ServiceException>).$metadata?.httpStatusCode;
}

/** Of credentials that are wrong, unknown or too old. */
const LOGIN_NAMES: ReadonlySet<string> = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'TokenRefreshRequired',
  'AuthFailure',
]);
const FULL_NAMES: ReadonlySet<string> = new Set([
  'QuotaExceeded',
  'XMinioStorageFull',
  'XMinioAdminBucketQuotaExceeded',
]);
const PASSING_NAMES: ReadonlySet<string> = new Set(['SlowDown', 'RequestTimeout', 'ConditionalRequestConflict']);

function kindOf(name: string, status: number): FaultKind {
  if (LOGIN_NAMES.has(name) || status === 401) return 'login';
  // The answer to HEAD has no body that could tell why.
  if (status === 403 && name !== 'AccessDenied') return 'login';
  if (FULL_NAMES.has(name) || status === 507) return 'full';
  const mayPass = PASSING_NAMES.has(name) || status === 408 || status === 429 || status >= 500;
  return mayPass && status !== 501 ? 'unreachable' : 'refused';
}

function s3Fault(error: unknown): unknown {
  const status = statusOf(error);
  if (!(error instanceof Error) || error instanceof RemoteFault || status === undefined) return faultOf(error);
  const text = error.message && error.message !== error.name ? `: ${error.message}` : '';
  return new RemoteFault(kindOf(error.name, status), `answers: ${status} ${error.name}${text}`, { cause: error });
}
