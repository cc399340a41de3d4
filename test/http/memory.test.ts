// What a large upload costs in memory, each way to send it, measured on the built daemon as a process of its own.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyOfBuild, Daemon } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';
import { KEY } from '../support/service.js';

const MEBIBYTE = 1024 * 1024;
const BODY_BYTES = 60 * MEBIBYTE;

const folder = temporaryFolder('memory');
const inFolder = (name: string): string => join(folder.path, name);
let program: string;
let daemon: Daemon;
let url: string;

beforeAll(() => {
  program = copyOfBuild(folder.path);
  const keys = { db_path: inFolder('data/jobs.db'), temp_dir: inFolder('tmp'), output_dir: inFolder('out') };
  // The one thread is there before it is measured: each further one would be some 50 MiB.
  const config = { listen: '127.0.0.1:0', api_key: KEY, fast_workers: 1, ...keys };
  writeFileSync(inFolder('config.json'), JSON.stringify(config), { mode: 0o600 });
  // A package without an end: refused by the engine at once, so that its work is not what is measured.
  const file = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), randomBytes((BODY_BYTES / 4) * 3)]);
  writeFileSync(inFolder('large.ofd'), file);
  const body = {
    input: { file_name: 'a.ofd', bytes: file.toString('base64') },
    output: { kind: 'dir', format: 'pdf' },
  };
  writeFileSync(inFolder('body.json'), JSON.stringify(body));
});
afterAll(async () => {
  await daemon.kill();
  folder.remove();
});

function residentBytes(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${daemon.pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024;
}

/** Sends from processes of their own, all at once; gives the peak over what the daemon held before. */
async function peakOver(requests: readonly (readonly string[])[]): Promise<number> {
  daemon = new Daemon(inFolder('config.json'), program);
  url = (await daemon.ready) as string;
  const curl = (args: readonly string[]): Promise<{ stdout: string }> =>
    promisify(execFile)('curl', ['-sS', '-H', `X-OFD-Api-Key: ${KEY}`, '-H', 'Expect:', ...args]);
  await curl([`${url}/v1/convert?to=txt&kind=dir`, '--data-binary', '@examples/invoice.ofd']);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const idleBytes = residentBytes('VmRSS');
  const answers = await Promise.all(requests.map((args) => curl(args.map((arg) => arg.replace('URL', url)))));
  for (const { stdout } of answers) expect(stdout).toMatch(/^\{"id":"\w+","state":"queued"/);
  const overBytes = residentBytes('VmHWM') - idleBytes;
  await daemon.kill();
  return overBytes;
}

const JSON_BODY = ['URL/v1/convert', '--data-binary', `@${inFolder('body.json')}`];
const FORM = ['URL/v1/convert', '-F', `file=@${inFolder('large.ofd')}`, '-F', 'to=pdf', '-F', 'kind=dir'];
const BARE = ['URL/v1/convert?to=pdf&kind=dir&from=ofd', '--data-binary', `@${inFolder('large.ofd')}`];

it.each([
  ['JSON of 60 MiB', [JSON_BODY], 3],
  ['a form', [FORM], 3],
  ['a bare file', [BARE], 3],
  ['six at once, 300 MiB in all', [JSON_BODY, FORM, BARE, JSON_BODY, FORM, BARE], 6],
])('%s stays within its bound', async (what, requests, times) => {
  const overBytes = await peakOver(requests);
  console.info(`${what}: ${Math.round(overBytes / MEBIBYTE)} MiB over idle`);
  expect(overBytes).toBeLessThan(times * BODY_BYTES);
});
