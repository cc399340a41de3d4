/**
 * Sink `dir` (contract S1): products in a folder under output_dir, each under its final name only when it is complete
 * and on disk, never in place of another file.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, open, readdir, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ServiceError } from '../../errors.js';
import { makeFolder } from '../../make-folder.js';
import { folderSegments, inspectFolderBelow, type OpenFolder, openFolderBelow } from '../output-folder.js';
import {
  type Delivery,
  type Receipt,
  type Sink,
  type SinkFile,
  type SinkKind,
  type SinkOwner,
  totalBytes,
} from '../sink.js';

export const directorySink: SinkKind = {
  kind: 'dir',
  check(destination, settings) {
    if (destination.dir) folderSegments(destination.dir, settings.outputDir);
  },
  async inspect({ dir }, { outputDir }) {
    if (dir) await inspectFolderBelow(outputDir, folderSegments(dir, outputDir));
  },
  open(owner, destination, settings) {
    const isShared = Boolean(destination.dir);
    const segments = isShared ? folderSegments(destination.dir ?? '', settings.outputDir) : jobSegments(owner.jobId);
    return new DirectorySink(owner, settings.outputDir, segments, isShared);
  },
  async sweep(jobId, { dir }, { outputDir }) {
    const folder = join(outputDir, ...(dir ? folderSegments(dir, outputDir) : jobSegments(jobId)));
    const names = await readdir(folder).catch(() => []);
    const stale = names.filter((name) => name.startsWith(`.${jobId}-`) && name.endsWith('.part'));
    for (const name of stale) await unlink(join(folder, name)).catch(ignoreMissing);
    if (!dir) await rmdir(folder).catch(() => undefined);
  },
};

/** A job's own folder: the end of the id changes with every job, so that no folder grows large. */
function jobSegments(jobId: string): string[] {
  return [jobId.slice(-2), jobId.slice(0, -2)];
}

/** A file that stands under a name of its own, complete, until it gets its final name. */
interface Staged {
  readonly file: SinkFile;
  readonly temporaryName: string;
  readonly inode: number;
}

class DirectorySink implements Sink {
  readonly #owner: SinkOwner;
  readonly #outputDir: string;
  readonly #segments: readonly string[];
  readonly #isShared: boolean;

  constructor(owner: SinkOwner, outputDir: string, segments: readonly string[], isShared: boolean) {
    this.#owner = owner;
    this.#outputDir = outputDir;
    this.#segments = segments;
    this.#isShared = isShared;
  }

