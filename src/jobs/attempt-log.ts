/**
 * What the engines of an attempt print, in one bounded file for each attempt, in a folder beside the database (contract
 * L1, L2). The writer never makes its caller wait, and a log that cannot be kept fails no conversion.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../make-folder.js';

export interface AttemptLogOptions {
  /** From logsDirectory(). */
  readonly directory: string;
  /** The first so many bytes of an attempt are kept. */
  readonly maxBytes: number;
  /** Why a log could not be kept. */
  readonly onError?: (error: unknown) => void;
}

/** Stays free on the volume beside the log: the database lies there too. */
const RESERVED_BYTES = 32 * 1024 * 1024;
/** Where the volume hangs the attempt goes on without what is not written by then. */
const CLOSE_MS = 5000;

export function logsDirectory(databasePath: string): string {
  return join(dirname(databasePath), 'logs');
}

/** The name of a log below the folder: it tells nothing of the job, and is the same whenever it is asked for. */
export function attemptLogName(jobId: string, attempt: number): string {
  const id = createHash('sha256').update(`ofd-server attempt log\0${jobId}\0${attempt}`).digest('hex').slice(0, 40);
  return join(id.slice(0, 2), `${id}.log`);
}

/** The logs of all attempts. */
export class AttemptLogs {
  readonly #options: AttemptLogOptions;

  constructor(options: AttemptLogOptions) {
    this.#options = options;
  }

  /** The log of an attempt that starts; there is a file as soon as something is printed. */
  start(jobId: string, attempt: number): AttemptLog {
    return new AttemptLog(join(this.#options.directory, attemptLogName(jobId, attempt)), this.#options);
  }

  /** The file of an attempt that printed something, open for reading; the caller closes it. */
  async read(jobId: string, attempt: number): Promise<FileHandle | undefined> {
    const path = join(this.#options.directory, attemptLogName(jobId, attempt));
    try {
      return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

export class AttemptLog {
  readonly #path: string;
  readonly #options: AttemptLogOptions;
  #work: Promise<void> = Promise.resolve();
  #file: FileHandle | undefined;
  #leftBytes: number;
  #isOver = false;
  #hasFailed = false;

  constructor(path: string, options: AttemptLogOptions) {
    this.#path = path;
    this.#options = options;
    this.#leftBytes = options.maxBytes;
  }

  /** Takes a piece; returns at once. What is beyond the limit is dropped, and one line at the end says so. */
  write(bytes: Uint8Array): void {
    if (this.#isOver || bytes.length === 0) return;
    const kept = Buffer.from(bytes.subarray(0, this.#leftBytes));
    this.#leftBytes -= kept.length;
    this.#append(kept);
    if (kept.length === bytes.length) return;
    this.#isOver = true;
    this.#append(Buffer.from(`\n[ofd-server] truncated: the first ${this.#options.maxBytes} bytes are kept\n`));
  }

  /** To be called when nothing can print any more: all is written when it resolves. */
  async close(): Promise<void> {
    this.#isOver = true;
    const closed = this.#work.then(() => this.#file?.close()).catch((error: unknown) => this.#fail(error));
    await Promise.race([closed, sleep(CLOSE_MS, undefined, { ref: false })]);
  }

  #append(bytes: Buffer): void {
    this.#work = this.#work.then(() => this.#appendNow(bytes)).catch((error: unknown) => this.#fail(error));
  }

  async #appendNow(bytes: Buffer): Promise<void> {
    if (this.#hasFailed || bytes.length === 0) return;
    this.#file ??= await this.#open();
    await this.#file.appendFile(bytes);
  }

  async #open(): Promise<FileHandle> {
    const { directory, maxBytes } = this.#options;
    const folder = dirname(this.#path);
    await makeFolder(directory, 0o700);
    await requireOwnFolder(directory);
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < maxBytes + RESERVED_BYTES) {
      throw new Error(`${directory}: ${bavail * bsize} bytes are free, too few to keep a log of ${maxBytes}`);
    }
    await makeFolder(folder, 0o700);
    await requireOwnFolder(folder);
    return openOwnFile(this.#path);
  }

  /** Told once; nothing more is kept. */
  #fail(error: unknown): void {
    this.#isOver = true;
    if (!this.#hasFailed) this.#options.onError?.(error);
    this.#hasFailed = true;
  }
}

async function requireOwnFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const { uid, mode } = await handle.stat();
    if (uid !== process.getuid?.()) throw new Error(`${path} belongs to user ${uid}`);
    if ((mode & 0o777) !== 0o700) await handle.chmod(0o700);
  } finally {
    await handle.close();
  }
}

/** Opened for appending, and only as what it was made as: a plain file of ours with one name. */
async function openOwnFile(path: string): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const handle = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    const opened = await handle.stat();
    const named = await lstat(path);
    const isOurs = opened.isFile() && opened.uid === process.getuid?.() && opened.nlink === 1;
    if (!isOurs || named.ino !== opened.ino || named.dev !== opened.dev) {
      throw new Error(`${path} is not the file that this service made`);
    }
    if ((opened.mode & 0o777) !== 0o600) await handle.chmod(0o600);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
