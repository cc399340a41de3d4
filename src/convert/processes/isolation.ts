/**
 * What the kernel lets us put around a program: no network, no way out for its processes, no core dumps, an end with
 * this process. Found out once, by trying; programs run without what is not allowed (containers often forbid new
 * namespaces), and every engine has walls of its own against the network.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface Isolation {
  /** The program sees no network. */
  readonly hasNoNetwork: boolean;
  /** Its processes end with the first of them. */
  readonly hasOwnProcesses: boolean;
  /** What comes before the program and its arguments. */
  readonly prefix: readonly string[];
}

const PROBE_MS = 10_000;
const LARGEST_FILE_BYTES = 4 * 1024 ** 3;

/** Tried in this order: by privilege, else as a user of a namespace of one's own; processes apart where possible. */
const NAMESPACES: readonly (readonly string[])[] = [
  ['--net', '--pid', '--fork', '--kill-child=KILL'],
  ['--user', '--map-current-user', '--net', '--pid', '--fork', '--kill-child=KILL'],
  ['--net'],
  ['--user', '--map-current-user', '--net'],
];

/** The first process of a namespace is spared signals that end any other: the program is the second. */
const FIRST_PROCESS = ['/bin/sh', '-c', '"$@"; exit $?', 'sh'];

let found: Promise<Isolation> | undefined;

/** The strongest isolation that works here. */
export function findIsolation(): Promise<Isolation> {
  found ??= probe();
  return found;
}

async function probe(): Promise<Isolation> {
  const prefix: string[] = [];
  // An end with this process, also where it is killed.
  if (await works(['setpriv', '--pdeathsig', 'KILL'])) prefix.push('setpriv', '--pdeathsig', 'KILL');
  const limits = ['prlimit', '--core=0', `--fsize=${LARGEST_FILE_BYTES}`];
  if (await works(limits)) prefix.push(...limits);
  for (const namespaces of NAMESPACES) {
    const candidate = ['unshare', ...namespaces];
    if (!(await works(candidate))) continue;
    return {
      hasNoNetwork: true,
      hasOwnProcesses: namespaces.includes('--pid'),
      prefix: [...prefix, ...candidate, ...FIRST_PROCESS],
    };
  }
  return { hasNoNetwork: false, hasOwnProcesses: false, prefix };
}

async function works(prefix: readonly string[]): Promise<boolean> {
  const [command = '', ...args] = [...prefix, 'true'];
  try {
    await promisify(execFile)(command, args, { timeout: PROBE_MS, env: { PATH: process.env.PATH ?? '' } });
    return true;
  } catch {
    return false;
  }
}
