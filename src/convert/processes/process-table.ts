/** What /proc tells of the processes of this machine. Where there is no /proc there are no processes to be seen. */
import { closeSync, openSync, readSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface ProcessFacts {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  /** One letter, as proc(5) has them. */
  readonly state: string;
  /** Processor time used, in the kernel's ticks. */
  readonly cpuTicks: number;
  /** When it was started, in ticks since boot: with the pid it names a process for good. */
  readonly startTicks: number;
}

/** So many are read at a time, in about a millisecond: then others have their turn. */
const READ_AT_A_TIME = 64;
/** A line of numbers and a short name. */
const LONGEST_STAT_BYTES = 4096;

/**
 * Every process that can be seen; those that end meanwhile are left out. Reads them itself: the kernel makes these files
 * up without any disk, and the way over libuv's threads takes ten times the processor time, and a descriptor for each.
 */
export async function readProcesses(): Promise<ProcessFacts[]> {
  const names = (await readdir('/proc').catch(() => [] as string[])).filter((name) => /^\d+$/.test(name));
  const found: ProcessFacts[] = [];
  const buffer = Buffer.allocUnsafe(LONGEST_STAT_BYTES);
  for (const [index, name] of names.entries()) {
    if (index % READ_AT_A_TIME === READ_AT_A_TIME - 1) await nextTurn();
    const facts = statOf(Number(name), buffer);
    if (facts !== undefined) found.push(facts);
  }
  return found;
}

/** undefined where it has ended. */
export async function readProcess(pid: number): Promise<ProcessFacts | undefined> {
  return statOf(pid, Buffer.allocUnsafe(LONGEST_STAT_BYTES));
}

function statOf(pid: number, buffer: Buffer): ProcessFacts | undefined {
  try {
    const file = openSync(`/proc/${pid}/stat`, 'r');
    try {
      return parseStat(pid, buffer.toString('latin1', 0, readSync(file, buffer)));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

function parseStat(pid: number, text: string): ProcessFacts | undefined {
  // The name stands in parentheses and may hold any character: what counts comes after the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parentPid, groupId] = fields;
  const at = (index: number): number => Number(fields[index]);
  if (state === undefined || parentPid === undefined || groupId === undefined) return undefined;
  return {
    pid,
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    state,
    cpuTicks: at(11) + at(12),
    startTicks: at(19),
  };
}

/** False for a process that has ended and only waits for its parent to notice. */
export function isAlive({ state }: ProcessFacts): boolean {
  return state !== 'Z' && state !== 'X';
}

/** Whether a process was started with this variable; false where it may not be looked at. */
export async function hasVariable(pid: number, name: string, valuePrefix: string): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return text.split('\0').some((entry) => entry.startsWith(`${name}=${valuePrefix}`));
}

/** Memory of a process that lies in RAM; 0 where it has ended. */
export async function residentBytesOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}
