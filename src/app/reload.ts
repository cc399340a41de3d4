/** What of a new reading of the configuration reaches a running service: its secrets, each where the old one stood. */
import { Secret } from '../config/key.js';

/** What others take of it: the logger, and the ring of keys. */
const TAKEN_ELSEWHERE = ['log_level', 'api_keys'];

/** Places as the operator writes them: `s3_targets.archive.secret_key`. */
export interface Taken {
  /** Where secrets have changed. */
  readonly changed: readonly string[];
  /** What else is another now, and counts from the next start on. */
  readonly needsRestart: readonly string[];
}

/**
 * Secrets of `current` become those of `fresh`, whoever holds them. What stands in one of the two alone stays as it is. So
 * does a target of which more than its secrets has changed: a new password is not sent to the old address.
 */
export function takeSecrets(current: object, fresh: object): Taken {
  const taken = { changed: [] as string[], needsRestart: [] as string[] };
  const others = new Map(propertiesOf(fresh));
  for (const [name, value] of propertiesOf(current)) {
    if (TAKEN_ELSEWHERE.includes(name)) continue;
    const other = others.get(name);
    if (!(value instanceof Map)) takeOne(value, other, name, taken);
    else if (other instanceof Map) takeTargets(value, other, name, taken);
  }
  return taken;
}

type Taking = { readonly [Name in keyof Taken]: string[] };

function takeTargets(current: Map<string, unknown>, fresh: Map<string, unknown>, path: string, taken: Taking): void {
  for (const name of new Set([...current.keys(), ...fresh.keys()])) {
    takeOne(current.get(name), fresh.get(name), `${path}.${name}`, taken);
  }
}

function takeOne(current: unknown, fresh: unknown, path: string, taken: Taking): void {
  // Of a secret its text shows that there is one, and no more.
  if (JSON.stringify(current) !== JSON.stringify(fresh)) taken.needsRestart.push(path);
  else takeInside(current, fresh, path, taken);
}

function takeInside(current: unknown, fresh: unknown, path: string, taken: Taking): void {
  if (current instanceof Secret) {
    if (fresh instanceof Secret && current.take(fresh)) taken.changed.push(path);
    return;
  }
  const others = new Map(propertiesOf(fresh));
  for (const [name, value] of propertiesOf(current)) takeInside(value, others.get(name), `${path}.${name}`, taken);
}

/** Named parts of an object, by the spelling of the file. */
function propertiesOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).map(([name, part]) => [spelledAsKey(name), part]);
}

function spelledAsKey(property: string): string {
  return property.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
