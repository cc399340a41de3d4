/**
 * The folders that the service writes to, made and tried at start (contract V1). What will not do is told with its path, the
 * user that this process runs as, the owner and the mode found, and the command that mends it.
 */
import { constants } from 'node:fs';
import { access, lstat, open, readFile, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { workspaceRoot } from '../convert/workspace.js';
import { logsDirectory } from '../jobs/attempt-log.js';
import { inputsDirectory } from '../jobs/input-files.js';
import { makeFolder } from '../make-folder.js';
import { prepareOutputDir } from '../transfer/sinks/directory.js';
import type { Config } from './settings.js';
import { StartError } from './start-error.js';
import { PROBE_NAME } from './volume-probe.js';

export interface Volume {
  /** Of the configuration. */
  readonly key: 'db_path' | 'temp_dir' | 'output_dir' | 'log_dir';
  readonly folder: string;
}

/** What hangs for longer does so for good: the start fails, and whoever started it knows why. */
const HANG_MS = 15_000;

/** The volume that keeps the inputs first; that of the logs only where there are log files. */
export function volumesOf(config: Config): readonly Volume[] {
  return [
    { key: 'db_path', folder: dirname(config.dbPath) },
    { key: 'temp_dir', folder: config.tempDir },
    { key: 'output_dir', folder: config.outputDir },
    ...(config.logDir === '' ? [] : [{ key: 'log_dir', folder: config.logDir } as const]),
  ];
}

/**
 * Makes what is missing, and writes a file in each.
 * @param hangMs a folder that gives no answer for so long will not do
 * @returns lines about what works and should not be so
 * @throws StartError that names the first that will not do
 */
export async function prepareVolumes(config: Config, hangMs = HANG_MS): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const volume of volumesOf(config)) {
    const warning = await withinTime(volume, hangMs, prepareVolume(volume, config));
    if (warning !== undefined) warnings.push(warning);
  }
  return warnings;
}

