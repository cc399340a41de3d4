/** The kinds of keys that hold one value: texts, paths, words, numbers, durations, flags, lists, secrets. */
import { resolve } from 'node:path';
import { formatDuration, parseDuration } from './duration.js';
import { type Key, type Place, shownInLog, type Unit } from './key-types.js';
import { Secret } from './secret.js';

interface TextOptions {
  readonly default?: string;
  readonly isRequired?: boolean;
  readonly env?: readonly string[];
  /** What is wrong with the value and what would be right; undefined for nothing. */
  readonly check?: (value: string) => string | undefined;
}

/** A key of these fields that is optional, open and read from the file alone, unless they say otherwise. */
export function plain<Value, U extends Unit>(
  fields: Pick<Key<Value, U>, 'type' | 'unit' | 'defaultText' | 'whenUnset' | 'read'> & Partial<Key<Value, U>>,
): Key<Value, U> {
  return { isRequired: false, isSecret: false, env: [], ...fields };
}

function readText(value: unknown, place: Place, check: TextOptions['check']): string | undefined {
  if (typeof value !== 'string') {
    place.fault(`${shownInLog(value)} is not a text; write it in quotation marks`);
    return undefined;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  const fault = /[\x00-\x1f\x7f]/.test(value) ? 'control characters are not allowed' : check?.(value);
  if (fault === undefined) return value;
  place.fault(`${shownInLog(value)}: ${fault}`);
  return undefined;
}

/** A text; "" where it is not set and has no default. */
export function text(options: TextOptions = {}): Key<string, 'none'> {
  return plain({
    type: 'text',
    unit: 'none',
    defaultText: options.isRequired ? 'required' : JSON.stringify(options.default ?? ''),
    isRequired: options.isRequired ?? false,
    env: options.env ?? [],
    whenUnset: () => options.default ?? '',
    read: (value, place) => readText(value, place, options.check),
  });
}

interface PathOptions {
  readonly isRequired?: boolean;
  readonly env?: readonly string[];
  /** For the reference. */
  readonly defaultText?: string;
  readonly whenUnset?: (env: Place['env']) => string;
}

/** A path, made absolute from the working directory; "" where it is not set and has no default. */
export function path(options: PathOptions = {}): Key<string, 'none'> {
  return plain({
    type: 'path',
    unit: 'none',
    defaultText: options.isRequired ? 'required' : (options.defaultText ?? '""'),
    isRequired: options.isRequired ?? false,
    env: options.env ?? [],
    whenUnset: (place) => options.whenUnset?.(place.env) ?? '',
    read: (value, place) => {
      const read = readText(value, place, undefined);
      return read === undefined ? undefined : resolve(read);
    },
  });
}

/** One word of a list, whatever its case. */
export function choice<Word extends string>(
  words: readonly Word[],
  options: { readonly default: Word; readonly env?: readonly string[] },
): Key<Word, 'none'> {
  return plain({
    type: words.join(' | '),
    unit: 'none',
    defaultText: JSON.stringify(options.default),
    env: options.env ?? [],
    whenUnset: () => options.default,
    read: (value, place) => {
      const word = words.find((candidate) => typeof value === 'string' && candidate === value.toLowerCase());
      if (word === undefined) place.fault(`${shownInLog(value)} is none of ${words.join(', ')}`);
      return word;
    },
  });
}

interface NumberOptions {
  readonly default: number;
  readonly min?: number;
  readonly max: number;
  /** What 0 means (contract C1): the default, or a value of its own such as "no limit". */
  readonly zero?: 'default' | 'itself';
  readonly env?: readonly string[];
  readonly type?: 'number' | 'bytes';
}

/** A whole number. The environment gives it as digits. */
export function wholeNumber(options: NumberOptions): Key<number, 'none'> {
  const min = options.min ?? 1;
  return plain({
    type: options.type ?? 'number',
    unit: 'none',
    defaultText: String(options.default),
    env: options.env ?? [],
    whenUnset: () => options.default,
    read: (value, place) => {
      if (typeof value !== 'number' || !Number.isInteger(value)) {
        place.fault(`${shownInLog(value)} is not a whole number; write it without quotation marks, unit or point`);
        return undefined;
      }
      if (value === 0 && options.zero !== undefined) return options.zero === 'default' ? options.default : 0;
      if (value >= min && value <= options.max) return value;
      place.fault(`${value} is out of range; ${min} to ${options.max} is allowed`);
      return undefined;
    },
  });
}

/** A size in bytes; 0 means the default. */
export function bytes(options: { readonly default: number; readonly env?: readonly string[] }): Key<number, 'none'> {
  return wholeNumber({ ...options, max: 2 ** 50, zero: 'default', type: 'bytes' });
}

interface DurationOptions {
  readonly default: string;
  readonly zero: 'default' | 'itself';
  /** Longest that makes sense; timers of Node reach no further than 596 hours. */
  readonly max?: string;
}

const DURATION_FORM = 'write it as "30s", "5m" or "168h"';

/** A duration as Go writes it, in milliseconds for the program. */
export function duration(options: DurationOptions): Key<number, 'ms'> {
  const defaultMs = parseDuration(options.default) as number;
  const maxMs = parseDuration(options.max ?? '876000h') as number;
  return plain({
    type: 'duration',
    unit: 'ms',
    defaultText: JSON.stringify(options.default),
    whenUnset: () => defaultMs,
    read: (value, place) => {
      const durationMs = value === 0 ? 0 : typeof value === 'string' ? parseDuration(value) : undefined;
      if (durationMs === undefined) {
        place.fault(`${shownInLog(value)} is not a duration; ${DURATION_FORM}`);
        return undefined;
      }
      if (durationMs === 0) return options.zero === 'default' ? defaultMs : 0;
      // Times are kept as whole milliseconds; the shortest is still one.
      if (durationMs > 0 && durationMs <= maxMs) return Math.max(1, Math.round(durationMs));
      place.fault(`${shownInLog(value)} is out of range; from "0s" to "${formatDuration(maxMs)}" is allowed`);
      return undefined;
    },
  });
}

function readFlag(value: unknown, place: Place): boolean | undefined {
  if (typeof value === 'boolean') return value;
  place.fault(`${shownInLog(value)} is neither true nor false`);
  return undefined;
}

/** true or false. */
export function flag(options: { readonly default: boolean }): Key<boolean, 'none'> {
  return plain({
    type: 'true | false',
    unit: 'none',
    defaultText: String(options.default),
    whenUnset: () => options.default,
    read: readFlag,
  });
}

/** true, false, or not set, where "not set" has a meaning of its own, told in `unsetText`. */
export function optionalFlag(unsetText: string): Key<boolean | undefined, 'none'> {
  return plain({
    type: 'true | false',
    unit: 'none',
    defaultText: unsetText,
    whenUnset: () => undefined,
    read: readFlag,
  });
}

/** A list of texts, each checked. */
export function texts(options: {
  readonly check?: (value: string) => string | undefined;
  readonly map?: (value: string) => string;
}): Key<readonly string[], 'none'> {
  return plain({
    type: 'list of texts',
    unit: 'none',
    defaultText: '[]',
    whenUnset: () => [],
    read: (value, place) => {
      if (!Array.isArray(value)) {
        place.fault(`${shownInLog(value)} is not a list; write it as ["…", "…"]`);
        return undefined;
      }
      const read = value.map((item: unknown, index) => {
        const itemPlace = place.at(`[${index}]`);
        if (item === '') itemPlace.fault('"" is empty; leave it out');
        return item === '' ? undefined : readText(item, itemPlace, options.check);
      });
      return read.filter((item) => item !== undefined).map((item) => options.map?.(item) ?? item);
    },
  });
}

/** A folder list, made absolute. */
export function paths(): Key<readonly string[], 'none'> {
  return { ...texts({ map: (value) => resolve(value) }), type: 'list of paths' };
}

/**
 * A secret. It may come from a file instead, named by `<key>_file` (and `<variable>_FILE`), whose name needs no
 * declaration of its own.
 */
export function secret(
  options: { readonly isRequired?: boolean; readonly env?: readonly string[] } = {},
): Key<Secret | undefined, 'none'> {
  return plain({
    type: 'secret',
    unit: 'none',
    defaultText: options.isRequired ? 'required' : '""',
    isRequired: options.isRequired ?? false,
    isSecret: true,
    env: options.env ?? [],
    whenUnset: () => undefined,
    read: (value, place) => {
      if (typeof value !== 'string') place.fault('is not a text; write it in quotation marks');
      else if (value !== value.trim()) place.fault('starts or ends with white space, which is hardly meant');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      else if (/[\x00-\x1f\x7f]/.test(value)) place.fault('contains control characters, which no header can carry');
      else return new Secret(value);
      return undefined;
    },
  });
}
