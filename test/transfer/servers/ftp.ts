/** FTP servers: vsftpd with TLS and forced session reuse, pyftpdlib in the clear. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn } from './disk.js';
import {
  freePort,
  openFolder,
  Program,
  portRange,
  removeFolder,
  selfSigned,
  systemUser,
  writeConfig,
} from './machine.js';
import type { TestServer } from './server.js';

const PASSIVE_PORTS = 40;

function range(first: number): number[] {
  return Array.from({ length: PASSIVE_PORTS }, (_unused, index) => first + index);
}

/** @param options `isImplicit` speaks TLS from the first byte */
export async function startVsftpd(
  options: { readonly isImplicit?: boolean } = {},
): Promise<TestServer & { readonly user: string; readonly certificate: string }> {
  const folder = openFolder('vsftpd');
  const home = join(folder, 'home');
  mkdirSync(home);
  mkdirSync(join(folder, 'empty'), { mode: 0o755 });
  const user = systemUser(home);
  const { key, certificate } = selfSigned(folder);
  const port = await freePort();
  const passive = portRange(PASSIVE_PORTS);
  const lines = [
    'listen=YES',
    'listen_address=127.0.0.1',
    `listen_port=${port}`,
    'background=NO',
    'anonymous_enable=NO',
    'local_enable=YES',
    'write_enable=YES',
    'local_umask=022',
    'chroot_local_user=YES',
    'allow_writeable_chroot=YES',
    `secure_chroot_dir=${folder}/empty`,
    `pasv_min_port=${passive}`,
    `pasv_max_port=${passive + PASSIVE_PORTS - 1}`,
    'ssl_enable=YES',
    'force_local_logins_ssl=YES',
    'force_local_data_ssl=YES',
    'require_ssl_reuse=YES',
    `implicit_ssl=${options.isImplicit ? 'YES' : 'NO'}`,
    `rsa_cert_file=${certificate}`,
    `rsa_private_key_file=${key}`,
    'seccomp_sandbox=NO',
    'utf8_filesystem=YES',
  ];
  const program = new Program('/usr/sbin/vsftpd', [writeConfig(folder, 'vsftpd.conf', `${lines.join('\n')}\n`)]);
  await program.listening(port);
  return {
    kind: 'ftp',
    user: user.name,
    certificate,
    ports: [port, ...range(passive)],
    target: (host = '127.0.0.1', at = port) => ({
      addr: `${host}:${at}`,
      user: user.name,
      password: user.password,
      base_dir: '/in/box',
      insecure_skip_verify: true,
      implicit: options.isImplicit ?? false,
    }),
    ...filesIn(home),
    close: async () => {
      await program.end();
      user.remove();
      removeFolder(folder);
    },
  };
}

const PYFTPD = `
import sys
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer
port, first, count, root, masquerade, without = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5], sys.argv[6]
authorizer = DummyAuthorizer()
authorizer.add_user('u', 'p', root, perm='elradfmwMT')
class Handler(FTPHandler):
    proto_cmds = {name: value for name, value in FTPHandler.proto_cmds.items() if name not in without.split(',')}
Handler.authorizer = authorizer
Handler.passive_ports = range(first, first + count)
if masquerade:
    Handler.masquerade_address = masquerade
FTPServer(('127.0.0.1', port), Handler).serve_forever()
`;

/**
 * @param options `masquerade`: the address that its answers to PASV tell; `without`: commands that it does not know
 */
export async function startPyftpd(
  options: { readonly masquerade?: string; readonly without?: readonly string[] } = {},
): Promise<TestServer> {
  const folder = openFolder('pyftpd');
  const root = join(folder, 'root');
  mkdirSync(root);
  const port = await freePort();
  const passive = portRange(PASSIVE_PORTS);
  const script = writeConfig(folder, 'server.py', PYFTPD);
  const args = [port, passive, PASSIVE_PORTS].map(String);
  const { masquerade = '', without = [] } = options;
  const program = new Program('/usr/bin/python3', [script, ...args, root, masquerade, without.join(',')]);
  await program.listening(port);
  return {
    kind: 'ftp',
    ports: [port, ...range(passive)],
    target: (host = '127.0.0.1', at = port) => ({
      addr: `${host}:${at}`,
      user: 'u',
      password: 'p',
      base_dir: 'in/box',
      insecure: true,
    }),
    ...filesIn(root),
    close: async () => {
      await program.end();
      removeFolder(folder);
    },
  };
}
