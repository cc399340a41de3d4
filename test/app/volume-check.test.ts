// Volumes that will not do, as a service without rights meets them (contract V1): what it says, and that its advice helps.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { prepareVolumes } from '../../src/app/volume-check.js';
import { loadConfig } from '../../src/app.js';
import { copyOfBuild, Daemon } from '../support/daemon.js';
import { HangingFolder } from '../support/hanging-folder.js';
import { temporaryFolder } from '../support/jobs.js';
import { KEY } from '../support/service.js';

const UID = 10001;
const NODE_MODULES = new URL('../../node_modules', import.meta.url).pathname;

let build: ReturnType<typeof temporaryFolder>;
let program: string;
let folder: ReturnType<typeof temporaryFolder>;
let daemon: Daemon | undefined;

beforeAll(() => {
  build = temporaryFolder('volume-check-build');
  program = join(build.path, 'program');
  copyOfBuild(program);
  rmSync(join(program, 'node_modules'));
  mkdirSync(join(program, 'node_modules'));
});
afterAll(() => build.remove());
beforeEach(() => {
  folder = temporaryFolder('volume-check');
  chmodSync(folder.path, 0o755);
});
afterEach(async () => {
  await daemon?.kill();
  daemon = undefined;
  folder.remove();
});

const below = (name: string): string => join(folder.path, name);
const asRoot = (command: string): void => void execFileSync('sh', ['-ec', command]);

/** Folders of a configuration; those that are not given are the service's own. */
function configFile(paths: Record<string, string>): string {
  const own = { db_path: below('own/db/jobs.db'), temp_dir: below('own/tmp'), output_dir: below('own/out') };
  const path = below('config.json');
  const keys = { listen: '127.0.0.1:0', api_key: KEY, log_to_stdout: true, log_dir: below('own/log') };
  writeFileSync(path, JSON.stringify({ ...keys, ...own, ...paths }), { mode: 0o644 });
  asRoot(`install -d -o ${UID} -g 0 -m 0750 ${below('own')}`);
  return path;
}

/** As a user without any right of root's. The program is mounted where that user can read it. */
function startAsUser(configPath: string): Daemon {
  const script =
    'mount --make-rprivate / && mount --bind "$PROGRAM" /mnt && mount --bind "$MODULES" /mnt/node_modules && ' +
    `exec setpriv --reuid ${UID} --regid 0 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$0" "$@"`;
  const places = [`PROGRAM=${program}`, `MODULES=${NODE_MODULES}`];
  return new Daemon(configPath, '/mnt/dist/main.js', ['env', ...places, 'unshare', '--mount', 'sh', '-c', script]);
}

/** What it prints when it does not start. */
async function refusalOf(configPath: string): Promise<string> {
  daemon = startAsUser(configPath);
  expect(await daemon.ready, daemon.output).toBeUndefined();
  expect(await daemon.exited).toEqual({ code: 1, signal: null });
  return daemon.output;
}

const FOLDERS: readonly (readonly [string, string])[] = [
  ['db_path', 'jobs.db'],
  ['temp_dir', ''],
  ['output_dir', ''],
  ['log_dir', ''],
];

it.each(FOLDERS)('a %s of root: both users are named, and the command that it names mends it', async (key, file) => {
  const volume = below('volume');
  asRoot(`install -d -o 0 -g 0 -m 0755 ${volume}`);
  const path = configFile({ [key]: join(volume, file) });
  const mend = `chown -R ${UID}:0 ${volume}`;
  expect(await refusalOf(path)).toBe(
    `ofd-server: ${key}: cannot write to ${volume} (EACCES): this process runs as uid ${UID}, ${volume} belongs to uid 0 ` +
      `with mode 0755; ${mend} mends it`,
  );
  asRoot(mend);
  daemon = startAsUser(path);
  expect(await daemon.ready, daemon.output).toBeDefined();
});

it.each<[what: string, make: (volume: string) => string, volume: string, found: RegExp, mend: RegExp]>([
  [
    'its own without the right to write',
    (volume) => `install -d -o ${UID} -m 0555 ${volume}`,
    'volume',
    /runs as uid 10001, \S+\/volume belongs to uid 10001 with mode 0555/,
    /chmod -R u\+rwX \S+\/volume/,
  ],
  [
    'below a folder of root',
    (volume) => `install -d -o 0 -m 0755 ${dirname(volume)}`,
    'root/volume',
    /runs as uid 10001, \S+\/root belongs to uid 0 with mode 0755/,
    /mkdir -p \S+\/root\/volume && chown -R 10001:0 \S+\/root\/volume/,
  ],
  [
    'behind a folder that only root passes',
    (volume) => `install -d -o 0 -m 0700 ${dirname(volume)} && install -d -o ${UID} ${volume}`,
    'closed/volume',
    /runs as uid 10001, \S+\/closed belongs to uid 0 with mode 0700/,
    /chmod a\+x \S+\/closed/,
  ],
  [
    'with a database that root has made',
    (volume) => `install -d -o ${UID} ${volume} && install -o 0 -m 0600 /dev/null ${volume}/jobs.db`,
    'volume',
    /runs as uid 10001, \S+\/volume\/jobs\.db belongs to uid 0 with mode 0600/,
    /chown -R 10001:0 \S+\/volume/,
  ],
])('a folder %s', async (_what, make, volume, found, mend) => {
  asRoot(make(below(volume)));
  const path = configFile({ db_path: below(`${volume}/jobs.db`) });
  const refusal = await refusalOf(path);
  expect(refusal).toMatch(/^ofd-server: db_path: cannot write to \S+\/volume \(E(ACCES|PERM)\): [^\n]+$/);
  expect(refusal).toMatch(found);
  const [command] = mend.exec(refusal) ?? [];
  expect(command, refusal).toBeDefined();
  asRoot(command as string);
  daemon = startAsUser(path);
  expect(await daemon.ready, daemon.output).toBeDefined();
});

