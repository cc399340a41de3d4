/** Where the products of `ofd-server convert` go. */
import {
  chmodSync,
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ProducedFile } from '../convert/converter-types.js';
import { ServiceError } from '../errors.js';
import { makeFolderSync } from '../make-folder.js';
import { cannotWrite } from './cannot-write.js';
import { type ConvertArguments, namesPages, pagingOf, UsageError } from './convert-arguments.js';

/** Where the files go: into a folder of their own first, under their right names when all is done. */
export interface Target {
  /** Exists. */
  readonly folder: string;
  readonly baseName: string | undefined;
  /** Rejects with `unavailable` or `insufficient_storage` where a file cannot be put in its place. */
  publish(files: readonly ProducedFile[]): Promise<readonly string[]>;
  /** Removes what was not published. */
  discard(): void;
}

/**
 * @param scratch an existing private folder
 * @throws UsageError for a folder that takes no file; nothing of the target is left then
 */
export function openTarget(args: Pick<ConvertArguments, 'output' | 'to'>, scratch: string): Target {
  if (args.output === '-') return standardOutput(scratch);
  const output = resolve(args.output);
  const isNamed = pagingOf(args.to) === 'document' || namesPages(args.output, args.to);
  if (!isNamed) return inFolder(output, output, undefined);
  const place = dirname(output);
  // A device or a pipe may stand where no file can be made.
  return inFolder(place, isSpecial(output) ? scratch : dirname(followed(output)), basename(output));
}

/**
 * @param stagingPlace where the files grow: on the volume of their place, so that each gets its name in one step
 * @param name of the one file, or from which the names of several pages are made; undefined for `page-0001.png` …
 */
function inFolder(place: string, stagingPlace: string, name: string | undefined): Target {
  const newFolders = name === undefined ? missingFolders(stagingPlace) : [];
  let folder: string | undefined;
  const discard = (): void => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    for (const made of newFolders) removeIfEmpty(made);
  };
  try {
    if (name === undefined) makeFolderSync(stagingPlace);
    folder = mkdtempSync(join(stagingPlace, '.ofd-server-'));
  } catch (error) {
    discard();
    throw new UsageError(cannotWrite(stagingPlace, error), { cause: error });
  }
  const pathOf = (file: ProducedFile, files: readonly ProducedFile[]): string =>
    join(place, name !== undefined && files.length === 1 ? name : file.name);
  return {
    folder,
    baseName: name === undefined ? undefined : basename(name, extname(name)),
    publish: async (files) => {
      const paths: string[] = [];
      for (const file of files) paths.push(await put(file.path, pathOf(file, files)));
      return paths;
    },
    discard,
  };
}

function standardOutput(scratch: string): Target {
  const folder = join(scratch, 'output');
  mkdirSync(folder);
  return {
    folder,
    baseName: undefined,
    publish: async (files) => {
      for (const { path } of files) {
        await pipeline(createReadStream(path), process.stdout, { end: false }).catch((error: unknown) => {
          throw failure('standard output', error);
        });
      }
      return files.map(() => '-');
    },
    discard: () => undefined,
  };
}

/** Something that is written into, and that no file may take the place of: a device, a pipe. */
function isSpecial(path: string): boolean {
  const kind = statSync(path, { throwIfNoEntry: false });
  return kind !== undefined && !kind.isFile() && !kind.isDirectory();
}

const MOST_LINKS = 40;

/** The file that a symbolic link names in the end, whether it is there or not; `path` itself where it is no link. */
function followed(path: string, links = 0): string {
  if (links > MOST_LINKS || !lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  const named = readlinkSync(path);
  // Not `join`, which would take `folder/..` away where the folder itself is a link.
  return followed(isAbsolute(named) ? named : `${dirname(path)}/${named}`, links + 1);
}

async function put(from: string, to: string): Promise<string> {
  try {
    if (isSpecial(to)) await writeInto(from, to);
    else replace(from, followed(to));
  } catch (error) {
    throw failure(to, error);
  }
  return to;
}

/** Waits for the reader of a pipe; an interruption ends the process meanwhile. */
async function writeInto(from: string, to: string): Promise<void> {
  const sink = await open(to, constants.O_WRONLY);
  await pipeline(createReadStream(from), sink.createWriteStream());
}

/** Whoever reads `to` meanwhile gets the old file or the new one, each whole. */
function replace(from: string, to: string): void {
  const mode = statSync(to, { throwIfNoEntry: false })?.mode ?? 0o666 & ~process.umask();
  setMode(from, mode & 0o777);
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    replaceAcrossVolumes(from, to);
  }
}

function setMode(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    // A stick or a share that keeps no modes refuses them.
    if (!['EPERM', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function replaceAcrossVolumes(from: string, to: string): void {
  const folder = mkdtempSync(join(dirname(to), '.ofd-server-'));
  try {
    const copy = join(folder, basename(to));
    copyFileSync(from, copy);
    renameSync(copy, to);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function failure(place: string, error: unknown): ServiceError {
  const { code } = error as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new ServiceError(isFull ? 'insufficient_storage' : 'unavailable', cannotWrite(place, error), { cause: error });
}

/** Those that lead to `folder` and are not there, the last first. */
function missingFolders(folder: string): readonly string[] {
  return existsSync(folder) ? [] : [folder, ...missingFolders(dirname(folder))];
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It was never made, or something else was put there meanwhile: it stays.
  }
}
