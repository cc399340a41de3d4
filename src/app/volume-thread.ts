/**
 * Thread that writes, reads and removes a small file in each folder that it is told of. Its calls are synchronous on
 * purpose: on a volume that hangs they stop this thread alone, and no thread of the pool that all file work shares.
 */
import { readFileSync, statfsSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { PROBE_NAME, type VolumeAnswer, type VolumeQuestion } from './volume-probe.js';

function faultOf(folder: string): string | undefined {
  const path = join(folder, PROBE_NAME);
  try {
    writeFileSync(path, 'probe', { mode: 0o600 });
    const isSame = readFileSync(path, 'utf8') === 'probe';
    unlinkSync(path);
    return isSame ? undefined : `${folder} gives back other bytes than were written`;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return `${folder} takes no file (${code ?? message})`;
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
  const fault = faultOf(folder);
  const answer: VolumeAnswer = fault === undefined ? { number, ...freeSpace(folder) } : { number, fault };
  parentPort?.postMessage(answer);
});