  async deliver(files: readonly SinkFile[], signal: AbortSignal, onAlive: () => void): Promise<Delivery> {
    const path = join(this.#outputDir, ...this.#segments);
    try {
      const folder = await openFolderBelow(this.#outputDir, this.#segments);
      try {
        const receipts = await this.#publishAll(folder, files, signal, onAlive);
        return { output: { kind: 'dir', path, sizeBytes: totalBytes(files) }, receipts };
      } finally {
        await folder.close();
      }
    } catch (error) {
      // A folder that is the job's own and empty is of use to nobody; a shared one may be in use by other jobs.
      if (!this.#isShared) await rmdir(path).catch(() => undefined);
      throw signal.aborted ? signal.reason : diskFault(error, path, this.#outputDir);
    }
  }

  async #publishAll(
    folder: OpenFolder,
    files: readonly SinkFile[],
    signal: AbortSignal,
    onAlive: () => void,
  ): Promise<Receipt[]> {
    const staged: Staged[] = [];
    const published: Staged[] = [];
    const receipts: Receipt[] = [];
    try {
      for (const [index, file] of files.entries()) {
        await this.#removeStale(folder, index);
        const temporaryName = this.#temporaryName(this.#owner.attempt, index);
        const inode = await stage(file, folder.entry(temporaryName), signal, onAlive);
        staged.push({ file, temporaryName, inode });
      }
      signal.throwIfAborted();
      for (const item of staged) {
        const isNew = await publish(folder, item);
        if (isNew) published.push(item);
        receipts.push(receiptOf(item.file, join(folder.path, item.file.name), !isNew));
      }
      await folder.sync();
      return receipts;
    } catch (error) {
      for (const item of published) await withdraw(folder, item);
      throw error;
    } finally {
      for (const item of staged) await unlink(folder.entry(item.temporaryName)).catch(() => undefined);
    }
  }

  /** Of this attempt alone: an older attempt that still lives must not find another's half file under its name. */
  #temporaryName(attempt: number, index: number): string {
    return `.${this.#owner.jobId}-${attempt}-${index}.part`;
  }

  /** What earlier runs of this job left when the process ended under them. */
  async #removeStale(folder: OpenFolder, index: number): Promise<void> {
    for (let attempt = 1; attempt <= this.#owner.attempt; attempt += 1) {
      await unlink(folder.entry(this.#temporaryName(attempt, index))).catch(ignoreMissing);
    }
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

function receiptOf(file: SinkFile, location: string, reused: boolean): Receipt {
  const { name, sizeBytes, sha256 } = file;
  return { name, sizeBytes, sha256, location, reused, deliveredAtMs: Date.now() };
}

const COPY_BYTES = 1024 * 1024;

/** Copies a file to its temporary name, on disk when this returns. Gives the inode of the copy. */
async function stage(file: SinkFile, target: string, signal: AbortSignal, onAlive: () => void): Promise<number> {
  const source = await open(file.path, 'r');
  try {
    const copy = await open(target, 'wx', 0o666);
    try {
      await copyBytes(source, copy, signal, onAlive);
      await copy.sync();
      const { size, ino } = await copy.stat();
      await verify(file, size, target);
      return ino;
    } catch (error) {
      await unlink(target).catch(() => undefined);
      throw error;
    } finally {
      await copy.close();
    }
  } finally {
    await source.close();
  }
}

async function copyBytes(
  source: FileHandle,
  copy: FileHandle,
  signal: AbortSignal,
  onAlive: () => void,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return;
    onAlive();
    for (let at = 0; at < bytesRead; ) at += (await copy.write(buffer, at, bytesRead - at, null)).bytesWritten;
  }
}

/** Reads back what lies under the temporary name: these are the bytes that will be published (contract X3). */
async function verify(file: SinkFile, sizeBytes: number, target: string): Promise<void> {
  const sha256 = sizeBytes === file.sizeBytes ? await sha256Of(target) : undefined;
  if (sha256 === file.sha256) return;
  throw new ServiceError(
    'checksum_mismatch',
    `${file.name} changed on its way to output_dir: ${file.sizeBytes} bytes with sha256 ${file.sha256} were made, ` +
      `${sizeBytes} bytes${sha256 ? ` with sha256 ${sha256}` : ''} arrived`,
    { reason: 'internal' },
  );
}

async function sha256Of(path: string): Promise<string> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await digestOf(handle);
  } finally {
    await handle.close();
  }
}

async function digestOf(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/**
 * Gives a staged file its final name. False where the same bytes stand there already.
 * @throws ServiceError `conflict` where anything else stands there
 */
async function publish(folder: OpenFolder, { file, temporaryName }: Staged): Promise<boolean> {
  const target = folder.entry(file.name);
  try {
    await link(folder.entry(temporaryName), target);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (await holdsSameBytes(target, file)) return false;
  throw new ServiceError(
    'conflict',
    `${join(folder.path, file.name)} exists with other content and is not overwritten: ` +
      'choose another output.dir or output.file_name, or remove the file',
  );
}

async function holdsSameBytes(path: string, file: SinkFile): Promise<boolean> {
  let handle: FileHandle;
  try {
    // Not through a link, and without waiting for the writer of a pipe.
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return false;
  }
  try {
    const found = await handle.stat();
    if (!found.isFile() || found.size !== file.sizeBytes || (await digestOf(handle)) !== file.sha256) return false;
    // Delivered today: what goes by the age of files (output_retention) keeps it. Another user's file keeps its time.
    const now = new Date();
    await handle.utimes(now, now).catch(() => undefined);
    await handle.sync();
    return true;
  } finally {
    await handle.close();
  }
}

/** Takes back a file that this attempt has published, unless another stands under its name by now. */
async function withdraw(folder: OpenFolder, { file, inode }: Staged): Promise<void> {
  const target = folder.entry(file.name);
  const found = await lstat(target).catch(() => undefined);
  if (found?.ino === inode) await unlink(target).catch(() => undefined);
}

/** The volume is read-only, broken, gone, or not this user's: what an operator mends, and another run may find mended. */
const VOLUME_FAULTS: ReadonlySet<string | undefined> = new Set([
  'EROFS',
  'EIO',
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'ENODEV',
  'ENXIO',
  'ESTALE',
  'ENOTCONN',
  'EHOSTDOWN',
  'ETIMEDOUT',
]);

function diskFault(error: unknown, path: string, outputDir: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const options = { reason: 'internal', cause: error } as const;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new ServiceError('insufficient_storage', `No space left in output_dir for ${path} (${code})`, options);
  }
  if (code === 'ENAMETOOLONG')
    return new ServiceError('invalid_request', `The path ${path} is too long`, { cause: error });
  if (VOLUME_FAULTS.has(code)) {
    const advice = 'is its volume there, and writable for the service?';
    return new ServiceError(
      'unavailable',
      `output_dir ${outputDir} cannot be written to (${code}): ${advice}`,
      options,
    );
  }
  return new ServiceError('internal_error', `Cannot write to ${path}: ${code ?? message}`, options);
}

const PROBE_NAME = '.ofd-server-probe';

/**
 * Makes output_dir where it is missing, and tries what the sink needs of it: writing, flushing and hard links.
 * @throws Error with a message for the operator
 */
export async function prepareOutputDir(outputDir: string): Promise<void> {
  const probe = join(outputDir, `${PROBE_NAME}-${process.pid}`);
  let step = 'cannot be made';
  try {
    await makeFolder(dirname(probe));
    step = 'cannot be written to';
    await unlink(probe).catch(ignoreMissing);
    await unlink(`${probe}-link`).catch(ignoreMissing);
    const handle = await open(probe, 'wx', 0o600);
    await handle.sync().finally(() => handle.close());
    step = 'lies on a volume without hard links, which publishing a product in one step needs';
    await link(probe, `${probe}-link`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`output_dir ${outputDir} ${step} (${code ?? message})`, { cause: error });
  } finally {
    await unlink(`${probe}-link`).catch(() => undefined);
    await unlink(probe).catch(() => undefined);
  }
}
