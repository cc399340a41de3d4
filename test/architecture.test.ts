// Who may import whom. The table is the law of the house (README, map of src/); this test reads every import in src/.
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

/** Unit (folder or file at the top of src) → what else of ours it may import. Values and types alike. */
const ALLOWED: Record<string, readonly string[]> = {
  ui: [],
  'thread-guard': [],
  zlib: ['thread-guard'],
  display: [],
  fonts: ['display', 'zlib'],
  images: ['display', 'zlib'],
  ofd: ['display', 'fonts', 'images', 'zlib'],
  render: ['display', 'fonts', 'images', 'zlib'],
  pdf: ['display', 'fonts'],
  formats: [],
  errors: [],
  version: [],
  'make-folder': [],
  metrics: ['errors', 'formats'],
  config: ['errors', 'formats'],
  log: ['make-folder', 'config'],
  notify: ['config', 'errors', 'formats', 'log', 'jobs/notification'],
  transfer: ['make-folder', 'config', 'errors', 'formats', 'log', 'convert/converter-types'],
  jobs: ['make-folder', 'config', 'errors', 'formats', 'log', 'display/list'],
  convert: [
    'make-folder',
    'config',
    'display',
    'errors',
    'fonts',
    'formats',
    'images',
    'log',
    'ofd',
    'pdf',
    'render',
    'thread-guard',
    'zlib',
  ],
  input: ['convert', 'errors', 'formats', 'jobs', 'transfer'],
  attempt: ['input', 'convert', 'errors', 'formats', 'jobs', 'log', 'transfer', 'config'],
  http: [
    'attempt',
    'config',
    'convert',
    'errors',
    'formats',
    'jobs',
    'log',
    'metrics',
    'notify',
    'transfer',
    'version',
  ],
  cli: ['make-folder', 'app', 'config', 'convert', 'display', 'errors', 'fonts', 'formats', 'log', 'version'],
  main: ['cli', 'version'],
};
const WITHOUT_FILES_AND_NETWORK = ['display', 'fonts', 'images', 'ofd', 'pdf', 'render'];
const FORBIDDEN_IN_ENGINE = [
  'fs',
  'net',
  'http',
  'https',
  'http2',
  'tls',
  'dgram',
  'dns',
  'child_process',
  'fs/promises',
];
/** The places of the engine that look at the machine: its fonts, and the compiled PDF library. */
const ENGINE_FILES_WITH_DISK = ['fonts/system.ts', 'pdf/module.ts'];

interface Import {
  readonly file: string;
  readonly target: string;
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(join(src, file), 'utf8');
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*'([^']+)'|import\('([^']+)'\)|(?:^|\n)import '([^']+)'/g,
  );
  return [...found].map((match) => ({ file, target: (match[1] ?? match[2] ?? match[3])! }));
});

const unitOf = (path: string): string => path.split('/')[0]!.replace(/\.[jt]s$/, '');
const ours = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ file, target }) => ({ file, target: relative(src, join(src, dirname(file), target)) }));

describe('layers', () => {
  it('are kept by every import', () => {
    const broken = ours.filter(({ file, target }) => {
      const from = unitOf(file);
      if (from === 'app' || unitOf(target) === from) return false;
      const allowed = ALLOWED[from];
      if (!allowed) throw new Error(`src/${from} stands in no row of this test's table`);
      return !allowed.some((entry) => unitOf(target) === entry || target.replace(/\.js$/, '') === entry);
    });
    expect(broken.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });

  it('keep the engine away from files, network, clock and chance', () => {
    const engine = files.filter(
      (file) => WITHOUT_FILES_AND_NETWORK.includes(unitOf(file)) && !ENGINE_FILES_WITH_DISK.includes(file),
    );
    const found = imports
      .filter(({ file, target }) => engine.includes(file) && FORBIDDEN_IN_ENGINE.includes(target.replace(/^node:/, '')))
      .map(({ file, target }) => `${file} imports ${target}`);
    for (const file of engine) {
      const text = readFileSync(join(src, file), 'utf8');
      for (const word of ['Math.random', 'Date.now', 'new Date()', 'performance.now', 'randomBytes', 'process.env']) {
        if (text.includes(word)) found.push(`${file} uses ${word}`);
      }
    }
    expect(found).toEqual([]);
  });

  it('have no ring of files', () => {
    const edges = new Map<string, string[]>();
    for (const { file, target } of ours) {
      edges.set(file, [...(edges.get(file) ?? []), target.replace(/\.js$/, '.ts')]);
    }
    const done = new Set<string>();
    const rings: string[] = [];
    const visit = (file: string, trail: readonly string[]): void => {
      if (trail.includes(file)) {
        rings.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
        return;
      }
      if (done.has(file)) return;
      for (const next of edges.get(file) ?? []) visit(next, [...trail, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    // Types may refer to each other inside the display list: a tiling paint holds items, and items hold paints.
    expect(rings.filter((ring) => !/^display\/(list|paint)\.ts → display\/(list|paint)\.ts/.test(ring))).toEqual([]);
  });

  it('call zlib where a thread may be ended by our own module alone', () => {
    const callers = imports.filter(({ target }) => /^(node:)?zlib$/.test(target)).map(({ file }) => file);
    expect([...new Set(callers)].sort()).toEqual(['log/files.ts', 'zlib.ts']);
  });

  it('name Node modules by their node: name', () => {
    expect(imports.filter(({ target }) => builtinModules.includes(target))).toEqual([]);
  });
});
