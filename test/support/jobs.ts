/** Jobs for tests: submissions with sensible defaults, outcomes, and folders that go with the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Attempt, FailedOutcome, Job, NewJob, SucceededOutcome } from '../../src/jobs/job.js';

/** An empty folder and its removal, for the end of a test. */
export function temporaryFolder(name: string): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), `ofd-server-${name}-`));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function newJob(changes: Partial<NewJob> = {}): NewJob {
  return {
    lane: 'fast',
    from: 'ofd',
    to: 'pdf',
    highPriority: false,
    inputBytes: 5,
    createdAtMs: 1_700_000_000_000,
    request: {
      input: { kind: 'upload', fileName: 'a.ofd', format: 'ofd' },
      output: { kind: 'dir', format: 'pdf', options: {} },
      highPriority: false,
    },
    ...changes,
  };
}

export function succeeded(changes: Partial<SucceededOutcome> = {}): SucceededOutcome {
  return {
    kind: 'succeeded',
    fromActual: 'ofd',
    output: { kind: 'dir', path: '/out/ab/c', sizeBytes: 7 },
    products: [{ name: 'output.pdf', sizeBytes: 7, sha256: '00', location: '/out/ab/c/output.pdf', reused: false }],
    pages: 2,
    warnings: [{ code: 'font_substituted', message: 'SimSun was drawn in Noto Serif CJK SC', page: 1 }],
    ...changes,
  };
}

export function failed(changes: Partial<FailedOutcome> = {}): FailedOutcome {
  return { kind: 'failed', errorCode: 'conversion_failed', reason: 'corrupt', error: 'The ZIP is cut', ...changes };
}

/** A run of a job that no store knows. */
export function attemptOf(
  changes: { failedRuns?: number; number?: number; unreachableSinceMs?: number | undefined } & Partial<Job> = {},
): Attempt {
  const { failedRuns = 0, number = 1, unreachableSinceMs, ...rest } = changes;
  const job: Job = {
    ...newJob(),
    id: 'dn8h75g98u8d',
    state: 'running',
    attempt: number,
    startedAtMs: 1_700_000_000_000,
    finishedAtMs: undefined,
    fromActual: undefined,
    isStream: false,
    output: undefined,
    products: [],
    errorCode: undefined,
    reason: undefined,
    error: undefined,
    pages: undefined,
    warnings: [],
    waiting: undefined,
    ...rest,
  };
  return { job, number, failedRuns, unreachableSinceMs };
}
