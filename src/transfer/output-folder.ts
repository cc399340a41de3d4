/**
 * Folders under output_dir: the rules for the name that a client gives (contract S1), and opening one without ever
 * leaving output_dir, whatever symbolic links lie there.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { ServiceError } from '../errors.js';
import { partsOf, pathSegments, refusePath } from './path-segments.js';

const MAX_DIR_BYTES = 400;
const FIELD = 'output.dir';

/**
 * The components below output_dir that `output.dir` names.
 * @throws ServiceError `invalid_request`, naming the rule that is broken
 */
export function folderSegments(dir: string, outputDir: string): string[] {
  const segments = pathSegments(dir, FIELD, MAX_DIR_BYTES);
  if (!isAbsolute(dir)) return segments;
  const root = partsOf(resolve(outputDir));
  if (root.some((part, index) => part !== segments[index])) {
    refusePath(dir, FIELD, 'must be relative to output_dir, or lie inside it');
  }
  return segments.slice(root.length);
}

/** An open folder: names under it are resolved from the folder itself, however its path is changed meanwhile. */
export class OpenFolder {
  /** As a client may see it: output_dir as configured, and the components below it. */
  readonly path: string;
  readonly #handle: FileHandle;

  constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** A path for system calls, valid while the folder is open. */
  entry(name: string): string {
    return `/proc/self/fd/${this.#handle.fd}/${name}`;
  }

  /** Where it really lies, links resolved. */
  realPath(): Promise<string> {
    return readlink(`/proc/self/fd/${this.#handle.fd}`);
  }

  /** Makes its entries durable. */
  sync(): Promise<void> {
    return this.#handle.sync();
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/**
 * Opens a folder below output_dir, making what is missing. Each component is opened from the one before and looked at
 * where it really lies, so that nothing is made or opened outside of output_dir.
 * @throws ServiceError `invalid_request` where a link leads out or a component is no folder; errors of the disk as they are
 */
export async function openFolderBelow(outputDir: string, segments: readonly string[]): Promise<OpenFolder> {
  let folder = await openFolder(outputDir, outputDir);
  try {
    const root = await folder.realPath();
    for (const segment of segments) {
      const child = await openChild(folder, segment, root);
      await folder.close();
      folder = child;
    }
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

async function openFolder(systemPath: string, path: string): Promise<OpenFolder> {
  return new OpenFolder(path, await open(systemPath, constants.O_RDONLY | constants.O_DIRECTORY));
}

async function openChild(parent: OpenFolder, segment: string, root: string): Promise<OpenFolder> {
  const path = join(parent.path, segment);
  await makeChild(parent, segment);
  const child = await openFolder(parent.entry(segment), path).catch((error: NodeJS.ErrnoException) => {
    // A dangling link exists for mkdir and not for open; a file is no folder; a ring of links never ends.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ELOOP') throw noFolder(path);
    throw error;
  });
  const real = await child.realPath();
  if (isBelow(real, root)) return child;
  await child.close();
  throw leadsOut(path);
}

function isBelow(real: string, root: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}

function noFolder(path: string): ServiceError {
  return new ServiceError('invalid_request', `output.dir leads through ${path}, which is not a folder`);
}

function leadsOut(path: string): ServiceError {
  return new ServiceError('invalid_request', `output.dir leads out of output_dir through a symbolic link at ${path}`);
}

/**
 * Looks whether a folder that is there now can be opened below output_dir, and makes nothing. A fault of the disk is none
 * here: the delivery finds it, where it may have passed.
 * @throws ServiceError `invalid_request` as `openFolderBelow` does
 */
export async function inspectFolderBelow(outputDir: string, segments: readonly string[]): Promise<void> {
  try {
    const root = await realpath(outputDir);
    let path = outputDir;
    for (const segment of segments) {
      path = join(path, segment);
      // Throws where nothing is there: the rest will be made.
      const isLink = (await lstat(path)).isSymbolicLink();
      const found = await stat(path).catch(() => undefined);
      if (!found?.isDirectory()) throw noFolder(path);
      if (isLink && !isBelow(await realpath(path), root)) throw leadsOut(path);
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
  }
}

async function makeChild(parent: OpenFolder, segment: string): Promise<void> {
  try {
    await mkdir(parent.entry(segment));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  await parent.sync();
}
