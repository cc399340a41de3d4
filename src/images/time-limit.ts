/** Ends a library's loop that has no bound of its own. */
import { createContext, Script } from 'node:vm';

const script = new Script('work()');

/** The result of `work`, which must be synchronous; throws where it takes longer than `limitMs`. */
export function withinTime<T>(limitMs: number, work: () => T): T {
  return script.runInContext(createContext({ work }), { timeout: limitMs }) as T;
}
