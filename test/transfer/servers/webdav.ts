/** WebDAV servers: Apache's mod_dav and rclone. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { filesIn } from './disk.js';
import { freePort, openFolder, Program, removeFolder, writeConfig } from './machine.js';
import type { TestServer } from './server.js';

const MODULES = {
  mpm_event: 'mpm_event',
  authn_core: 'authn_core',
  authn_file: 'authn_file',
  authz_core: 'authz_core',
  authz_user: 'authz_user',
  auth_basic: 'auth_basic',
  auth_digest: 'auth_digest',
  dav: 'dav',
  dav_fs: 'dav_fs',
} as const;

/** @param login how it asks for the password */
export async function startApache(login: 'Basic' | 'Digest' = 'Basic'): Promise<TestServer> {
  const folder = openFolder('apache');
  const root = join(folder, 'dav');
  for (const name of ['dav', 'run', 'logs']) mkdirSync(join(folder, name));
  const passwords = join(folder, 'passwords');
  if (login === 'Basic') execFileSync('htpasswd', ['-bc', passwords, 'u', 'p'], { stdio: 'ignore' });
  else {
    const line = `printf 'u:dav:%s\\n' "$(printf u:dav:p | md5sum | cut -d' ' -f1)" >${passwords}`;
    execFileSync('sh', ['-c', line]);
  }
  execFileSync('chown', ['-R', 'www-data', folder]);
  const port = await freePort();
  const lines = [
    `ServerRoot ${folder}`,
    'PidFile run/httpd.pid',
    `Listen 127.0.0.1:${port}`,
    'ServerName localhost',
    'User www-data',
    'Group www-data',
    ...Object.values(MODULES).map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    'ErrorLog logs/error.log',
    `DavLockDB ${folder}/run/DavLock`,
    `DocumentRoot ${root}`,
    'StartServers 1',
    '<Location />',
    'Dav On',
    `AuthType ${login}`,
    'AuthName dav',
    `AuthUserFile ${passwords}`,
    'Require valid-user',
    '</Location>',
  ];
  const config = writeConfig(folder, 'httpd.conf', `${lines.join('\n')}\n`);
  const program = new Program('/usr/sbin/apache2', ['-DFOREGROUND', '-f', config]);
  await program.listening(port);
  return {
    kind: 'webdav',
    ports: [port],
    target: (host = '127.0.0.1', at = port) => ({
      endpoint: `http://${host}:${at}/`,
      user: 'u',
      password: 'p',
      base_dir: 'in/box',
    }),
    ...filesIn(root),
    close: async () => {
      await program.end('SIGTERM');
      removeFolder(folder);
    },
  };
}

export async function startRclone(): Promise<TestServer> {
  const folder = openFolder('rclone');
  const root = join(folder, 'dav');
  mkdirSync(root);
  const port = await freePort();
  const program = new Program(
    '/usr/bin/rclone',
    ['serve', 'webdav', root, '--addr', `127.0.0.1:${port}`, '--user', 'u', '--pass', 'p', '--dir-cache-time', '0s'],
    { HOME: folder },
  );
  await program.listening(port);
  return {
    kind: 'webdav',
    ports: [port],
    target: (host = '127.0.0.1', at = port) => ({
      endpoint: `http://${host}:${at}`,
      user: 'u',
      password: 'p',
      base_dir: '/in/box/',
    }),
    ...filesIn(root),
    close: async () => {
      await program.end();
      removeFolder(folder);
    },
  };
}
