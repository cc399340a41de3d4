/** Where the products of `ofd-server convert` go. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import type { ProducedFile } from '../convert/converter-types.js';
import { makeFolderSync } from '../make-folder.js';
import { type ConvertArguments, namesPages, pagingOf } from './convert-arguments.js';

/** Where the files go: into a folder of their own first, under their right names when all is done. */
export interface Target {
  /** Exists. */
  readonly folder: string;
  readonly baseName: string | undefined;
  publish(files: readonly ProducedFile[]): readonly string[];
  /** Removes what was not published. */
  discard(): void;
}

/** @param scratch an existing private folder */
export function openTarget(args: Pick<ConvertArguments, 'output' | 'to'>, scratch: string): Target {
  if (args.output === '-') return standardOutput(scratch);
  const output = resolve(args.output);
  const isNamed = pagingOf(args.to) === 'document' || namesPages(args.output, args.to);
  return isNamed ? inFolder(dirname(output), basename(output)) : inFolder(output, undefined);
}

/** @param name of the one file, or from which the names of several pages are made; undefined for `page-0001.png` … */
function inFolder(place: string, name: string | undefined): Target {
  const isNewFolder = !existsSync(place);
  if (isNewFolder) makeFolderSync(place);
  // On the same volume, so that a file gets its name in one step.
  const folder = mkdtempSync(join(place, '.ofd-server-'));
  return {
    folder,
    baseName: name === undefined ? undefined : basename(name, extname(name)),
    publish: (files) =>
      files.map((file) => rename(file.path, join(place, name !== undefined && files.length === 1 ? name : file.name))),
    discard: () => {
      rmSync(folder, { recursive: true, force: true });
      if (isNewFolder) removeIfEmpty(place);
    },
  };
}

function standardOutput(scratch: string): Target {
  const folder = join(scratch, 'output');
  mkdirSync(folder);
  return {
    folder,
    baseName: undefined,
    publish: (files) => files.map((file) => sendToStandardOutput(file.path)),
    discard: () => undefined,
  };
}

function rename(from: string, to: string): string {
  renameSync(from, to);
  return to;
}

function sendToStandardOutput(path: string): string {
  process.stdout.write(readFileSync(path));
  return '-';
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else was put there meanwhile: it stays.
  }
}
