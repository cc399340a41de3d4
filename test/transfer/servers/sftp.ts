/** OpenSSH's sshd, with every way to log in. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn } from './disk.js';
import { freePort, openFolder, Program, removeFolder, systemUser, writeConfig } from './machine.js';
import type { TestServer } from './server.js';

export const PASSPHRASE = 'open sesame';

export interface SshServer extends TestServer {
  readonly folder: string;
  readonly user: string;
  readonly password: string;
  /** Private keys that it lets in. */
  readonly key: string;
  readonly encryptedKey: string;
  /** SHA256:… of its host keys. */
  readonly fingerprints: { readonly ed25519: string; readonly rsa: string };
  /** `type base64` of its host keys. */
  readonly hostKeys: { readonly ed25519: string; readonly rsa: string };
}

function makeKey(path: string, type: string, passphrase = ''): void {
  execFileSync('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-C', 'test', '-f', path]);
}

export async function startSshd(): Promise<SshServer> {
  const folder = openFolder('sshd');
  const home = join(folder, 'home');
  mkdirSync(home);
  mkdirSync('/run/sshd', { recursive: true });
  const user = systemUser(home);
  const path = (name: string): string => join(folder, name);
  makeKey(path('host-ed25519'), 'ed25519');
  makeKey(path('host-rsa'), 'rsa');
  makeKey(path('key'), 'ed25519');
  makeKey(path('encrypted-key'), 'ed25519', PASSPHRASE);
  for (const name of ['key.pub', 'encrypted-key.pub']) appendFileSync(path('authorized'), readFileSync(path(name)));
  const port = await freePort();
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${path('host-ed25519')}`,
    `HostKey ${path('host-rsa')}`,
    `PidFile ${path('sshd.pid')}`,
    `AuthorizedKeysFile ${path('authorized')}`,
    'StrictModes no',
    'PasswordAuthentication yes',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'MaxStartups 100',
    'Subsystem sftp internal-sftp',
  ];
  const program = new Program('/usr/sbin/sshd', [
    '-D',
    '-e',
    '-f',
    writeConfig(folder, 'sshd_config', lines.join('\n')),
  ]);
  await program.listening(port);
  const fingerprint = (name: string): string =>
    execFileSync('ssh-keygen', ['-lf', path(`${name}.pub`)], { encoding: 'utf8' }).split(' ')[1] as string;
  const hostKey = (name: string): string =>
    readFileSync(path(`${name}.pub`), 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ');
  const fingerprints = { ed25519: fingerprint('host-ed25519'), rsa: fingerprint('host-rsa') };
  return {
    kind: 'sftp',
    folder,
    user: user.name,
    password: user.password,
    key: path('key'),
    encryptedKey: path('encrypted-key'),
    fingerprints,
    hostKeys: { ed25519: hostKey('host-ed25519'), rsa: hostKey('host-rsa') },
    ports: [port],
    target: (host = '127.0.0.1', at = port) => ({
      addr: `${host}:${at}`,
      user: user.name,
      auth: { private_key_file: path('key') },
      base_dir: `${home}/in/box`,
      host_key_sha256: fingerprints.ed25519,
    }),
    ...filesIn(home),
    close: async () => {
      await program.end();
      execFileSync('sh', ['-c', `pkill -KILL -u ${user.name} || true`]);
      user.remove();
      removeFolder(folder);
    },
  };
}

/** An agent that holds one key. */
export async function startAgent(folder: string, key: string): Promise<{ socket: string; end(): Promise<void> }> {
  const socket = join(folder, 'agent.sock');
  const program = new Program('/usr/bin/ssh-agent', ['-D', '-a', socket]);
  for (let isThere = false; !isThere; ) {
    try {
      execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' });
      isThere = true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return { socket, end: () => program.end() };
}
