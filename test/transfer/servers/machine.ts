/** What the servers of the tests share: a folder, free ports, a user of the system, child processes that end with the test. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that other users may pass through, as servers that give up their rights need it. */
export function openFolder(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `ofd-${name}-`));
  chmodSync(path, 0o755);
  return path;
}

export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The first of `count` ports in a row for the passive mode of FTP; below those that the system gives out. */
export function portRange(count: number): number {
  return randomInt(100, Math.floor(20_000 / count)) * count + 10_000;
}

/** Resolves when somebody listens. */
export async function untilListening(port: number, host = '127.0.0.1'): Promise<void> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect({ port, host });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A server as a process of its own. */
export class Program {
  readonly #process: ChildProcess;
  #output = '';

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#process = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (piece: Buffer) => {
        this.#output = (this.#output + piece.toString()).slice(-20_000);
      });
    }
  }

  get output(): string {
    return this.#output;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Resolves when it listens; fails where it ends before. */
  async listening(port: number): Promise<void> {
    const ended = new Promise<never>((_resolve, reject) => {
      this.#process.once('exit', (code) => reject(new Error(`The server ended (${code}): ${this.#output}`)));
      this.#process.once('error', reject);
    });
    ended.catch(() => undefined);
    await Promise.race([untilListening(port), ended]);
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill(signal);
    await gone;
  }
}

export interface SystemUser {
  readonly name: string;
  readonly password: string;
  readonly home: string;
  remove(): void;
}

/** A user of the machine whose home is `home`; needs root, as the servers do. */
export function systemUser(home: string): SystemUser {
  const name = `ofdtest${randomInt(1e6)}`;
  const password = `pass-${randomInt(1e9)}`;
  execFileSync('useradd', ['--no-create-home', '--home-dir', home, '--shell', '/bin/sh', name]);
  execFileSync('chpasswd', { input: `${name}:${password}` });
  execFileSync('chown', ['-R', name, home]);
  return { name, password, home, remove: () => execFileSync('userdel', ['--force', name], { stdio: 'ignore' }) };
}

/** A certificate that nobody vouches for; one file with key and certificate, and both apart. */
export function selfSigned(folder: string): { readonly key: string; readonly certificate: string } {
  const key = join(folder, 'tls-key.pem');
  const certificate = join(folder, 'tls-cert.pem');
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2'].concat([
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:127.0.0.2',
    ]),
    { stdio: 'ignore' },
  );
  return { key, certificate };
}

export function writeConfig(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
