/** The built daemon as a process of its own, to be signalled and killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { KEY } from './key.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Copies the build, so that one that is made meanwhile changes nothing. Gives the path of the program in the copy.
 * @param tree with the build in its `dist`
 */
export function copyOfBuild(folder: string, tree = ROOT): string {
  cpSync(join(tree, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(tree, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(tree, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'dist/main.js');
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class Daemon {
  readonly #process: ChildProcess;
  readonly #lines: string[] = [];
  readonly exited: Promise<Exit>;
  /** Address once it is ready; undefined where it ended before. */
  readonly ready: Promise<string | undefined>;

  /**
   * @param configPath of a configuration with `listen` "127.0.0.1:0" and the log on standard output
   * @param program from copyOfBuild
   * @param wrapper a command that ends by becoming the one behind it
   */
  constructor(configPath: string, program: string, wrapper: readonly string[] = []) {
    const [command = '', ...words] = [...wrapper, process.execPath, program, '-c', configPath];
    this.#process = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.exited = new Promise((resolve) => this.#process.once('exit', (code, signal) => resolve({ code, signal })));
    const { stdout, stderr } = this.#process;
    if (!stdout || !stderr) throw new Error('No pipes');
    createInterface({ input: stderr }).on('line', (line) => this.#lines.push(line));
    this.ready = new Promise((resolve) => {
      const reader = createInterface({ input: stdout });
      reader.on('line', (line) => {
        this.#lines.push(line);
        if (line.includes('"msg":"ready"')) resolve(`http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`);
      });
      reader.once('close', () => resolve(undefined));
    });
  }

  /** What it has printed. */
  get output(): string {
    return this.#lines.join('\n');
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited;
  }
}

/** A request to a daemon, with the key of the tests. */
export function callDaemon(url: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url + path, { ...init, headers: { authorization: `Bearer ${KEY}`, ...init.headers } });
}
