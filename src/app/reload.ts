/** What of a new reading of the configuration reaches a running service: its secrets, each where the old one stood. */
import { isDeepStrictEqual } from 'node:util';
import { Secret } from '../config/key.js';

/** What others take of it: the logger, and the ring of keys. */
const TAKEN_ELSEWHERE = ['log_level', 'api_keys'];

/**
 * Secrets of `current` become those of `fresh`, whoever holds them. What stands in one of the two alone stays as it is. So
 * does a target of which more than its secrets has changed: a new password is not sent to the old address.
 * @returns where secrets have changed, as the operator writes it: `s3_targets.archive.secret_key`
 */
export function takeSecrets(current: unknown, fresh: unknown, path = ''): readonly string[] {
  if (current instanceof Secret) return fresh instanceof Secret && current.take(fresh) ? [path] : [];
  const values = new Map(propertiesOf(fresh));
  return propertiesOf(current).flatMap(([name, value]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const other = values.get(name);
    const isOther = current instanceof Map && needsRestart(value, other, at).length > 0;
    return isOther || TAKEN_ELSEWHERE.includes(at) ? [] : takeSecrets(value, other, at);
  });
}

/** Keys in which `fresh` says otherwise than `current`, whose secrets were taken, and that only a restart takes. */
export function needsRestart(current: unknown, fresh: unknown, path = ''): readonly string[] {
  if (TAKEN_ELSEWHERE.includes(path) || (current instanceof Secret && fresh instanceof Secret)) return [];
  const [mine, theirs] = [current, fresh].map((value) => new Map(propertiesOf(value))) as [Properties, Properties];
  if (mine.size === 0 || theirs.size === 0) return isDeepStrictEqual(current, fresh) ? [] : [path];
  const names = [...new Set([...mine.keys(), ...theirs.keys()])];
  return names.flatMap((name) =>
    needsRestart(mine.get(name), theirs.get(name), path === '' ? name : `${path}.${name}`),
  );
}

type Properties = Map<string, unknown>;

/** Named parts: of a map of targets by their names, of an object by the spelling of the file. */
function propertiesOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (value instanceof Map) return [...value] as readonly (readonly [string, unknown])[];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).map(([name, part]) => [spelledAsKey(name), part]);
}

function spelledAsKey(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
