/** What the configuration names beside the service's own volumes: folders of fonts, and programs. */
import { readdir } from 'node:fs/promises';
import { misnamedPrograms } from '../convert/engines/programs.js';
import type { Config } from './settings.js';

/** Lines about what is named and cannot be used, which the service does without. */
export async function misnamedPaths(config: Config): Promise<readonly string[]> {
  const folders = await Promise.all(config.fontDirs.map(faultOfFontDir));
  return [...folders.flat(), ...misnamedPrograms(config)];
}

async function faultOfFontDir(folder: string): Promise<readonly string[]> {
  try {
    await readdir(folder);
    return [];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return [`font_dirs: no fonts are taken from ${folder}, which is no folder that can be read (${code ?? message})`];
  }
}
