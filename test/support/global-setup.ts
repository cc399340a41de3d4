/** Worker threads and child processes run compiled code: builds dist once before the tests. Types are `npm run types`'s matter. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export default function buildDist(): void {
  const build = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { cwd: root, encoding: 'utf8' });
  if (build.error) throw build.error;
  if (!existsSync(`${root}/dist/jobs/store-thread.js`)) throw new Error(`The build made no dist:\n${build.stdout}`);
}
