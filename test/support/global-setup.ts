/** Worker threads and child processes run compiled code: builds dist once before the tests. Types are `npm run types`'s matter. */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

function compile(project: string): SpawnSyncReturns<string> {
  const build = spawnSync('node_modules/.bin/tsc', ['-p', project], { cwd: root, encoding: 'utf8' });
  if (build.error) throw build.error;
  return build;
}

export default function buildDist(): void {
  const build = compile('tsconfig.build.json');
  compile('src/ui/tsconfig.json');
  for (const name of ['index.html', 'style.css']) copyFileSync(`${root}/src/ui/${name}`, `${root}/dist/ui/${name}`);
  if (!existsSync(`${root}/dist/jobs/store-thread.js`)) throw new Error(`The build made no dist:\n${build.stdout}`);
}
