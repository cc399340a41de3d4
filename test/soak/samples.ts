/** What the daemon and its children hold at an instant, as the kernel and the daemon itself tell it. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MEBIBYTE = 1024 * 1024;

export interface Sample {
  /** Since the load began. */
  readonly seconds: number;
  /** Resident memory of the daemon alone. */
  readonly residentMib: number;
  /** Resident memory of its engines' processes, what they share counted for each. */
  readonly childrenMib: number;
  /** JavaScript heap of the main thread. */
  readonly heapMib: number;
  /** Buffers of the main thread. */
  readonly externalMib: number;
  readonly threads: number;
  readonly descriptors: number;
  readonly sockets: number;
  readonly children: number;
  readonly zombies: number;
  /** Files and folders below temp_dir, profiles of engines apart. */
  readonly tempEntries: number;
  readonly profileFiles: number;
  readonly inputFiles: number;
  readonly logFiles: number;
  readonly outputFiles: number;
  /** The database with its log of transactions. */
  readonly databaseMib: number;
  readonly queued: number;
  readonly running: number;
  /** Rows of jobs, as the list shows them. */
  readonly jobRows: number;
  /** Of /healthz, 99th percentile since the last sample. */
  readonly healthP99Ms: number;
  /** How late a timer of the probe itself was, 99th percentile: what the machine costs. */
  readonly probeP99Ms: number;
}

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** Every process that can be seen. */
function processTable(): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readIfThere(`/proc/${name}/stat`);
    // The name of the program may hold anything, parentheses too.
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (stat !== '') rows.push({ pid: Number(name), parent: Number(parent), state });
  }
  return rows;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Children of a process, and theirs. */
export function descendantsOf(pid: number): ProcessRow[] {
  const table = processTable();
  const found: ProcessRow[] = [];
  for (let parents = [pid]; parents.length > 0; ) {
    const next = table.filter(({ parent }) => parents.includes(parent));
    found.push(...next);
    parents = next.map((row) => row.pid);
  }
  return found;
}

/** A number of /proc/PID/status, 0 where it is not there. */
function statusOf(pid: number, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readIfThere(`/proc/${pid}/status`))?.[1] ?? 0);
}

function residentMibOf(pid: number): number {
  return statusOf(pid, 'VmRSS') / 1024;
}

export type ProcessSample = Pick<
  Sample,
  'residentMib' | 'childrenMib' | 'threads' | 'descriptors' | 'sockets' | 'children' | 'zombies'
>;

export function sampleProcess(pid: number): ProcessSample {
  const descendants = descendantsOf(pid);
  const links = linksOf(`/proc/${pid}/fd`);
  return {
    residentMib: residentMibOf(pid),
    childrenMib: descendants.reduce((sum, row) => sum + residentMibOf(row.pid), 0),
    threads: statusOf(pid, 'Threads'),
    descriptors: links.length,
    sockets: links.filter((link) => link.startsWith('socket:')).length,
    children: descendants.length,
    zombies: descendants.filter(({ state }) => state === 'Z').length,
  };
}

/** What each descriptor leads to. */
export function linksOf(folder: string): string[] {
  return namesIn(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))];
    } catch {
      return [];
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Paths of all that lies below a folder, relative to it. */
export function entriesBelow(folder: string): string[] {
  const entries: string[] = [];
  const walk = (relative: string): void => {
    for (const name of namesIn(join(folder, relative))) {
      const path = join(relative, name);
      entries.push(path);
      walk(path);
    }
  };
  walk('');
  return entries;
}

export function mibOf(...paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0) / MEBIBYTE;
}

/** Values of a page of metrics by name with labels. */
export function metricsOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}
