// The limit of resident memory (contract R2).
import { totalmem } from 'node:os';
import { expect, it } from 'vitest';
import { residentLimitBytes } from '../../src/app/memory.js';

it('is what is configured, else a share of what there is', () => {
  expect(residentLimitBytes(300_000_000)).toBe(300_000_000);
  const limit = residentLimitBytes(0);
  expect(limit).toBeGreaterThan(0);
  expect(limit).toBeLessThanOrEqual(0.8 * totalmem());
});
