/** Reads the configuration file against declared groups of keys, and tells every fault at once (contract C1, C2). */
import { readFileSync, statSync } from 'node:fs';
import { findRepeatedName, jsonFaultText } from './json-fault.js';
import { type CrossCheck, type Findings, readGroup } from './key-groups.js';
import { type ConfigOf, type Key, type KeyGroup, type Place, shownForObject } from './key-types.js';

/** The configuration cannot be used. One line for each fault: the key's path, the value, what would be right. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.join('\n')}`,
    );
    this.faults = faults;
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a configuration says, and what in it is allowed but insecure. */
export interface Loaded<Config> {
  readonly config: Config;
  /** One line each, for the log at every start. */
  readonly warnings: readonly string[];
}

/**
 * The values of `group` from the JSON file at `path` and the environment, which overrides the file.
 * Throws ConfigError with all faults.
 */
export function loadGroup<Group extends KeyGroup>(
  group: Group,
  checks: readonly CrossCheck<ConfigOf<Group>>[],
  path: string,
  env: Environment,
): Loaded<ConfigOf<Group>> {
  const faults: string[] = [];
  const warnings: string[] = [];
  const file = readConfigFile(path, faults);
  const config = readGroup(group, file, placeAt('', env, faults));
  const findings: Findings = {
    fault: (at, text) => faults.push(`${at}: ${text}`),
    warn: (at, text) => warnings.push(`${at}: ${text}`),
  };
  for (const check of checks) check(config, findings);
  if (faults.length > 0) throw new ConfigError(faults);
  warnOfReadableSecrets(group, file, path, findings);
  return { config, warnings };
}

/**
 * The values of a few keys from the JSON file at `path` and the environment, whatever else the file holds or lacks.
 * Throws ConfigError with all faults of these keys.
 */
export function loadKeys<Group extends KeyGroup>(group: Group, path: string, env: Environment): ConfigOf<Group> {
  const faults: string[] = [];
  const file = readConfigFile(path, []);
  const given = Object.entries(file).filter(([name]) => Object.hasOwn(group, name));
  const config = readGroup(group, Object.fromEntries(given), placeAt('', env, faults));
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

function placeAt(path: string, env: Environment, faults: string[]): Place {
  return {
    path,
    env,
    fault: (text) => faults.push(path === '' ? text : `${path}: ${text}`),
    at: (name) => placeAt(name.startsWith('[') || path === '' ? path + name : `${path}.${name}`, env, faults),
  };
}

function readConfigFile(path: string, faults: string[]): Record<string, unknown> {
  const content = readContent(path).replace(/^\uFEFF/, '');
  try {
    const value: unknown = JSON.parse(content);
    const repeated = findRepeatedName(content, value);
    if (repeated !== undefined) faults.push(`${repeated}: the key is given twice; leave one out`);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw new ConfigError([
      `${path}: ${shownForObject(value)} is not an object; the file holds one object {"key": value, …}`,
    ]);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([`${path}: is no valid JSON: ${jsonFaultText(content)}`]);
  }
}

function readContent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ConfigError([`${path}: the configuration file cannot be read (${code}); give its path after -c`]);
  }
}

/** Configuration files are copied and backed up with mode 0644; a secret in one is worth a word. */
function warnOfReadableSecrets(group: KeyGroup, file: Record<string, unknown>, path: string, findings: Findings): void {
  if ((statSync(path).mode & 0o004) === 0) return;
  for (const key of writtenSecrets(group, file, '')) {
    findings.warn(key, `this secret is written in ${path}, which every user of the machine can read; use ${key}_file`);
  }
}

function writtenSecrets(group: KeyGroup, object: unknown, prefix: string): string[] {
  if (typeof object !== 'object' || object === null) return [];
  const source = object as Record<string, unknown>;
  return Object.entries(group).flatMap(([name, key]) => secretsOf(name, key, source[name], prefix));
}

function secretsOf(name: string, key: Key<unknown>, value: unknown, prefix: string): string[] {
  const path = `${prefix}${name}`;
  if (key.isSecret) return typeof value === 'string' && value !== '' ? [path] : [];
  if (!key.nested || typeof value !== 'object' || value === null) return [];
  if (key.type === 'object') return writtenSecrets(key.nested, value, `${path}.`);
  const nested = key.nested;
  return Object.entries(value).flatMap(([target, fields]) => writtenSecrets(nested, fields, `${path}.${target}.`));
}
