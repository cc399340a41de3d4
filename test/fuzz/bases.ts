/** Packages to be damaged: the cases, the example, the gallery, and small files of a corpus. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OfdError } from '../../src/ofd/error.js';
import { DEFAULT_LIMITS } from '../../src/ofd/limits.js';
import { OfdPackage } from '../../src/ofd/package.js';
import { galleryPackage } from './gallery.js';
import type { Parts } from './mutate.js';

/** Larger packages take too long for what they add. */
export const MAX_BASE_BYTES = 64 * 1024;

export interface Base {
  readonly name: string;
  readonly parts: Parts;
}

/**
 * In an order that depends on the names alone. The gallery stands in several places: it holds the most.
 *
 * @param tree root of the tree with `test/cases` and `examples`
 * @param corpus a folder with more packages, in it or in its subfolders
 */
export async function readBases(tree: string, corpus?: string): Promise<Base[]> {
  const files = [
    ...packagesIn(join(tree, 'test', 'cases')),
    ...packagesIn(join(tree, 'examples')),
    ...(corpus === undefined ? [] : packagesIn(corpus)),
  ];
  const bases: Base[] = [];
  for (const file of files) {
    const bytes = readFileSync(file);
    const parts = bytes.length <= MAX_BASE_BYTES ? await partsOf(bytes) : undefined;
    if (parts !== undefined) bases.push({ name: file, parts });
  }
  const gallery = { name: 'gallery', parts: (await partsOf(galleryPackage()))! };
  const copies = Math.max(1, Math.floor(bases.length / 4));
  return [...bases, ...Array<Base>(copies).fill(gallery)];
}

function packagesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ofd'));
  return names.sort().map((name) => join(folder, name));
}

/** Undefined where nothing of a package can be opened, or it is a different package than its parts. */
async function partsOf(bytes: Uint8Array): Promise<Parts | undefined> {
  try {
    const pkg = await OfdPackage.open(bytes, DEFAULT_LIMITS, () => {});
    const parts = pkg.names().map((name) => [name, pkg.bytes(name) ?? new Uint8Array(0)] as const);
    return parts.length === 0 ? undefined : parts;
  } catch (error) {
    if (error instanceof OfdError) return undefined;
    throw error;
  }
}
