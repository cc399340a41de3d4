// A library's loop without end is ended.
import { expect, it } from 'vitest';
import { withinTime } from '../../src/images/time-limit.js';

it('gives the result of what ends in time, and throws for what does not', () => {
  expect(withinTime(1000, () => 42)).toBe(42);
  expect(() =>
    withinTime(50, () => {
      for (;;);
    }),
  ).toThrow(/timed out/);
  expect(() =>
    withinTime(1000, () => {
      throw new RangeError('its own');
    }),
  ).toThrow('its own');
});
