// Folders of fonts and programs that the configuration names and that are not there: told at start and by --check-config.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyOfBuild, Daemon } from '../support/daemon.js';
import { temporaryFolder } from '../support/jobs.js';

let folder: ReturnType<typeof temporaryFolder>;
let daemon: Daemon | undefined;
beforeEach(() => {
  folder = temporaryFolder('named-paths');
});
afterEach(async () => {
  await daemon?.kill();
  daemon = undefined;
  folder.remove();
});

it('are named with their key, and the service does without', async () => {
  const fonts = join(folder.path, 'fonts');
  mkdirSync(fonts);
  const notes = join(folder.path, 'notes.txt');
  writeFileSync(notes, 'no program');
  const configPath = join(folder.path, 'config.json');
  const keys = { listen: '127.0.0.1:0', api_key: 'a-key-that-is-long-enough', log_to_stdout: true };
  const paths = {
    db_path: join(folder.path, 'db/jobs.db'),
    output_dir: join(folder.path, 'out'),
    temp_dir: join(folder.path, 'tmp'),
    font_dirs: [fonts, join(folder.path, 'nosuch'), notes],
    soffice_path: '/nosuch/soffice',
    chrome_path: notes,
  };
  writeFileSync(configPath, JSON.stringify({ ...keys, ...paths }), { mode: 0o600 });
  const told = [
    `font_dirs: no fonts are taken from ${folder.path}/nosuch, which is no folder that can be read (ENOENT)`,
    `font_dirs: no fonts are taken from ${notes}, which is no folder that can be read (ENOTDIR)`,
    'soffice_path is "/nosuch/soffice", which is no program that can be run',
    `chrome_path is "${notes}", which is no program that can be run`,
  ];
  const checked = spawnSync(process.execPath, ['dist/main.js', '--check-config', '-c', configPath], {
    encoding: 'utf8',
  });
  expect(checked.status).toBe(0);
  expect(checked.stderr.trimEnd().split('\n')).toEqual(told.map((line) => `warning: ${line}`));

  daemon = new Daemon(configPath, copyOfBuild(join(folder.path, 'program')));
  const url = await daemon.ready;
  const warnings = daemon.output.split('\n').flatMap((line) => {
    const { level, msg } = line.startsWith('{') ? JSON.parse(line) : {};
    return level === 'warn' ? [msg] : [];
  });
  expect(warnings).toEqual(told);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});
