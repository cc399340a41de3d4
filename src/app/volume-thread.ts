/**
 * Thread that writes, reads and removes a small file in each folder that it is told of. Its calls are synchronous on
 * purpose: on a volume that hangs they stop this thread alone, and no thread of the pool that all file work shares.
 */
import { readFileSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { PROBE_NAME, type VolumeAnswer, type VolumeQuestion } from './volume-probe.js';

function faultOf(folder: string): Omit<VolumeAnswer, 'number'> | undefined {
  const path = join(folder, PROBE_NAME);
  try {
    writeFileSync(path, 'probe', { mode: 0o600 });
    const isSame = readFileSync(path, 'utf8') === 'probe';
    unlinkSync(path);
    return isSame ? undefined : { fault: `${folder} gives back other bytes than were written` };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const fault = `${folder} takes no file (${code ?? message})`;
    // Whatever the file system says is free (a quota, no entries left): there is nothing for this user.
    return code === 'ENOSPC' || code === 'EDQUOT' ? { fault, freeBytes: 0 } : { fault };
  }
}

function freeSpace(folder: string): Pick<VolumeAnswer, 'freeBytes'> {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return { freeBytes: bavail * bsize };
  } catch {
    return {};
  }
}

parentPort?.on('message', ({ number, folder }: VolumeQuestion) => {
  const answer: VolumeAnswer = { number, ...(faultOf(folder) ?? freeSpace(folder)) };
  parentPort?.postMessage(answer);
});
