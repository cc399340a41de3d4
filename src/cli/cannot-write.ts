/** Why a product of the command line cannot be put where it was asked for, in words. */

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the volume can only be read',
  ENOENT: 'no file can be made there',
  ENOTDIR: 'a part of the path is no folder',
  ELOOP: 'its links lead in a circle',
  EISDIR: 'a folder stands there',
  ENXIO: 'nothing takes what is written there',
  EPIPE: 'the reader has gone away',
  ENOSPC: 'no space left',
  EDQUOT: 'no space left for this user',
};

/** @param error of the file system */
export function cannotWrite(place: string, error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = REASONS[code];
  return `cannot write to ${place}: ${reason ? `${reason} (${code})` : message}`;
}
