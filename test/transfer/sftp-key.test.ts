// When a private key is parsed: an encrypted one takes a second in which the whole service stands still.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../support/jobs.js';
import { RemoteHarness } from './remote-harness.js';
import { failureOf } from './remote-suite.js';
import { freePort } from './servers/machine.js';

/** The library's, as the login takes it; before that is loaded. */
const { utils } = createRequire(createRequire(import.meta.url).resolve('ssh2-sftp-client'))(
  'ssh2',
) as typeof import('ssh2');
const parsing = vi.spyOn(utils, 'parseKey');

let folder: ReturnType<typeof temporaryFolder>;
let box: RemoteHarness | undefined;

beforeEach(() => {
  folder = temporaryFolder('sftp-key');
  parsing.mockClear();
});
afterEach(() => {
  box?.close();
  folder.remove();
});

async function open(passphrase: string): Promise<RemoteHarness> {
  const key = join(folder.path, 'key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'open sesame', '-f', key]);
  writeFileSync(join(folder.path, 'passphrase'), passphrase);
  box = await RemoteHarness.open('sftp', {
    addr: `127.0.0.1:${await freePort()}`,
    user: 'u',
    auth: { private_key_file: key, private_key_passphrase_file: join(folder.path, 'passphrase') },
    insecure_ignore_host_key: true,
  });
  return box;
}

const codeOf = async (harness: RemoteHarness): Promise<string> =>
  (await failureOf(harness.deliver([harness.made('a.pdf', 'x')]))).code;

it('at start, and not for a run', async () => {
  const harness = await open('open sesame');
  expect(parsing).toHaveBeenCalledTimes(1);
  for (let run = 0; run < 2; run += 1) expect(await codeOf(harness)).toBe('sink_unreachable');
  expect(parsing).toHaveBeenCalledTimes(1);
});

it('once also where it cannot be used, which hinders no start, and again when its passphrase is another', async () => {
  const harness = await open('wrong');
  for (let run = 0; run < 2; run += 1) expect(await codeOf(harness)).toBe('sink_refused');
  expect(parsing).toHaveBeenCalledTimes(1);
  writeFileSync(join(folder.path, 'passphrase'), 'open sesame');
  expect(await codeOf(harness)).toBe('sink_unreachable');
  expect(parsing).toHaveBeenCalledTimes(2);
});