it('a folder of root’s work in temp_dir, and a log of root’s', async () => {
  asRoot(`install -d -o ${UID} ${below('volume')} && ln -s a.1.log ${below('volume/a.log')}`);
  asRoot(`install -o 0 -m 0640 /dev/null ${below('volume/a.1.log')}`);
  const log = await refusalOf(configFile({ log_dir: below('volume'), log_file: 'a.log' }));
  expect(log).toMatch(
    /^ofd-server: log_dir: .*\/volume\/a\.log belongs to uid 0 with mode 0640; chown -R 10001:0 \S+\/volume mends it$/,
  );
});

const load = (path: string): Parameters<typeof prepareVolumes>[0] => loadConfig(path, {}).config;

it.each(FOLDERS)('a %s that is a file, and one that lies below a file', async (key, file) => {
  const place = below('file');
  writeFileSync(place, '');
  const advice = `${place} is a file where a folder should be; move it away, or name another folder`;
  for (const volume of [place, join(place, 'deep/er')]) {
    await expect(prepareVolumes(load(configFile({ [key]: join(volume, file || '.') })))).rejects.toThrow(
      `${key}: cannot write to ${volume} (ENOTDIR): ${advice}`,
    );
  }
});

it('a link that leads nowhere, and what is no place for files', async () => {
  symlinkSync(below('gone'), below('link'));
  await expect(prepareVolumes(load(configFile({ temp_dir: below('link') })))).rejects.toThrow(
    /^temp_dir: cannot write to \S+link \(ENOENT\): \S+link is a link that leads to no folder/,
  );
  await expect(prepareVolumes(load(configFile({ temp_dir: '/proc/nothing/here' })))).rejects.toThrow(
    'temp_dir: cannot write to /proc/nothing/here (ENOENT)',
  );
});

it('a volume for reading only', async () => {
  mkdirSync(below('volume'));
  asRoot(`mount -t tmpfs -o ro tmpfs ${below('volume')}`);
  try {
    await expect(prepareVolumes(load(configFile({ output_dir: below('volume') })))).rejects.toThrow(
      /^output_dir: cannot write to \S+ \(EROFS\): its volume is mounted for reading only; mount it for writing/,
    );
  } finally {
    asRoot(`umount ${below('volume')}`);
  }
});

it('a full volume', async () => {
  mkdirSync(below('volume'));
  asRoot(`mount -t tmpfs -o size=16k tmpfs ${below('volume')} && head -c 16k /dev/zero > ${below('volume/full')}`);
  try {
    await expect(prepareVolumes(load(configFile({ log_dir: below('volume') })))).rejects.toThrow(
      /^log_dir: cannot write to \S+ \(ENOSPC\): its volume is full; make room there$/,
    );
  } finally {
    asRoot(`umount ${below('volume')}`);
  }
});

it('a volume where a file has one name alone, for products', async () => {
  const volume = await HangingFolder.mount(folder.path, '--no-links');
  try {
    await expect(prepareVolumes(load(configFile({ output_dir: join(volume.path, 'out') })))).rejects.toThrow(
      /^output_dir \S+\/out lies on a volume without hard links, which publishing a product in one step needs \(EPERM\)/,
    );
    await prepareVolumes(load(configFile({ temp_dir: join(volume.path, 'tmp') })));
    expect(volume.names.filter((name) => name.includes('.ofd-server'))).toEqual([]);
  } finally {
    await volume.close();
  }
});

it('folders that everybody may change are told, those for products are not', async () => {
  for (const name of ['a', 'b', 'c', 'd']) asRoot(`install -d -m 0777 ${below(name)}`);
  chmodSync(below('d'), 0o1777);
  const paths = { db_path: below('a/x.db'), temp_dir: below('b'), output_dir: below('c'), log_dir: below('d') };
  expect(await prepareVolumes(load(configFile(paths)))).toEqual([
    `db_path: every user of this machine may remove or replace files in ${below('a')} (mode 0777); chmod o-w ${below('a')} mends it`,
    `temp_dir: every user of this machine may remove or replace files in ${below('b')} (mode 0777); chmod o-w ${below('b')} mends it`,
  ]);
});
