/** Objects of the configuration: the reading of a group of keys, nested sections, and maps from a name to a target. */
import {
  type ConfigOf,
  type Key,
  type KeyGroup,
  type Place,
  propertyName,
  shown,
  shownForObject,
  shownInLog,
} from './key-types.js';
import { plain } from './key-values.js';
import { Secret, secretIn } from './secret.js';

/** What a check across several keys finds: faults stop the start, warnings are logged at every start. */
export interface Findings {
  fault(path: string, text: string): void;
  warn(path: string, text: string): void;
}

/** A check that needs several keys at once. It runs for values that are each right. */
export type CrossCheck<Config> = (config: Config, findings: Findings) => void;

/** Targets by name, each right in itself. */
export type Targets<Group extends KeyGroup> = ReadonlyMap<string, ConfigOf<Group>>;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** null and "" mean "not set" everywhere in the file (contract C1). */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** The values of a group out of an object of the file; faults are told to `place`, and a faulty key has its default. */
export function readGroup<Group extends KeyGroup>(group: Group, object: unknown, place: Place): ConfigOf<Group> {
  const values: Record<string, unknown> = {};
  const source = isObject(object) ? object : {};
  if (!isObject(object)) place.fault(`${shownForObject(object)} is not an object; write it as {"key": value}`);
  refuseUnknown(group, source, place);
  for (const [name, key] of Object.entries(group)) {
    values[propertyName(name, key)] = readKey(name, key, source, place);
  }
  return values as ConfigOf<Group>;
}

function readKey(name: string, key: Key<unknown>, source: Record<string, unknown>, parent: Place): unknown {
  const place = parent.at(name);
  const given = fromEnvironment(key, parent) ?? (key.isSecret ? secretFromFile(name, source, parent) : undefined);
  if (given === 'faulty') return key.whenUnset(place);
  if (given) {
    const value = key.read(given.value, given.place) ?? key.whenUnset(place);
    return value instanceof Secret && given.file !== undefined ? value.from(given.file) : value;
  }
  if (isSet(source[name])) return key.read(source[name], place) ?? key.whenUnset(place);
  if (key.isRequired) place.fault(requiredText(name, key));
  return key.whenUnset(place);
}

function requiredText(name: string, key: Key<unknown>): string {
  const variables = key.env.flatMap((variable) => (key.isSecret ? [variable, `${variable}_FILE`] : [variable]));
  const ways = [...(key.isSecret ? [`${name}_file`] : []), ...variables];
  return `is required; set it here${ways.length > 0 ? ` or by ${ways.join(' or ')}` : ''}`;
}

/** A value that does not stand under its own key; `file` where a secret was read from one. */
type Given = { readonly value: unknown; readonly place: Place; readonly file?: string } | 'faulty' | undefined;

function fromEnvironment(key: Key<unknown>, parent: Place): Given {
  for (const variable of key.env) {
    const place = parent.at(variable);
    const value = parent.env[variable];
    if (isSet(value)) return { value: isNumeric(key) && /^\d+$/.test(value as string) ? Number(value) : value, place };
    const file = key.isSecret ? parent.env[`${variable}_FILE`] : undefined;
    if (isSet(file)) return readSecretFile(file as string, parent.at(`${variable}_FILE`));
  }
  return undefined;
}

function isNumeric(key: Key<unknown>): boolean {
  return key.type === 'number' || key.type === 'bytes';
}

function secretFromFile(name: string, source: Record<string, unknown>, parent: Place): Given {
  const file = source[`${name}_file`];
  if (!isSet(file)) return undefined;
  const place = parent.at(`${name}_file`);
  if (isSet(source[name])) {
    place.fault(`stands beside ${name}; keep one of the two`);
    return 'faulty';
  }
  if (typeof file === 'string') return readSecretFile(file, place);
  place.fault(`${shownInLog(file)} is not a path; write it in quotation marks`);
  return 'faulty';
}

function readSecretFile(file: string, place: Place): Given {
  try {
    return { value: secretIn(file), place, file };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    place.fault(`${shown(file)} ${code === undefined ? message : `cannot be read (${code})`}`);
    return 'faulty';
  }
}

function refuseUnknown(group: KeyGroup, source: Record<string, unknown>, place: Place): void {
  const known = Object.entries(group).flatMap(([name, key]) => (key.isSecret ? [name, `${name}_file`] : [name]));
  for (const name of Object.keys(source)) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    place.at(name).fault(`unknown key; ${near ? `${near} may be meant` : `there are ${known.join(', ')}`}`);
  }
}

function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate) }))
    .sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(2, Math.floor(best.candidate.length / 4)) ? best.candidate : undefined;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_unused, column) => column);
  for (let row = 1; row <= Math.min(a.length, 100); row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] as number) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] as number) + 1, (current[column - 1] as number) + 1));
    }
    previous = current;
  }
  return previous[b.length] as number;
}

/** An object inside an object, such as a target's `auth`. All its keys have their defaults where it is not set. */
export function section<Group extends KeyGroup>(group: Group): Key<ConfigOf<Group>, 'none'> {
  return plain({
    type: 'object',
    unit: 'none',
    defaultText: '{}',
    nested: group,
    whenUnset: (place) => readGroup(group, {}, place),
    read: (value, place) => readGroup(group, value, place),
  });
}

const TARGET_NAME = /^[A-Za-z0-9._-]{1,128}$/;

/** A map from a name to the keys of a target. A target with a fault of its own is left out of the value. */
export function targets<Group extends KeyGroup>(group: Group): Key<Targets<Group>, 'none'> {
  return plain({
    type: 'map of targets',
    unit: 'none',
    defaultText: '{}',
    nested: group,
    whenUnset: () => new Map(),
    read: (value, place) => {
      if (!isObject(value)) {
        place.fault(`${shownForObject(value)} is not an object; write it as {"name": {…}}`);
        return undefined;
      }
      const read = new Map<string, ConfigOf<Group>>();
      for (const [name, fields] of Object.entries(value)) readTarget(group, name, fields, place, read);
      return read;
    },
  });
}

function readTarget<Group extends KeyGroup>(
  group: Group,
  name: string,
  fields: unknown,
  parent: Place,
  read: Map<string, ConfigOf<Group>>,
): void {
  let isFaulty = false;
  const watched = (place: Place): Place => ({
    path: place.path,
    env: place.env,
    fault: (text) => {
      isFaulty = true;
      place.fault(text);
    },
    at: (child) => watched(place.at(child)),
  });
  const place = watched(parent.at(name));
  if (!TARGET_NAME.test(name)) place.fault('a target name is made of A-Z a-z 0-9 . _ - and has 1 to 128 of them');
  const config = readGroup(group, fields, place);
  if (!isFaulty) read.set(name, config);
}
