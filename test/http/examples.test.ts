// Every command of docs/http.md, run as a reader would, against the service with its own engine.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEY, startTestService, type TestService } from '../support/service.js';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({}, 'real');
});
afterAll(() => service.close());

it('they do what the reference says', async () => {
  const work = join(service.folder, 'work');
  mkdirSync(work);
  copyFileSync('examples/invoice.ofd', join(work, 'invoice.ofd'));
  const text = readFileSync('docs/http.md', 'utf8');
  const script = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]).join('\n');
  const mine = script.replace('http://127.0.0.1:9705', service.url).replace('change-me', KEY);
  expect(mine).not.toBe(script);
  const { stdout, stderr } = await promisify(execFile)('bash', ['-eu', '-o', 'pipefail', '-c', mine], { cwd: work });
  expect(stderr).toBe('');
  const start = (name: string): string => readFileSync(join(work, name)).toString('latin1', 0, 4);
  expect(['invoice.pdf', 'first-page.pdf', 'page-0001.png'].map(start)).toEqual(['%PDF', '%PDF', '\x89PNG']);
  expect(readFileSync(join(work, 'invoice.txt'), 'utf8')).toContain('发票号码');
  expect(stdout).toMatch(/^event: (?:queued|started|done)\ndata: \{"id":/);
  expect(stdout).toMatch(
    /event: done\ndata: \{"id":"[^\n]*"state":"succeeded"[^\n]*\}\n\n\{"id":"[^\n]*"state":"succeeded"/,
  );
});
