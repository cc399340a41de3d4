/** What a declared key is, and the type of the values that come out of a group of them. */
/** Where the reading of one value complains. */
export interface Place {
  /** Path of the key as the operator knows it: `s3_targets.minio.endpoint`. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** One line: the path, the value (never a secret's) and what would be right. */
  fault(text: string): void;
  at(name: string): Place;
}

/** What a number counts, where its name must say so. */
export type Unit = 'ms' | 'none';

/** One key. `Value` is what the program gets; a duration's property carries its unit in its name. */
export interface Key<Value, U extends Unit = Unit> {
  readonly type: string;
  readonly unit: U;
  /** As a configuration file would say it; `required` where there is none. */
  readonly defaultText: string;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** Variables that override the file; the first one that is set holds. */
  readonly env: readonly string[];
  /** The value where the key is not set. */
  whenUnset(place: Place): Value;
  /** The value of what the file says (never null, never ""), or undefined after a fault. */
  read(value: unknown, place: Place): Value | undefined;
  /** Keys of a nested object, for the reference. */
  readonly nested?: KeyGroup;
}

export type KeyGroup = { readonly [name: string]: Key<unknown> };

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type PropertyName<Name extends string, K> = K extends Key<unknown, 'ms'> ? `${Camel<Name>}Ms` : Camel<Name>;

/** The values of a group: `job_timeout` becomes `jobTimeoutMs`, `listen` stays `listen`. */
export type ConfigOf<Group extends KeyGroup> = {
  readonly [Name in keyof Group & string as PropertyName<Name, Group[Name]>]: Group[Name] extends Key<infer Value>
    ? Value
    : never;
};

/** The property that holds a key's value. */
export function propertyName(name: string, key: Key<unknown>): string {
  const camel = name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
  return key.unit === 'ms' ? `${camel}Ms` : camel;
}

/**
 * A value as a fault of the configuration shows it, which is printed and logged: nothing of what stands in objects and
 * lists, and of an address no login, path or query. Keys that are right hold no secret there; those that are not may.
 */
export function shownInLog(value: unknown): string {
  if (typeof value === 'string') return shown(withoutLogin(value));
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return shown(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}

function withoutLogin(text: string): string {
  return text
    .replace(/^([a-z][a-z\d+.-]*:\/\/)?.*@/is, '$1…@')
    .replace(/^([a-z][a-z\d+.-]*:\/\/[^/?#]*)[/?#].+/is, '$1/…');
}

/** What stands where an object should: a text may be the very secret that belongs into it. */
export function shownForObject(value: unknown): string {
  return typeof value === 'string' ? 'a text' : shownInLog(value);
}

/** A value as a fault shows it. */
export function shown(value: unknown): string {
  const text = jsonOf(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function jsonOf(value: unknown): string {
  // What 1e400 is read as has no JSON.
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Nested deeper than the call stack reaches.
    return 'this value';
  }
}
