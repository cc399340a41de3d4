/** What run number n does: everything follows from the number and the bases. */
import type { Base } from './bases.js';
import { mutatedPackage } from './mutate.js';
import { numbersFrom } from './numbers.js';

const OTHER_FORMATS = ['svg', 'html', 'txt', 'md', 'json'] as const;

export interface Plan {
  readonly base: string;
  readonly bytes: Uint8Array;
  readonly formats: readonly string[];
}

export function planOf(run: number, bases: readonly Base[]): Plan {
  const numbers = numbersFrom(run);
  const base = numbers.pick(bases);
  const formats = ['pdf', 'png', ...(numbers.once(4) ? [numbers.pick(OTHER_FORMATS)] : [])];
  return { base: base.name, bytes: mutatedPackage(base.parts, numbers), formats };
}
