// The cases in test/cases: small inputs that break converters, each with its expected result in expect.json (the ops are
// described in test/cases/SCHEMA.md). Every check must hold; those marked "should" are wishes and are listed in WISHES
// when they do not hold, so that none changes sides unseen.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { ThreadConverter } from '../src/convert/converter.js';
import { CaseRun, type Check } from './support/case-checks.js';
import { withFolder } from './support/rendering.js';

const folder = fileURLToPath(new URL('cases', import.meta.url));

interface Case {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly level?: string;
  readonly checks: readonly Check[];
}

/** Wishes that do not hold yet: case and op. */
const OPEN_WISHES: readonly string[] = [];

const cases = readdirSync(folder)
  .filter((name) => /^B\d+$/.test(name))
  .sort()
  .map((name) => JSON.parse(readFileSync(join(folder, name, 'expect.json'), 'utf8')) as Case);

const converter = new ThreadConverter({ maxThreads: 1, fontDirs: [], isForeground: true });
afterAll(() => converter.close());

describe('case', () => {
  it('files are all here', () => expect(cases.length).toBe(48));

  it.each(cases)('$id $kind: $title', { timeout: 120_000 }, async ({ id, level, checks }) => {
    await withFolder(async (work) => {
      mkdirSync(work, { recursive: true });
      const run = new CaseRun(join(folder, id), work, checks, converter);
      const broken: string[] = [];
      for (const check of checks) {
        const fault = await run.check(check);
        const isWish = (check.level ?? level) === 'should';
        if (fault && !(isWish && OPEN_WISHES.includes(`${id} ${check.op}`))) broken.push(`${check.op}: ${fault}`);
      }
      expect(broken).toEqual([]);
    });
  });
});
