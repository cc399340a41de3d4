/** The input of a conversion in the foreground: a file or standard input, and its format. */
import { constants, copyFileSync, createReadStream, createWriteStream, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withFileSource } from '../convert/byte-source.js';
import { detectFormat } from '../convert/detect.js';
import { readSigns } from '../convert/signs.js';
import { ServiceError } from '../errors.js';
import { FORMATS, type FormatId } from '../formats.js';

/**
 * @param input a path, or `-` for standard input
 * @param format as the caller says it
 * @param scratch an existing private folder: what no engine may be given as it is becomes a file there
 */
export async function readInputFile(
  input: string,
  format: FormatId | undefined,
  scratch: string,
  signal: AbortSignal,
): Promise<{ readonly inputPath: string; readonly from: FormatId }> {
  const isStandard = input === '-' || STANDARD_INPUTS.includes(resolve(input));
  try {
    const isPipe = isStandard || statSync(input).isFIFO();
    const path = isPipe ? join(scratch, 'piped-input') : resolve(input);
    // Piece by piece, so that an interruption is heard while nothing comes.
    if (isStandard) await pipeline(process.stdin, createWriteStream(path), { signal });
    // Opening it waits for a writer, and cannot be broken off: nothing may pretend that it has ended.
    else if (isPipe) await pipeline(createReadStream(input), createWriteStream(path));
    const fileName = isStandard ? undefined : basename(input);
    const { decided } = detectFormat({ format, fileName }, await withFileSource(path, readSigns));
    return { inputPath: withExtension(path, decided, scratch), from: decided };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    signal.throwIfAborted();
    throw new ServiceError('not_found', `${input}: ${faultText(error as NodeJS.ErrnoException)}`, { cause: error });
  }
}

const STANDARD_INPUTS: readonly string[] = ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'];

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'this is a folder; name a file in it',
  EACCES: 'this user may not read it',
};

function faultText({ code = '', message }: NodeJS.ErrnoException): string {
  return FAULTS[code] ?? `cannot be read: ${message}`;
}

/** Programs go by the extension, so they get the right one; our own engines go by the format and read the file where it is. */
function withExtension(path: string, format: FormatId, scratch: string): string {
  if (format === 'ofd' || format === 'pdf') return path;
  const named = join(scratch, `input.${FORMATS[format].extensions[0]}`);
  copyFileSync(path, named, constants.COPYFILE_FICLONE);
  return named;
}
