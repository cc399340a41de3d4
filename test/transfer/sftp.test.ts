// SFTP on OpenSSH.
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/transfer/sink.js';
import { faultSuite } from './fault-suite.js';
import { RemoteHarness } from './remote-harness.js';
import { BOX, failureOf, remoteSuite } from './remote-suite.js';
import { PASSPHRASE, type SshServer, startAgent, startSshd } from './servers/sftp.js';

remoteSuite('sshd', startSshd);
faultSuite('sshd', startSshd);

describe('a login', () => {
  let server: SshServer;
  let open: RemoteHarness[] = [];

  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server.close());
  beforeEach(() => server.empty());
  afterEach(() => {
    for (const box of open) box.close();
    open = [];
  });

  async function deliver(keys: Record<string, unknown>): Promise<Delivery> {
    const box = await RemoteHarness.open('sftp', { ...server.target(), ...keys });
    open.push(box);
    return box.deliver([box.made('a.pdf', 'x')]);
  }

  const isThere = async (): Promise<boolean> => (await server.read(`${BOX}/a.pdf`))?.toString() === 'x';

  it('by password', async () => {
    await deliver({ auth: { password: server.password } });
    expect(await isThere()).toBe(true);
  });

  it('by an encrypted key and its passphrase', async () => {
    await deliver({ auth: { private_key_file: server.encryptedKey, private_key_passphrase: PASSPHRASE } });
    expect(await isThere()).toBe(true);
  });

  it('by an agent', async () => {
    const agent = await startAgent(server.folder, server.key);
    await deliver({ auth: { agent_socket: agent.socket } });
    await agent.end();
    expect(await isThere()).toBe(true);
  });

  it.each([
    ['no passphrase', () => ({ private_key_file: server.encryptedKey }), /set private_key_passphrase/],
    [
      'a wrong passphrase',
      () => ({ private_key_file: server.encryptedKey, private_key_passphrase: 'wrong-one' }),
      /private_key_file.*check the credentials of sftp_targets\.box/,
    ],
    ['no key in the file', () => ({ private_key_file: '/etc/hostname' }), /cannot use private_key_file/],
    ['no such file', () => ({ private_key_file: '/nowhere' }), /private_key_file \/nowhere cannot be read \(ENOENT\)/],
    ['a wrong password', () => ({ password: 'wrong-one' }), /does not accept the login/],
  ])('that fails is told and not tried again: %s', async (_what, auth, says) => {
    const { code, message } = await failureOf(deliver({ auth: auth(), timeout_seconds: 20 }));
    expect(code, message).toBe('sink_refused');
    expect(message).toMatch(says);
    expect(message).not.toContain('wrong-one');
  });

  it('takes the passphrase from its file again', async () => {
    const file = `${server.folder}/passphrase`;
    writeFileSync(file, 'wrong-one');
    const box = await RemoteHarness.open('sftp', {
      ...server.target(),
      auth: { private_key_file: server.encryptedKey, private_key_passphrase_file: file },
    });
    open.push(box);
    writeFileSync(file, `${PASSPHRASE}\n`);
    await box.deliver([box.made('a.pdf', 'x')]);
    expect(await isThere()).toBe(true);
  });

  it.each(['ed25519', 'rsa'] as const)('knows the server by the fingerprint of its %s key', async (type) => {
    await deliver({ host_key_sha256: server.fingerprints[type] });
    expect(await isThere()).toBe(true);
  });

  it.each(['ed25519', 'rsa'] as const)('knows the server by a known_hosts file with its %s key', async (type) => {
    const file = `${server.folder}/known_hosts`;
    writeFileSync(file, `[127.0.0.1]:${server.ports[0]} ${server.hostKeys[type]}\n`);
    await deliver({ host_key_sha256: '', host_key_file: file });
    expect(await isThere()).toBe(true);
  });

  it('does not talk to a server with another key', async () => {
    const wrong = `SHA256:${'A'.repeat(43)}`;
    const byFingerprint = await failureOf(deliver({ host_key_sha256: wrong }));
    expect(byFingerprint.code).toBe('sink_refused');
    expect(byFingerprint.message).toContain('host key that is not the configured one (SHA256:');
    const file = `${server.folder}/known_hosts`;
    writeFileSync(file, `[127.0.0.1]:${server.ports[0]} ssh-ed25519 ${Buffer.from('other').toString('base64')}\n`);
    const byFile = await failureOf(deliver({ host_key_sha256: '', host_key_file: file }));
    expect(byFile.message).toContain('host key that is not the configured one');
    writeFileSync(file, `elsewhere ${server.hostKeys.ed25519}\n`);
    const unknown = await failureOf(deliver({ host_key_sha256: '', host_key_file: file }));
    expect(unknown.message).toMatch(/known_hosts has no key of 127\.0\.0\.1/);
    expect(await server.list()).toEqual([]);
  });

  it('asks for no key where the target says so', async () => {
    await deliver({ host_key_sha256: '', insecure_ignore_host_key: true });
    expect(await isThere()).toBe(true);
  });

  it('may lack the right to write', async () => {
    const { code, message } = await failureOf(deliver({ base_dir: '/etc/in/box' }));
    expect([code, message]).toEqual(['sink_refused', expect.stringContaining('Permission denied')]);
  });

  it('lands where a base_dir without a slash counts from', async () => {
    const { output } = await deliver({ base_dir: 'in/box' });
    expect(output.path).toBe(`sftp://127.0.0.1:${server.ports[0]}/in/box`);
    expect(await isThere()).toBe(true);
  });
});
