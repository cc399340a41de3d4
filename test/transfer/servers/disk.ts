/** Files of a server that keeps them in a folder. */
import { chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestServer } from './server.js';

export function filesIn(root: string): Pick<TestServer, 'read' | 'write' | 'list' | 'empty'> {
  return {
    read: async (path) => {
      try {
        return readFileSync(join(root, path));
      } catch {
        return undefined;
      }
    },
    write: async (path, content) => {
      const { uid, gid } = statSync(root);
      let folder = root;
      for (const part of dirname(path)
        .split('/')
        .filter((name) => name !== '.')) {
        folder = join(folder, part);
        mkdirSync(folder, { recursive: true });
        chownSync(folder, uid, gid);
      }
      writeFileSync(join(root, path), content);
      chownSync(join(root, path), uid, gid);
    },
    list: async () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .filter((path) => !path.startsWith('.DAV') && !path.includes('/.DAV/'))
        .sort(),
    empty: async () => {
      for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
    },
  };
}
