import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder, makeFolderSync } from '../src/make-folder.js';
import { withFolder } from './support/rendering.js';

describe.each([
  ['makeFolder', makeFolder],
  ['makeFolderSync', async (path: string, mode?: number) => makeFolderSync(path, mode)],
])('%s', (_name, make) => {
  it('makes all that is missing, with the mode, and leaves what is there', () =>
    withFolder(async (folder) => {
      await make(join(folder, 'a/b/c'), 0o700);
      await make(join(folder, 'a/b/c'), 0o750);
      expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
      expect(statSync(join(folder, 'a/b/c')).mode & 0o777).toBe(0o700);
    }));

  it('ends with the system’s error below a file, and where nothing can be made', { timeout: 5000 }, () =>
    withFolder(async (folder) => {
      writeFileSync(join(folder, 'file'), '');
      await expect(make(join(folder, 'file/below'))).rejects.toThrow('ENOTDIR');
      await expect(make('/proc/nothing/here')).rejects.toThrow('ENOENT');
    }),
  );
});