async function withinTime<Result>({ key, folder }: Volume, hangMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const text = `${key}: ${folder} gives no answer (waited ${hangMs} ms): is the server behind its mount there?`;
    timer = setTimeout(() => reject(new StartError(text)), hangMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function prepareVolume(volume: Volume, config: Config): Promise<string | undefined> {
  const { key, folder } = volume;
  try {
    // What lies in output_dir is meant for others too, so its mode is left to the umask; the rest is the service's own.
    await makeFolder(folder, key === 'output_dir' ? 0o777 : 0o750);
    await writeProbe(join(folder, PROBE_NAME));
    await tryWhatIsThere(key, config);
  } catch (error) {
    throw new StartError(await faultText(volume, error as NodeJS.ErrnoException), { cause: error });
  }
  if (key === 'output_dir') {
    await prepareOutputDir(folder).catch((error: Error) => {
      throw new StartError(error.message, { cause: error });
    });
    return undefined;
  }
  return opennessOf(volume);
}

async function writeProbe(path: string): Promise<void> {
  // One that a crash left may belong to another user, where containers all have the same name and number.
  await rm(path, { force: true });
  const handle = await open(path, 'w', 0o600);
  try {
    await handle.writeFile('probe');
    await handle.sync();
  } finally {
    await handle.close();
  }
  const found = await readFile(path, 'utf8');
  await unlink(path);
  if (found !== 'probe') throw new Error('it gives back other bytes than were written');
}

/** What another user left there, such as root in a first try by hand, is as closed as the folder itself. */
async function tryWhatIsThere(key: Volume['key'], { dbPath, tempDir, logDir, logFile }: Config): Promise<void> {
  const files = {
    db_path: [dbPath, `${dbPath}-wal`],
    temp_dir: [],
    output_dir: [],
    log_dir: [join(logDir, logFile)],
  }[key];
  const folders = {
    db_path: [inputsDirectory(dbPath), logsDirectory(dbPath)],
    temp_dir: [workspaceRoot(tempDir, dbPath)],
    output_dir: [],
    log_dir: [],
  }[key];
  const { R_OK, W_OK, X_OK } = constants;
  for (const path of files) await accessOrAbsent(path, R_OK | W_OK);
  for (const path of folders) await accessOrAbsent(path, R_OK | W_OK | X_OK);
}

async function accessOrAbsent(path: string, mode: number): Promise<void> {
  await access(path, mode).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** A folder of the service's own where every user may remove or replace what it keeps. */
async function opennessOf({ key, folder }: Volume): Promise<string | undefined> {
  const { mode } = await stat(folder);
  const isOpen = (mode & constants.S_IWOTH) !== 0 && (mode & 0o1000) === 0;
  return isOpen
    ? `${key}: every user of this machine may remove or replace files in ${folder} (mode ${modeText(mode)}); chmod o-w ${folder} mends it`
    : undefined;
}

/** In one sentence: the key, the folder, the fault; then what stands in the way, and what mends it. */
async function faultText({ key, folder }: Volume, error: NodeJS.ErrnoException): Promise<string> {
  const start = `${key}: cannot write to ${folder} (${error.code ?? error.message})`;
  const advice = await adviceFor(folder, error);
  return advice === undefined ? start : `${start}: ${advice}`;
}

async function adviceFor(folder: string, { code, path }: NodeJS.ErrnoException): Promise<string | undefined> {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return accessAdvice(folder, path ?? folder);
    case 'ENOTDIR':
    case 'EEXIST': {
      const found = await nearestThere(folder);
      return `${found.path} is a file where a folder should be; move it away, or name another folder`;
    }
    case 'ENOENT':
    case 'ELOOP':
      return (await isLink(folder))
        ? `${folder} is a link that leads to no folder; make what it leads to, or name another folder`
        : undefined;
    case 'EROFS':
      return 'its volume is mounted for reading only; mount it for writing (mount -o remount,rw), or name another folder';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'its volume is full; make room there';
    case 'ENOTCONN':
    case 'ESTALE':
    case 'EIO':
      return 'its volume is broken or its server is gone; mount it anew';
    default:
      return undefined;
  }
}

/** @param refused what the system refused: the folder, something in it, or a folder that leads to it */
async function accessAdvice(folder: string, refused: string): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const closed = await closedParent(folder);
  if (closed) return `${ownership(closed, uid)}; chmod a+x ${closed.path} lets it through`;
  const found = await nearestThere(folder);
  // The folder itself is there: its owner, its mode, or what lies in it.
  if (found.path === folder) {
    const inside = refused.startsWith(`${folder}/`) ? await statOrAbsent(refused) : undefined;
    const named = inside ? { path: refused, ...inside } : found;
    const command = named.uid === uid ? `chmod -R u+rwX ${folder}` : `chown -R ${uid}:${gid} ${folder}`;
    return `${ownership(named, uid)}; ${command} mends it`;
  }
  return `${ownership(found, uid)}; mkdir -p ${folder} && chown -R ${uid}:${gid} ${folder} mends it`;
}

interface Found {
  readonly path: string;
  readonly uid: number;
  readonly mode: number;
}

function ownership({ path, uid, mode }: Found, ownUid: number): string {
  return `this process runs as uid ${ownUid}, ${path} belongs to uid ${uid} with mode ${modeText(mode)}`;
}

const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0');

async function statOrAbsent(path: string): Promise<Omit<Found, 'path'> | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && { uid: found.uid, mode: found.mode };
}

/** The folder, or the nearest above it that can be looked at. */
async function nearestThere(folder: string): Promise<Found> {
  const found = await statOrAbsent(folder);
  if (found || dirname(folder) === folder) return { path: folder, uid: 0, mode: 0, ...found };
  return nearestThere(dirname(folder));
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** The topmost folder on the way that this user may not pass. */
async function closedParent(folder: string): Promise<Found | undefined> {
  const parent = dirname(folder);
  if (parent === folder) return undefined;
  const above = await closedParent(parent);
  if (above) return above;
  const isOpen = await access(parent, constants.X_OK).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'EACCES',
  );
  const found = isOpen ? undefined : await statOrAbsent(parent);
  return found && { path: parent, ...found };
}
