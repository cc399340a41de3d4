/**
 * Log files of one folder. pino-roll numbers and rotates them (ofd-server.1.log, ofd-server.2.log …); here are the link
 * under the configured name that leads to the file being written, and the sweep that compresses and removes old ones.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, readdir, rename, rm, stat, symlink, utimes } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pinoRoll, { type RollingStream } from 'pino-roll';
import { makeFolder } from '../make-folder.js';
import type { LogConfig } from './keys.js';

const SWEEP_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

export class LogFiles {
  readonly stream: RollingStream;
  readonly #config: LogConfig;
  #timer: NodeJS.Timeout | undefined;
  /** Sweeps and links one after the other. */
  #work: Promise<void> = Promise.resolve();

  private constructor(config: LogConfig, stream: RollingStream) {
    this.#config = config;
    this.stream = stream;
  }

  /** Makes the folder, keeps a plain file that stands under the configured name, and opens the newest numbered one. */
  static async open(config: LogConfig, longestBacklog: number): Promise<LogFiles> {
    await makeFolder(config.logDir, 0o750);
    await keepPlainFile(config);
    const stream = await pinoRoll({
      file: join(config.logDir, config.logFile),
      size: `${config.logMaxSizeMb}m`,
      // pino-roll counts the file being written too.
      limit: { count: config.logMaxBackups + 1, removeOtherLogFiles: true },
      sync: false,
      maxLength: longestBacklog,
      mode: 0o640,
    });
    const files = new LogFiles(config, stream);
    await files.#ready();
    return files;
  }

  async #ready(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      if (this.stream.fd >= 0) resolve();
      else this.stream.once('ready', resolve).once('error', reject);
    });
    // A disk that is full for a while must not end the process; what could not be written is lost.
    this.stream.on('error', () => undefined);
    this.stream.on('ready', () => this.#enqueue());
    this.#timer = setInterval(() => this.#enqueue(), SWEEP_EVERY_MS).unref();
    this.#enqueue();
    await this.#work;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#work;
    await new Promise<void>((resolve) => {
      this.stream.once('close', resolve);
      // What a full disk does not take is lost, and the file is closed all the same.
      this.stream.on('error', () => this.stream.destroy());
      this.stream.end();
    });
  }

  #enqueue(): void {
    this.#work = this.#work
      .then(() => this.#link())
      .then(() => this.#sweep())
      .catch(() => undefined);
  }

  async #link(): Promise<void> {
    const { logDir, logFile } = this.#config;
    const temporary = join(logDir, `.${logFile}.link`);
    await rm(temporary, { force: true });
    await symlink(basename(this.stream.file), temporary);
    await rename(temporary, join(logDir, logFile));
  }

  async #sweep(): Promise<void> {
    const { logDir, logMaxBackups, logMaxAgeDays, logCompress } = this.#config;
    const backups = await this.#backups();
    const oldestMs = Date.now() - logMaxAgeDays * DAY_MS;
    for (const [index, { name, modifiedMs }] of backups.entries()) {
      const path = join(logDir, name);
      if (index >= logMaxBackups || modifiedMs < oldestMs) await rm(path, { force: true });
      else if (logCompress && !name.endsWith('.gz')) await compress(path);
    }
  }

  /** Rotated files, newest first. */
  async #backups(): Promise<{ name: string; number: number; modifiedMs: number }[]> {
    const { logDir, logFile } = this.#config;
    const current = basename(this.stream.file);
    const found = [];
    for (const name of await readdir(logDir)) {
      const number = backupNumber(name, logFile);
      if (number === undefined || name === current) continue;
      found.push({ name, number, modifiedMs: (await stat(join(logDir, name))).mtimeMs });
    }
    return found.sort((a, b) => b.number - a.number);
  }
}

/** 7 for `ofd-server.7.log` and `ofd-server.7.log.gz`. */
function backupNumber(name: string, logFile: string): number | undefined {
  const extension = extname(logFile) || '.log';
  const stem = `${basename(logFile, extname(logFile))}.`;
  const plain = name.endsWith('.gz') ? name.slice(0, -3) : name;
  if (!plain.startsWith(stem) || !plain.endsWith(extension)) return undefined;
  const digits = plain.slice(stem.length, plain.length - extension.length);
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}

/** The Go program wrote to the configured name itself; such a file becomes backup number 0. */
async function keepPlainFile(config: LogConfig): Promise<void> {
  const path = join(config.logDir, config.logFile);
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isFile()) return;
  const extension = extname(config.logFile);
  await rename(path, join(config.logDir, `${basename(config.logFile, extension)}.0${extension || '.log'}`));
}

async function compress(path: string): Promise<void> {
  const { mtime } = await stat(path);
  const temporary = `${path}.gz.part`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(temporary, { mode: 0o640 }));
  await utimes(temporary, mtime, mtime);
  await rename(temporary, `${path}.gz`);
  await rm(path, { force: true });
}
