// Engines that are started before work is taken, where warm_engines asks for it.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { json, startTestService, type TestService, until } from '../support/service.js';

let service: TestService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

interface ReadyAnswer {
  readonly status?: string;
  readonly reasons?: readonly string[];
  readonly cold?: readonly { readonly engine: string; readonly reason: string }[];
}

const ready = async (): Promise<ReadyAnswer> => json<ReadyAnswer>(fetch(`${service?.url}/readyz`));

function inTempDir(name: string): string {
  return execFileSync('find', [service?.tempDir ?? '', '-path', `*/profiles/${name}`], { encoding: 'utf8' });
}

it('is ready when a profile is made, a browser runs and the threads know the fonts', async () => {
  service = await startTestService({ warm_engines: true, fast_workers: 2 }, 'real');
  expect(await ready()).toMatchObject({ reasons: ['starting'] });
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  const answer = await until(ready, ({ status }) => status === 'ready');
  expect(answer.cold).toEqual([]);
  expect(inTempDir('libreoffice/template/user')).not.toBe('');
  expect(inTempDir('chromium/*')).not.toBe('');
  const metrics = await (await service.call('/metrics')).text();
  expect(metrics).not.toMatch(/ofd_engine_restarts_total\{[^}]*reason="crashed"/);
});

it('does without an engine that cannot be started, says so, and is not warmed unasked', async () => {
  service = await startTestService({}, 'real');
  expect(await ready()).toMatchObject({ status: 'ready', cold: [] });
  expect(inTempDir('libreoffice/template/user')).toBe('');
  const program = join(service.folder, 'broken');
  writeFileSync(program, '#!/bin/sh\necho out of order >&2\nexit 3\n', { mode: 0o755 });
  await service.restart({ warm_engines: true, soffice_path: program, chrome_path: program, fast_workers: 1 });
  const { cold = [] } = await until(ready, ({ status }) => status === 'ready');
  expect(cold.map(({ engine }) => engine).sort()).toEqual(['chromium', 'libreoffice']);
  expect(cold.find(({ engine }) => engine === 'libreoffice')?.reason).toMatch(/makes no profile: .*out of order/s);
});

it('a service that ends while it warms leaves no process', async () => {
  service = await startTestService({ warm_engines: true, fast_workers: 1 }, 'real');
  const { folder, service: running } = service;
  await running.shutDown();
  const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  expect(processes.split('\n').filter((line) => line.includes(folder) && !line.includes('vitest'))).toEqual([]);
});
