/** Where a program of the machine lies. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * The first of `names` that can be run; undefined where none can.
 * @param configured a path that stands for all names where it is not ""
 * @param searchPath as the variable PATH has it
 */
export function findProgram(
  configured: string,
  names: readonly string[],
  searchPath = process.env.PATH ?? '',
): string | undefined {
  if (configured !== '') return canRun(configured) ? configured : undefined;
  const folders = searchPath.split(delimiter).filter((folder) => isAbsolute(folder));
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
