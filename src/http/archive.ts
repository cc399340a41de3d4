/** Several products as one ZIP, written whole to a file before a byte is sent (contract A8). */
import { createWriteStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';
import { ServiceError } from '../errors.js';
import type { Product } from '../jobs/job.js';

const LARGEST_MEMBER_BYTES = 1024 ** 3;

/** Deflate gains nothing on these. */
const COMPRESSED_EXTENSIONS = new Set(['.png', '.jpeg', '.webp', '.pdf', '.ofd']);

/**
 * Writes the archive to `path`, which must not exist. Members are opened one at a time by `open` and closed.
 * Rejects, leaving a part of a file, where a member is missing, unreadable or larger than 1 GiB.
 */
export async function writeArchive(
  products: readonly Product[],
  dateMs: number,
  open: (product: Product) => Promise<FileHandle>,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const zip = new ZipArchive({ level: 6 });
  const written = pipeline(zip, createWriteStream(path, { flags: 'wx', mode: 0o600 }), { signal });
  const failed = written.then(() => new Promise<never>(() => undefined));
  // Also where nobody waits for it just then.
  failed.catch(() => undefined);
  try {
    for (const product of products) await append(zip, product, dateMs, open, failed);
    await Promise.race([zip.finalize(), failed]);
  } catch (error) {
    zip.abort();
    zip.destroy();
    await written.catch(() => undefined);
    throw error;
  }
  await written;
}

/** @param failed rejects where the archive comes to nothing: the member is closed then, for nobody reads it to its end */
async function append(
  zip: ZipArchive,
  product: Product,
  dateMs: number,
  open: (product: Product) => Promise<FileHandle>,
  failed: Promise<never>,
): Promise<void> {
  const handle = await open(product);
  const { size } = await handle.stat();
  if (size > LARGEST_MEMBER_BYTES) {
    await handle.close();
    throw new ServiceError(
      'content_not_available',
      `${product.name} has ${size} bytes, more than the ${LARGEST_MEMBER_BYTES} that a ZIP member may have; fetch it alone by ?name=`,
    );
  }
  const source = handle.createReadStream();
  const added = new Promise<void>((resolve, reject) => {
    source.once('error', reject);
    zip.once('entry', () => resolve());
  });
  const store = COMPRESSED_EXTENSIONS.has(extname(product.name));
  zip.append(source, { name: product.name, date: new Date(dateMs), mode: 0o644, store });
  try {
    await Promise.race([added, failed]);
  } catch (error) {
    source.destroy();
    throw error;
  }
}
