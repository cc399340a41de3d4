/**
 * A program of the machine as one process group: its pipes always drained, its life watched, and at the end nothing of
 * it left, whatever it started (contract R3, R5, L2).
 *
 * Signals reach the group by its id. A process that left the group is found by a variable in its environment, or since
 * it was seen as the child of one that belongs here. What leaves the group, takes a new environment and loses its
 * parent between two looks is not found; in a process namespace (isolation.ts) it is ended by the kernel.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { getPriority, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  hasVariable,
  isAlive,
  type ProcessFacts,
  readProcess,
  readProcesses,
  residentBytesOf,
} from './process-table.js';

export interface ProcessGroupOptions {
  /** What the log calls the program. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly workingDirectory: string;
  /** The whole environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Marks the processes, so that endStrays() finds what a crash of this process left. */
  readonly owner: string;
  /** Takes everything the program prints, and when it started and ended. */
  readonly log: (bytes: Uint8Array) => void;
  /** Pipes beside the standard ones, from file descriptor 3 on. */
  readonly extraPipes?: number;
  /** Added to the priority's number: the higher the more the program gives way. */
  readonly niceness?: number;
  /** The group is ended when its processes together hold more; no limit where absent. */
  readonly maxResidentBytes?: number;
  /** Called while the processes use processor time. */
  readonly onAlive?: () => void;
}

export interface ProcessEnd {
  /** undefined where a signal ended the program. */
  readonly exitCode: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly cause: 'exited' | 'stopped' | 'memory';
  readonly peakResidentBytes: number;
}

const MARK = 'OFD_SERVER_PROCESS_GROUP';
const LOOK_EVERY_MS = 250;
const LOOK_AGAIN_MS = 15;
/** What can't be ended by then (a process in the middle of a hung disk's call) is given up. */
const GIVE_UP_MS = 30_000;
/** A pipe is held open by nobody of ours once the group has ended. */
const DRAIN_MS = 1000;

export class ProcessGroup {
  readonly child: ChildProcess;
  /**
   * Resolves when no process of the group is left and the pipes are empty. Rejects where the program could not be
   * started, or where a process of it could not be ended.
   */
  readonly ended: Promise<ProcessEnd>;
  readonly #options: ProcessGroupOptions;
  readonly #mark: string;
  readonly #exited: Promise<void>;
  readonly #closed: Promise<void>;
  readonly #members = new Map<number, ProcessFacts>();
  #leader: ProcessFacts | undefined;
  #cause: ProcessEnd['cause'] = 'exited';
  #peakResidentBytes = 0;
  #stop: () => void = () => undefined;

