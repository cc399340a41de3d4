/** The environment that the unit of systemd gives the service: what libuv and glibc take from outside alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each as `NAME=value`. */
export function unitEnvironment(tree: string): string[] {
  const unit = readFileSync(join(tree, 'deploy/ofd-server.service'), 'utf8');
  return [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) => line.split(' '));
}
