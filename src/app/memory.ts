/** How much memory this process may take. */
import { totalmem } from 'node:os';

/** Of the memory that the process may take: the rest is the kernel's way to end the whole process. */
const SHARE = 0.8;

/**
 * Resident memory above which the largest conversion is ended.
 * @param configured `max_memory_bytes`
 */
export function residentLimitBytes(configured: number): number {
  return configured > 0 ? configured : Math.floor(SHARE * availableMemoryBytes());
}

/** The limit of the container where there is one, else what the machine has. */
function availableMemoryBytes(): number {
  const limitBytes = process.constrainedMemory();
  return limitBytes > 0 ? Math.min(limitBytes, totalmem()) : totalmem();
}
