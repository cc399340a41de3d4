// The same input gives the same bytes under another clock, in another time zone, locale and folder, and for another user
// (contract X1). Concurrency: convert/converter.test.ts.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { galleryPackage } from './fuzz/gallery.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = join(root, 'test/support/bin/digests.mjs');
/** Some years on. */
const CLOCK =
  'const Real = Date; globalThis.Date = class extends Real { constructor(...a) { a.length ? super(...a) : super(Real.now() + 3e11); }' +
  ' static now() { return Real.now() + 3e11; } };';

let folder: string;
let files: string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'determinism-'));
  chmodSync(folder, 0o777);
  const gallery = join(folder, 'gallery.ofd');
  writeFileSync(gallery, galleryPackage());
  files = [gallery, join(root, 'examples/invoice.ofd')];
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Nobody, where this process may become nobody and nobody may read the tree. */
function otherUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  for (let path = program; path !== dirname(path); path = dirname(path)) {
    if ((statSync(path).mode & 0o005) === 0) return {};
  }
  return { uid: 65_534, gid: 65_534 };
}

function digests(name: string, nodeOptions: readonly string[], environment: NodeJS.ProcessEnv, user = {}) {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  chmodSync(cwd, 0o777);
  const env = { ...process.env, TMPDIR: cwd, ...environment };
  const child = spawnSync(process.execPath, [...nodeOptions, program, ...files], {
    cwd,
    env,
    ...user,
    encoding: 'utf8',
  });
  expect(child.status, child.stderr).toBe(0);
  const lines = child.stdout.trim().split('\n');
  return { lines: lines.slice(0, -1), circumstances: lines.at(-1) ?? '' };
}

it('gives the same bytes and warnings under other circumstances', { timeout: 120_000 }, () => {
  const here = digests('here', [], { TZ: 'UTC', LC_ALL: 'C' });
  const there = digests(
    'a folder with a longer name',
    ['--import', `data:text/javascript,${encodeURIComponent(CLOCK)}`],
    { TZ: 'Asia/Shanghai', LC_ALL: 'zh_CN.UTF-8', LANG: 'zh_CN.UTF-8' },
    otherUser(),
  );
  expect(there.circumstances).not.toBe(here.circumstances);
  expect(there.circumstances.slice(0, 4)).not.toBe(here.circumstances.slice(0, 4));
  expect(here.lines.length).toBeGreaterThan(2 * 9);
  expect(there.lines).toEqual(here.lines);
});
