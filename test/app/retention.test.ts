// How often old records and products are looked for: a short retention is kept as well as a long one.
import { expect, it } from 'vitest';
import { pauseBetweenLooksMs } from '../../src/app/retention.js';

const MINUTE_MS = 60_000;

it.each([
  ['a week', 7 * 24 * 60, 60],
  ['a day', 24 * 60, 60],
  ['four hours', 240, 30],
  ['ten minutes', 10, 1.25],
  ['a minute', 1, 0.5],
])('%s: every so many minutes, hourly at least', (_name, retentionMinutes, pauseMinutes) => {
  expect(pauseBetweenLooksMs(retentionMinutes * MINUTE_MS)).toBe(pauseMinutes * MINUTE_MS);
});
