// Threads that are ended again and again while they compress: the process outlives it (contract R3).
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { guardThread, newGuard, uninterrupted } from '../src/thread-guard.js';

const root = fileURLToPath(new URL('..', import.meta.url));

describe('a thread that compresses', () => {
  it('is ended at any instant, and the process goes on', { timeout: 120_000 }, () => {
    const program = fileURLToPath(new URL('support/bin/end-threads.mjs', import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, '100'], { cwd: root, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.trim()).toBe('100 threads ended');
  });
});

describe('an uninterrupted call', () => {
  it('is marked as long as it takes, also where it throws', () => {
    const guard = newGuard();
    guardThread(guard);
    const fail = (): never => {
      expect(guard[0]).toBe(1);
      throw new RangeError('no');
    };
    expect(uninterrupted(() => guard[0])).toBe(1);
    expect(() => uninterrupted(fail)).toThrow(RangeError);
    expect(guard[0]).toBe(0);
  });
});
