// Dashboard and alerts ask for metrics that there are, with labels that these have.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Config } from '../../src/app/settings.js';
import { volumesOf } from '../../src/app/volume-check.js';
import { METRICS } from '../../src/metrics/metrics.js';
import { RUN_METRICS } from '../../src/metrics/run-metrics.js';

const folder = fileURLToPath(new URL('../../deploy/monitoring', import.meta.url));

/** Labels that Prometheus adds, and those of histograms. */
const ALWAYS = ['instance', 'job', 'le'];

const known = new Map<string, readonly string[]>([['up', []]]);
const gauges: string[] = [];
for (const { name, type, labels } of METRICS) {
  known.set(name, labels);
  if (type === 'gauge') gauges.push(name);
}
for (const { name, type, labels } of Object.values(RUN_METRICS)) {
  known.set(type === 'histogram' ? `${name}_bucket` : name, labels);
}
const registry = new Registry();
collectDefaultMetrics({ register: registry });
for (const { name } of registry.getMetricsAsArray()) known.set(name, []);
registry.clear();

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const dashboard = JSON.parse(readFileSync(join(folder, 'grafana-dashboard.json'), 'utf8')) as { panels: Panel[] };
const alerts = parse(readFileSync(join(folder, 'alerts.yaml'), 'utf8')) as {
  groups: { rules: { alert: string; expr: string }[] }[];
};
const expressions: readonly (readonly [string, string])[] = [
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const)),
];

describe('monitoring', () => {
  it('has files that this test reads, and no other', () => {
    expect(readdirSync(folder).sort()).toEqual(['alerts.yaml', 'grafana-dashboard.json']);
    expect(expressions.length).toBeGreaterThan(30);
  });

  it.each(expressions)('%s: %s', (_title, expression) => {
    const names = [...expression.matchAll(/\b(?:ofd|process|nodejs)_\w+|\bup\b/g)].map(([name]) => name);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect([...known.keys()]).toContain(name);
    const allowed = [...ALWAYS, ...names.flatMap((name) => known.get(name) ?? [])];
    const selected = [...expression.matchAll(/[{,]\s*(\w+)(?:=~|!=|=)"/g)].map((match) => match[1]);
    const grouped = [...expression.matchAll(/\b(?:by|on) \(([\w, ]+)\)/g)].flatMap((match) => match[1]!.split(/,\s*/));
    for (const label of [...selected, ...grouped]) expect(allowed).toContain(label);
    // They take every fall for a restart of what counts.
    const counted = [...expression.matchAll(/\b(?:rate|increase)\((\w+)/g)].map((match) => match[1]);
    for (const name of counted) expect(gauges).not.toContain(name);
  });

  it('counts the volumes that every service has, whatever else is watched', () => {
    const { expr = '' } = alerts.groups[0]!.rules.find(({ alert }) => alert === 'OfdServerVolumeHangs') ?? {};
    const [, excepted, count] = /ofd_volume_free_bytes\{volume!="(\w+)"\}\) == (\d+)$/.exec(expr) ?? [];
    const paths = { dbPath: '/d/jobs.db', tempDir: '/t', outputDir: '/o' };
    for (const logDir of ['', '/l']) {
      const watched = volumesOf({ ...paths, logDir } as Config).filter(({ key }) => key !== excepted);
      expect(watched).toHaveLength(Number(count));
    }
  });

  it('leaves no metric of the service unseen', () => {
    const text = expressions.map(([, expression]) => expression).join('\n');
    const own = [...known.keys()].filter((name) => name.startsWith('ofd_'));
    expect(own.filter((name) => !text.includes(name))).toEqual([]);
  });
});
