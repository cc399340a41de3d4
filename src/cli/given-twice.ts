/** Options of the command line that were given twice: of two values nobody can tell which was meant. */
import type { parseArgs } from 'node:util';

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];

/**
 * @param multiple names of options that may be given several times
 * @throws Error that names the first option with two values
 */
export function refuseTwice(tokens: readonly Token[], multiple: readonly string[] = []): void {
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option' || token.value === undefined || multiple.includes(token.name)) continue;
    if (seen.has(token.name)) throw new Error(`${token.rawName} is given twice; leave one out`);
    seen.add(token.name);
  }
}
