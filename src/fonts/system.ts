/**
 * The faces of this machine, found without any configuration. The only file of the engine that touches the file
 * system; FontBook gets its work as an index and a function.
 */
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { extname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FontBook } from './book.js';
import { describeFaces, type FontIndex, type FontRecord } from './font-index.js';
import type { FontSource } from './source.js';

const MAX_DEPTH = 8;
const MAX_FILES = 20_000;
/** Of each thread: more than the faces of one text, and all threads together stay far from the limit of a process. */
const MAX_OPEN_FILES = 6;
const EXTENSIONS = new Set(['.ttf', '.otf', '.ttc', '.otc']);
const FONTCONFIG_FILE = '/etc/fonts/fonts.conf';

/** A FontBook over `fontDirs` (looked at first) and the machine's own folders; nothing is read before it is asked. */
export function systemFontBook(fontDirs: readonly string[]): FontBook {
  return new FontBook(() => scanFonts(fontDirs), openFontFile);
}

/** Reads names and style of every face in `fontDirs` and the machine's folders. Folders that are missing are skipped. */
export function scanFonts(fontDirs: readonly string[]): FontIndex {
  const faces: FontRecord[] = [];
  for (const file of fontFiles([...fontDirs, ...systemDirs()])) faces.push(...describeFile(file));
  return { faces };
}

/** `data/fonts` of the package, then the folders of fontconfig and macOS. */
function systemDirs(): string[] {
  // A user without an entry in the password file has none.
  const home = quietly(homedir) ?? '/nonexistent';
  const userData = process.env.XDG_DATA_HOME || join(home, '.local/share');
  const sharedData = (process.env.XDG_DATA_DIRS || '/usr/local/share:/usr/share').split(':');
  return [
    fileURLToPath(new URL('../../data/fonts', import.meta.url)),
    join(userData, 'fonts'),
    join(home, '.fonts'),
    ...fontconfigDirs(home, userData),
    ...sharedData.filter(isAbsolute).map((dir) => join(dir, 'fonts')),
    '/usr/local/share/fonts',
    '/usr/share/fonts',
    ...(process.platform === 'darwin' ? [join(home, 'Library/Fonts'), '/Library/Fonts', '/System/Library/Fonts'] : []),
  ];
}

/** The `<dir>` lines of fontconfig's main file; what it includes is not followed. */
function fontconfigDirs(home: string, userData: string): string[] {
  let text: string;
  try {
    text = readFileSync(FONTCONFIG_FILE, 'utf8');
  } catch {
    return [];
  }
  return [...text.matchAll(/<dir([^>]*)>([^<]+)<\/dir>/g)].map(([, attributes = '', path = '']) => {
    if (attributes.includes('"xdg"')) return join(userData, path.trim());
    return path.trim().replace(/^~(?=\/|$)/, home);
  });
}

/** Font files below the folders, each once, those of a folder in order of their names. */
function fontFiles(dirs: readonly string[]): string[] {
  const files = new Set<string>();
  const seen = new Set<string>();
  const walk = (dir: string, depth: number): void => {
    const real = quietly(() => realpathSync(dir));
    if (real === undefined || seen.has(real) || depth > MAX_DEPTH) return;
    seen.add(real);
    const entries = quietly(() => readdirSync(real, { withFileTypes: true })) ?? [];
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const path = join(real, entry.name);
      const kind = entry.isSymbolicLink() ? quietly(() => statSync(path)) : entry;
      if (kind?.isDirectory()) walk(path, depth + 1);
      else if (kind?.isFile() && EXTENSIONS.has(extname(path).toLowerCase()) && files.size < MAX_FILES) files.add(path);
    }
  };
  for (const dir of dirs) walk(dir, 0);
  return [...files];
}

function quietly<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

function describeFile(file: string): FontRecord[] {
  const descriptor = quietly(() => openSync(file, 'r'));
  if (descriptor === undefined) return [];
  try {
    const byteLength = fstatSync(descriptor).size;
    return describeFaces({ byteLength, read: (at, length) => readRange(descriptor, byteLength, at, length) }, file);
  } catch {
    return [];
  } finally {
    closeSync(descriptor);
  }
}

/** Descriptors of files that are in use, the least recently used first. */
const openFiles = new Map<string, number>();
let lastFile = '';
let lastDescriptor = -1;

/** A font file read by range. A file that has gone reads as empty. */
export function openFontFile(file: string): FontSource {
  const byteLength = quietly(() => statSync(file).size) ?? 0;
  return {
    byteLength,
    read(offset, length) {
      return quietly(() => readRange(descriptorOf(file), byteLength, offset, length)) ?? new Uint8Array(0);
    },
  };
}

function descriptorOf(file: string): number {
  if (file === lastFile) return lastDescriptor;
  const descriptor = openFiles.get(file) ?? openSync(file, 'r');
  openFiles.delete(file);
  openFiles.set(file, descriptor);
  lastFile = file;
  lastDescriptor = descriptor;
  if (openFiles.size > MAX_OPEN_FILES) {
    const [oldest, unused] = openFiles.entries().next().value!;
    openFiles.delete(oldest);
    closeSync(unused);
  }
  return descriptor;
}

function readRange(descriptor: number, byteLength: number, offset: number, length: number): Uint8Array {
  const size = Math.max(0, Math.min(length, byteLength - offset));
  if (offset < 0 || size === 0) return new Uint8Array(0);
  const bytes = new Uint8Array(size);
  const got = readSync(descriptor, bytes, 0, size, offset);
  return got === size ? bytes : bytes.subarray(0, got);
}
