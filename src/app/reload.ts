/** What of a new reading of the configuration reaches a running service: its secrets, each where the old one stood. */
import { Secret } from '../config/key.js';

/**
 * Secrets of `current` become those of `fresh`, whoever holds them. What stands in one of the two alone stays as it is.
 * @returns where secrets have changed, as the operator writes it: `s3_targets.archive.secret_key`
 */
export function takeSecrets(current: unknown, fresh: unknown, path = ''): readonly string[] {
  if (current instanceof Secret) return fresh instanceof Secret && current.take(fresh) ? [path] : [];
  const values = new Map(propertiesOf(fresh));
  return propertiesOf(current).flatMap(([name, value]) =>
    takeSecrets(value, values.get(name), path === '' ? name : `${path}.${name}`),
  );
}

/** Named parts: of a map of targets by their names, of an object by the spelling of the file. */
function propertiesOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (value instanceof Map) return [...value] as readonly (readonly [string, unknown])[];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).map(([name, part]) => [spelledAsKey(name), part]);
}

function spelledAsKey(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
