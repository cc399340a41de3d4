/** How much memory this process may take. */
import { totalmem } from 'node:os';

/** The limit of the container where there is one, else what the machine has. */
export function availableMemoryBytes(): number {
  const limitBytes = process.constrainedMemory();
  return limitBytes > 0 ? Math.min(limitBytes, totalmem()) : totalmem();
}
