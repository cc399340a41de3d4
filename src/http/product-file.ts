/** Opening a product where it lies, only inside of today's output_dir, links resolved (contract A8). */
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ServiceError } from '../errors.js';
import type { Product } from '../jobs/job.js';

/** The caller closes the handle. Throws `content_not_found` where the file is gone or lies elsewhere. */
export async function openProduct({ name, location }: Product, outputDir: string): Promise<FileHandle> {
  const root = await realpath(outputDir).catch(() => undefined);
  // Not through a link in the product's own place, and without waiting for the writer of a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = root === undefined ? undefined : await open(location, flags).catch(() => undefined);
  if (root === undefined || handle === undefined) throw gone(name);
  // Where the open file really is: nothing can be exchanged between this look and the reading.
  const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => '');
  if (real.startsWith(join(root, sep)) && (await handle.stat()).isFile()) return handle;
  await handle.close();
  throw gone(name);
}

function gone(name: string): ServiceError {
  return new ServiceError('content_not_found', `${name} is no longer there: it was removed, or output_dir has changed`);
}
