/** The removal of logs with the jobs that they belong to. Synchronous: used from the store's thread only. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { attemptLogName } from './attempt-log.js';

/** The runs of a job: attempts 1 to `attempts`. */
export interface RunsOfJob {
  readonly id: string;
  readonly attempts: number;
}

export function removeAttemptLogs(directory: string, jobs: readonly RunsOfJob[]): void {
  if (jobs.length === 0 || shardsOf(directory).length === 0) return;
  for (const name of namesOf(jobs)) rmSync(join(directory, name), { force: true });
}

/**
 * Removes the logs that belong to none of these jobs: left by a crash between a job's record and its logs. Yields now and
 * then: there may be a million jobs, and others have their turn. What jobs write meanwhile is left alone.
 * @param jobsAfter some jobs in the order of their ids, from behind an id on; asked for only where there are logs
 * @returns how many there were
 */
export function* sweepAttemptLogs(
  directory: string,
  jobsAfter: (id: string) => readonly RunsOfJob[],
): Generator<void, number, void> {
  const found = new Set<string>();
  for (const shard of shardsOf(directory)) {
    for (const name of listed(join(directory, shard))) found.add(join(shard, name));
    yield;
  }
  if (found.size === 0) return 0;
  for (let jobs = jobsAfter(''); jobs.length > 0; jobs = jobsAfter(jobs.at(-1)?.id ?? '')) {
    for (const name of namesOf(jobs)) found.delete(name);
    yield;
  }
  for (const name of found) rmSync(join(directory, name), { force: true });
  return found.size;
}

function* namesOf(jobs: Iterable<RunsOfJob>): Iterable<string> {
  for (const { id, attempts } of jobs) {
    for (let attempt = 1; attempt <= attempts; attempt++) yield attemptLogName(id, attempt);
  }
}

function shardsOf(directory: string): string[] {
  return listed(directory).filter((name) => /^[0-9a-f]{2}$/.test(name));
}

function listed(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