  constructor(options: ProcessGroupOptions) {
    this.#options = options;
    this.#mark = `${options.owner}/${randomUUID()}`;
    this.child = spawn(options.command, options.args, {
      cwd: options.workingDirectory,
      env: { ...options.environment, [MARK]: this.#mark },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', ...new Array<'pipe'>(options.extraPipes ?? 0).fill('pipe')],
    });
    const { child } = this;
    child.stdout?.on('data', options.log);
    child.stderr?.on('data', options.log);
    for (const pipe of child.stdio) (pipe as Readable | Writable | null)?.on('error', () => undefined);
    this.#exited = new Promise((resolve, reject) => {
      child.once('exit', () => resolve());
      child.once('error', reject);
    });
    this.#closed = new Promise((resolve) => child.once('close', () => resolve()));
    this.ended = this.#live();
    // Whoever asks is told; a start that failed is no unhandled rejection meanwhile.
    this.ended.catch(() => undefined);
  }

  /** Ends every process of the group at once. Resolves as `ended` does. */
  stop(): Promise<ProcessEnd> {
    this.#end('stopped');
    return this.ended;
  }

  #end(cause: ProcessEnd['cause']): void {
    if (this.#cause === 'exited') this.#cause = cause;
    this.#stop();
  }

  async #live(): Promise<ProcessEnd> {
    const { pid } = this.child;
    if (pid === undefined) {
      await this.#exited;
      throw new Error(`${this.#options.name} could not be started`);
    }
    const startedAt = performance.now();
    this.#note(`started, process ${pid}`);
    if (this.#options.niceness !== undefined) lowerPriority(pid, this.#options.niceness);
    const stopped = new Promise<void>((resolve) => {
      this.#stop = () => {
        signalGroup(pid);
        resolve();
      };
    });
    const watch = new AbortController();
    const watching = this.#watch(pid, watch.signal);
    await Promise.race([this.#exited, stopped]);
    watch.abort();
    await watching;
    await this.#endAll(pid);
    await this.#drain();
    const { exitCode, signalCode } = this.child;
    const end = { exitCode: exitCode ?? undefined, signal: signalCode ?? undefined, cause: this.#cause };
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const mebibytes = Math.ceil(this.#peakResidentBytes / 1024 ** 2);
    this.#note(`${describe(end)} after ${seconds} s, ${mebibytes} MiB at most`);
    return { ...end, peakResidentBytes: this.#peakResidentBytes };
  }

  /** Looks at the processes until told to end. */
  async #watch(pid: number, signal: AbortSignal): Promise<void> {
    this.#leader = await readProcess(pid);
    while (!signal.aborted) {
      await this.#look(pid);
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #look(pid: number): Promise<void> {
    const members = this.#membersAmong(await readProcesses(), pid);
    const hasWorked = members.some((member) => member.cpuTicks > (this.#members.get(member.pid)?.cpuTicks ?? 0));
    for (const member of members) this.#members.set(member.pid, member);
    if (hasWorked) this.#options.onAlive?.();
    const sizes = await Promise.all(members.map((member) => residentBytesOf(member.pid)));
    const residentBytes = sizes.reduce((sum, size) => sum + size, 0);
    this.#peakResidentBytes = Math.max(this.#peakResidentBytes, residentBytes);
    if (residentBytes > (this.#options.maxResidentBytes ?? Number.POSITIVE_INFINITY)) this.#end('memory');
  }

  /** Those of the group, those seen before, and their children. */
  #membersAmong(processes: readonly ProcessFacts[], groupId: number): ProcessFacts[] {
    const found = new Set<number>();
    const isMember = (entry: ProcessFacts): boolean =>
      entry.groupId === groupId ||
      this.#members.get(entry.pid)?.startTicks === entry.startTicks ||
      found.has(entry.parentPid);
    const alive = processes.filter(isAlive);
    for (let size = -1; size !== found.size; ) {
      size = found.size;
      for (const entry of alive) if (isMember(entry)) found.add(entry.pid);
    }
    return alive.filter(({ pid }) => found.has(pid));
  }

  async #endAll(pid: number): Promise<void> {
    const giveUpAt = performance.now() + GIVE_UP_MS;
    signalGroup(pid);
    for (;;) {
      const left = await this.#left(pid);
      if (left.length === 0) break;
      if (performance.now() > giveUpAt) {
        throw new Error(`${this.#options.name}: process ${left[0]?.pid} does not end, not even by SIGKILL`);
      }
      signalGroup(pid);
      for (const member of left) {
        this.#members.set(member.pid, member);
        signalProcess(member.pid);
      }
      await sleep(LOOK_AGAIN_MS);
    }
    await Promise.race([this.#exited, sleep(DRAIN_MS)]);
  }

  async #left(pid: number): Promise<ProcessFacts[]> {
    const processes = (await readProcesses()).filter(isAlive);
    const members = this.#membersAmong(processes, pid);
    const known = new Set(members.map((member) => member.pid));
    const since = this.#leader?.startTicks ?? 0;
    const others = processes.filter((entry) => entry.startTicks >= since && !known.has(entry.pid));
    const isMarked = await Promise.all(others.map((entry) => hasVariable(entry.pid, MARK, this.#mark)));
    return [...members, ...others.filter((_entry, index) => isMarked[index])];
  }

  async #drain(): Promise<void> {
    await Promise.race([this.#closed, sleep(DRAIN_MS, undefined, { ref: false })]);
    for (const pipe of this.child.stdio) (pipe as Readable | Writable | null)?.destroy();
  }

  #note(text: string): void {
    this.#options.log(Buffer.from(`[ofd-server] ${this.#options.name}: ${text}\n`));
  }
}

function describe({ exitCode, signal, cause }: Pick<ProcessEnd, 'exitCode' | 'signal' | 'cause'>): string {
  if (cause === 'memory') return 'ended for its memory';
  if (cause === 'stopped') return 'ended by the service';
  return signal === undefined ? `exited with code ${exitCode}` : `ended by ${signal}`;
}

/** Ends what an earlier process of this owner left running. Returns how many there were. */
export async function endStrays(owner: string): Promise<number> {
  const processes = (await readProcesses()).filter(isAlive);
  const isStray = await Promise.all(processes.map(({ pid }) => hasVariable(pid, MARK, `${owner}/`)));
  const strays = processes.filter((_entry, index) => isStray[index]);
  for (const { pid } of strays) signalProcess(pid);
  return strays.length;
}

function signalGroup(groupId: number): void {
  signalProcess(-groupId);
}

function signalProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function lowerPriority(pid: number, niceness: number): void {
  try {
    if (getPriority(pid) < niceness) setPriority(pid, niceness);
  } catch {
    // It has ended, or the machine does not allow it; it then runs as everything else.
  }
}
