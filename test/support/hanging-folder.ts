/** A folder on a file server that can be stopped: from then on whoever touches the folder waits, as with a dead NFS server. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./bin/folder-server.py', import.meta.url));

export class HangingFolder {
  /** Where the folder is seen. */
  readonly path: string;
  /** Where its files really lie. */
  readonly source: string;
  readonly #server: ChildProcess;
  #printed = '';

  private constructor(folder: string, words: readonly string[]) {
    this.source = join(folder, 'source');
    this.path = join(folder, 'mounted');
    mkdirSync(this.source, { recursive: true });
    mkdirSync(this.path, { recursive: true });
    // Debian's own Python, whatever stands first in PATH: the library of the test packages belongs to it.
    this.#server = spawn('/usr/bin/python3', [PROGRAM, this.source, this.path, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#server.stdout, this.#server.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        this.#printed += bytes;
      });
    }
  }

  /** @param words `--no-links`: files have one name */
  static async mount(folder: string, ...words: readonly string[]): Promise<HangingFolder> {
    // A container has the device's node only where it was given it.
    if (!existsSync('/dev/fuse')) execFileSync('mknod', ['/dev/fuse', 'c', '10', '229']);
    const mounted = new HangingFolder(folder, words);
    const { dev } = statSync(folder);
    while (statSync(mounted.path).dev === dev) {
      if (mounted.#server.exitCode !== null) throw new Error(`No folder is mounted: ${mounted.#printed}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return mounted;
  }

  hang(): void {
    this.#server.kill('SIGSTOP');
  }

  goOn(): void {
    this.#server.kill('SIGCONT');
  }

  /** What lies in it, seen behind its back. */
  get names(): string[] {
    return readdirSync(this.source, { recursive: true, encoding: 'utf8' });
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#server.once('exit', resolve));
    this.#server.kill('SIGKILL');
    if (this.#server.exitCode === null && this.#server.signalCode === null) await ended;
    // Whoever still waits gets an error now.
    spawnSync('umount', ['--lazy', this.path]);
  }
}
