// The reference in docs/ and the code say the same, both ways: routes, codes, keys, variables, metrics.
import { readdirSync, readFileSync } from 'node:fs';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { ALL_KEYS } from '../src/app/settings.js';
import type { KeyGroup } from '../src/config/key.js';
import { formatsOf, OPTION_NAMES, wireNameOf } from '../src/convert/options.js';
import { WARNING_CODES } from '../src/convert/warning-codes.js';
import { ERROR_CODES } from '../src/errors.js';
import { FIELDS } from '../src/http/fields.js';
import { createServer } from '../src/http/server.js';
import type { HttpServices } from '../src/http/services.js';
import { METRICS } from '../src/metrics/metrics.js';
import { RUN_METRICS, RunMetrics } from '../src/metrics/run-metrics.js';
import { DEFAULT_LIMITS } from '../src/ofd/limits.js';

interface Operation {
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

/** As far as it is looked at. */
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: { readonly Error: { readonly properties: { code: { enum: string[] } } } } };
}

/** /openapi.json, which is made of every route that the server registers. */
async function description(): Promise<Description> {
  const parts = {
    logger: pino({ level: 'silent' }),
    config: { apiKeys: new Map() },
    metrics: new RunMetrics(),
    startedAtMs: 0,
  };
  const server = createServer(parts as unknown as HttpServices);
  const { body } = await server.inject('/openapi.json');
  await server.close();
  return JSON.parse(body) as Description;
}

type Table = readonly (readonly string[])[];

/** Rows of the first table after `heading`: cells without quotation marks of code. */
function table(file: string, heading: string): Table {
  const text = readFileSync(`docs/${file}`, 'utf8');
  const section = text.slice(text.indexOf(`\n${heading}\n`));
  const lines = section.split('\n').slice(1);
  const first = lines.findIndex((line) => line.startsWith('| '));
  const rows = lines.slice(first + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end < 0 ? undefined : end).map(cells);
}

function cells(line: string): string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) =>
      cell
        .trim()
        .replaceAll('\\|', '|')
        .replace(/^`(.*)`$/, '$1'),
    );
}

const byName = (rows: Table): Table => [...rows].sort((a, b) => (a[0]! < b[0]! ? -1 : 1));

describe('docs/http.md', () => {
  it('has every route with the scope that it needs, and no other', async () => {
    const routes = Object.entries((await description()).paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { description: text }]) => [
        `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
        /^Needs a key with the scope (\w+)\.$/.exec(text ?? '')?.[1] ?? 'no key',
      ]),
    );
    const documented = table('http.md', '## Routes').map(([route, scope]) => [route!, scope!]);
    expect(byName(documented)).toEqual(byName(routes));
  });

  it('has every error code with its status and whether it may pass', async () => {
    const codes = Object.entries(ERROR_CODES).map(([code, { status, retryable }]) => [code, String(status), retryable]);
    const documented = table('http.md', '## Errors').map(([code, status, again]) => [
      code!,
      status!,
      again === 'again',
    ]);
    expect(documented.sort()).toEqual(codes.sort());
    expect((await description()).components.schemas.Error.properties.code.enum).toEqual(Object.keys(ERROR_CODES));
  });

  it('has every option with the formats that have a use for it', () => {
    const documented = table('http.md', '### Options').flatMap(([names, ...formats]) =>
      names!.split(', ').map((name) => [name, ...formats.slice(0, 2)].map((cell) => cell.replaceAll('`', ''))),
    );
    const known = OPTION_NAMES.map((name) => {
      const { inputs, outputs } = formatsOf(name);
      return [wireNameOf(name), inputs?.join(', ') ?? 'all', outputs?.join(', ') ?? 'all'];
    });
    expect(documented).toEqual(known);
  });

  it('has every metric with its type and labels', async () => {
    const metrics = [...METRICS, ...Object.values(RUN_METRICS)].map(({ name, type, labels }) => [
      name,
      type,
      labels.join(', '),
    ]);
    const documented = table('http.md', '## Numbers').map(([name, type, labels]) => [name!, type!, labels!]);
    expect(byName(documented)).toEqual(byName(metrics));
    const inOpenApi = JSON.stringify((await description()).paths['/metrics']);
    for (const [name] of metrics) expect(inOpenApi).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it('has every field of a request, with its short name', () => {
    const text = readFileSync('docs/http.md', 'utf8');
    for (const { path, short } of FIELDS) {
      const name = path.startsWith('output.remote') ? 'output.remote' : (short ?? path);
      expect(text, path).toContain(`\`${name}\``);
    }
  });

  it('has every parameter of a query', async () => {
    const text = readFileSync('docs/http.md', 'utf8');
    const operations = Object.values((await description()).paths).flatMap((methods) => Object.values(methods));
    const names = operations.flatMap(({ parameters = [] }) =>
      parameters.filter((parameter) => parameter.in === 'query'),
    );
    for (const { name } of names) {
      if (FIELDS.some(({ path, short }) => name === path || name === short)) continue;
      expect(text).toMatch(new RegExp(`\\| (?:\`\\w+\`, )?\`${name}\`|\\?${name}=`));
    }
  });
});

describe('docs/configuration.md', () => {
  const rowsOf = (group: KeyGroup, prefix = ''): Table =>
    Object.entries(group).flatMap(([name, key]) =>
      key.nested && key.type === 'object'
        ? rowsOf(key.nested, `${prefix}${name}.`)
        : [[`${prefix}${name}`, key.type, key.defaultText]],
    );
  const documented = (heading: string): Table => table('configuration.md', heading).map((row) => row.slice(0, 3));

  it('has every key with its type and default', () => {
    expect(byName(documented('## Keys'))).toEqual(byName(rowsOf(ALL_KEYS)));
  });

  it.each(Object.keys(ALL_KEYS).filter((name) => name.endsWith('_targets')))('has every key of %s', (name) => {
    const { nested } = (ALL_KEYS as KeyGroup)[name]!;
    expect(byName(documented(`### ${name}`))).toEqual(byName(rowsOf(nested!)));
  });

  it('has every variable', () => {
    const variables = Object.entries(ALL_KEYS).flatMap(([name, key]) => key.env.map((variable) => [variable, name]));
    expect(byName(documented('## Environment'))).toEqual(byName(variables));
  });
});

describe('docs/engine.md', () => {
  const sources = ['ofd', 'pdf', 'fonts', 'images', 'render', 'convert'].flatMap((folder) =>
    readdirSync(`src/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && name !== 'warning-codes.ts')
      .map((name) => readFileSync(`src/${folder}/${name}`, 'utf8')),
  );

  it('has every code that a warning can carry, and no other', () => {
    const documented = table('engine.md', '## Warnings').map(([code]) => code!);
    expect(documented).toEqual(WARNING_CODES);
    const written = sources.flatMap((source) =>
      [...source.matchAll(/(?:\bcode: |\b#?report\(\s*)'([a-z_]+)'/g)].map((match) => match[1]!),
    );
    const isError = (code: string): boolean => code in ERROR_CODES;
    expect(written.filter((code) => !documented.includes(code) && !isError(code))).toEqual([]);
    expect(documented.filter((code) => !sources.some((source) => source.includes(`'${code}'`)))).toEqual([]);
  });

  it('has every limit with its value', () => {
    const limits = Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, String(value)]);
    expect(table('engine.md', '## Limits')).toEqual(limits);
  });
});
