/** How the input of an attempt gets into its workspace: a copy of what was uploaded, or a download (contract A5, B2, U2). */
import { constants } from 'node:fs';
import { copyFile, lstat, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFileSource } from './convert/byte-source.js';
import { detectFormat } from './convert/detect.js';
import { checkOptions, OptionError, wireNameOf } from './convert/options.js';
import { readSigns } from './convert/signs.js';
import { ServiceError } from './errors.js';
import { FORMATS, type FormatId, formatOfFileName, formatOfMediaType } from './formats.js';
import type { Job } from './jobs/job.js';
import type { KeptInput } from './jobs/store.js';
import { type Download, downloadInput, type UrlSourceSettings } from './transfer/sources/url.js';

export interface FetchedInput {
  /** Has the extension of its format, under a name of the server's. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly from: FormatId | undefined;
}

interface FetchHooks {
  readonly signal: AbortSignal;
  onAlive(): void;
  /** Bytes that have come, also where the download then fails. */
  onSize(sizeBytes: number): void;
}

/**
 * @param kept of an upload; undefined where the job has a URL
 * @param directory an existing private one
 * @throws ServiceError as downloadInput does; invalid_request for a format or an option that the content contradicts
 */
export async function fetchInput(
  job: Job,
  kept: KeptInput | undefined,
  directory: string,
  urls: UrlSourceSettings,
  hooks: FetchHooks,
): Promise<FetchedInput> {
  if (!kept) return fetchFromUrl(job, directory, urls, hooks);
  const from = job.request.input.format ?? job.from;
  const path = join(directory, inputName(from));
  const sizeBytes = await copyKept(kept, path);
  hooks.onSize(sizeBytes);
  return { path, sizeBytes, from };
}

function inputName(format: FormatId | undefined): string {
  return `input.${format ? FORMATS[format].extensions[0] : 'bin'}`;
}

/** Gives the size. */
async function copyKept(kept: KeptInput, path: string): Promise<number> {
  if ('bytes' in kept) {
    await writeFile(path, kept.bytes, { mode: 0o600, flag: 'wx' });
    return kept.bytes.length;
  }
  // Whoever opens a pipe waits for its writer, and nothing ends that wait.
  if (!(await lstat(kept.path)).isFile()) throw new Error(`${kept.path} is no file`);
  // A copy, which a good file system makes without writing: no engine gets its hands on what the job may need again.
  await copyFile(kept.path, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  return (await stat(path)).size;
}

async function fetchFromUrl(
  job: Job,
  directory: string,
  urls: UrlSourceSettings,
  hooks: FetchHooks,
): Promise<FetchedInput> {
  const { url } = job.request.input;
  if (url === undefined) throw new ServiceError('internal_error', `The input of job ${job.id} is no longer there`);
  const downloaded = join(directory, 'download');
  const download = await downloadInput(url, downloaded, urls, hooks);
  hooks.onSize(download.sizeBytes);
  const from = await formatOf(job, download, downloaded);
  refuseUselessOptions(job, from);
  const path = join(directory, inputName(from));
  await rename(downloaded, path);
  return { path, sizeBytes: download.sizeBytes, from };
}

/** As for an upload; what the server says of the file stands in for its name. */
async function formatOf(job: Job, { fileNames, contentType }: Download, path: string): Promise<FormatId> {
  const byType = contentType === undefined ? undefined : formatOfMediaType(contentType);
  const fileName =
    fileNames.find((name) => formatOfFileName(name) !== undefined) ?? (byType && `input.${byType}`) ?? fileNames[0];
  const { decided } = detectFormat(
    { format: job.request.input.format, fileName },
    await withFileSource(path, readSigns),
  );
  return decided;
}

/** What could not be known at submission. */
function refuseUselessOptions(job: Job, from: FormatId): void {
  const spell = (name: Parameters<typeof wireNameOf>[0]): string => `output.options.${wireNameOf(name)}`;
  try {
    checkOptions(job.request.output.options, { from, to: job.to }, spell);
  } catch (error) {
    throw error instanceof OptionError ? new ServiceError('invalid_request', error.message, { cause: error }) : error;
  }
}
