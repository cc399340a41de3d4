import { describe, expect, it } from 'vitest';
import { ShadingBudget } from '../../src/render/shading-budget.js';

describe('the budget of shadings', () => {
  it('lets the first be as fine as it wants', () => {
    const budget = new ShadingBudget(200_000_000);
    expect([1000, 1_000_000, 12_000_000].map((pixels) => budget.step(pixels))).toEqual([1, 1, 1]);
  });

  it('makes very large ones coarser, and more so the more there were', () => {
    const budget = new ShadingBudget(200_000_000);
    const steps = Array.from({ length: 200 }, () => budget.step(60_000_000));
    expect(steps[0]).toBe(2);
    expect(steps.every((step, i) => step >= (steps[i - 1] ?? 0))).toBe(true);
    const spent = steps.reduce((sum, step) => sum + 60_000_000 / (step * step), 0);
    expect(spent).toBeLessThan(203_000_000);
  });

  it('always leaves a little', () => {
    const budget = new ShadingBudget(0);
    expect(budget.step(10_000)).toBe(1);
    expect(budget.step(1_000_000)).toBe(10);
  });
});
