// A few hundred damaged packages, the same each time; `make fuzz` runs as many as one likes.
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { systemFontBook } from '../../src/fonts/system.js';
import { attempt } from './attempt.js';
import { readBases } from './bases.js';
import { planOf } from './plan.js';

const RUNS = 300;

it('survives them', { timeout: 300_000 }, async () => {
  const bases = await readBases(fileURLToPath(new URL('../..', import.meta.url)));
  const fonts = systemFontBook([]);
  const faults: string[] = [];
  let shown = 0;
  for (let run = 1; run <= RUNS; run++) {
    const { base, bytes, formats } = planOf(run, bases);
    const { fault, isShown } = await attempt(bytes, fonts, formats);
    if (fault !== undefined) faults.push(`run ${run} (${base}): ${fault}`);
    if (isShown) shown++;
  }
  expect(faults).toEqual([]);
  // Damage that lets nothing through tries nothing.
  expect(shown).toBeGreaterThan(RUNS * 0.8);
});
