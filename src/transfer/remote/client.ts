/**
 * What a protocol must be able to do for the remote sink, and how its failures are told. A client is one session with a
 * server; it tries nothing twice and decides nothing.
 */
import type { Readable } from 'node:stream';

/** Something that stands at a target under a name. */
export interface RemoteEntry {
  readonly isFile: boolean;
  readonly sizeBytes: number;
  /** Lower-case hexadecimal, where the server tells it. */
  readonly sha256?: string | undefined;
}

/** A file on its way out; its bytes are read in order, once. */
export interface OutgoingFile {
  readonly sizeBytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /**
   * The next bytes of the file, all that are left where no length is given. The last byte comes only when the digest of the
   * whole is right; the stream fails with `checksum_mismatch` otherwise.
   */
  next(lengthBytes?: number): Readable;
  /** Why there was no more to send, where the fault is on this side: it counts before that of the request. */
  readonly failure: unknown;
  /** Begins anew, where nothing of it was taken. */
  restart(): void;
}

/** Paths have `/` between components; "" is where a login lands, or the root of a store without folders. */
export interface RemoteClient {
  /** Whether a folder is there. */
  hasFolder(path: string): Promise<boolean>;
  /** Makes one folder in one that is there. May fail where it is there already. */
  makeFolder(path: string): Promise<void>;
  /**
   * What stands in a folder under these names; names that are free are left out.
   * @throws RemoteFault where it cannot be told: that is never taken for free (contract S3)
   */
  find(folder: string, names: readonly string[]): Promise<ReadonlyMap<string, RemoteEntry>>;
  /**
   * Writes a file under a path. Where the protocol has `rename`, in place of whatever is there; where it has not, the file
   * appears whole or not at all, and `mayReplace` false leaves what is there.
   * @returns false where the path was taken
   */
  put(path: string, file: OutgoingFile, mayReplace: boolean): Promise<boolean>;
  /**
   * Gives a file its final name, in the same folder. Absent where the protocol has no such thing.
   * @returns false where the name is taken and may not be replaced
   */
  rename?(from: string, to: string, mayReplace: boolean): Promise<boolean>;
  /** Removes a file; fine where it is not there. */
  remove(path: string): Promise<void>;
  /** The bytes of a file. */
  read(path: string): AsyncIterable<Uint8Array>;
  /** Gives up what earlier runs left unfinished at a path without showing it there, such as the parts of an upload. */
  abandon?(path: string): Promise<void>;
  /** Fails where the session is dead; one round trip. Of clients that are kept in a pool. */
  probe?(): Promise<void>;
  /** Cuts the session at once; what is in progress fails. Safe to call twice. */
  destroy(): void;
}

/**
 * - unreachable: network, name, time, TLS cut short, or the server says that it may pass
 * - login: the server does not accept the credentials
 * - refused: any other refusal, an unknown host key or certificate too
 * - full: no space or no quota left
 */
export type FaultKind = 'unreachable' | 'login' | 'refused' | 'full';

export class RemoteFault extends Error {
  override readonly name = 'RemoteFault';
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Errors of TLS that no second try mends: nobody vouches for the certificate, or it is another server's. */
const CERTIFICATE_CODES =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_[A-Z_]+|CERT_[A-Z_]+|ERR_TLS_CERT_[A-Z_]+|HOSTNAME_MISMATCH)$/;

/**
 * A fault out of whatever a library threw that is no answer of the server. Mistakes of this program pass as they are.
 * @param doing what was tried, for the message: "cannot be reached"
 */
export function faultOf(error: unknown, doing = 'cannot be reached'): unknown {
  if (error instanceof RemoteFault) return error;
  if (!(error instanceof Error)) return new RemoteFault('unreachable', `${doing}: ${String(error)}`);
  if (error instanceof TypeError || error instanceof RangeError || error.name === 'ServiceError') return error;
  const { code } = error as NodeJS.ErrnoException;
  const text = messageOf(error);
  if (typeof code === 'string' && CERTIFICATE_CODES.test(code)) {
    return new RemoteFault('refused', `its certificate is not accepted (${code}): ${text}`, { cause: error });
  }
  return new RemoteFault('unreachable', `${doing}: ${text}`, { cause: error });
}

/** A connection to a name with several addresses fails with one error for each. */
function messageOf(error: Error): string {
  const inner =
    error instanceof AggregateError ? (error.errors as Error[]).map(({ message }) => message).join(', ') : '';
  return error.message || inner || ((error as NodeJS.ErrnoException).code ?? error.name);
}

/** A name in a folder. */
export function inFolder(folder: string, name: string): string {
  return folder === '' || folder.endsWith('/') ? folder + name : `${folder}/${name}`;
}

/** The folder around a path; undefined where there is none to make. */
export function folderAround(path: string): string | undefined {
  const slash = path.lastIndexOf('/');
  if (path === '' || path === '/') return undefined;
  return slash < 0 ? '' : path.slice(0, slash) || '/';
}
