// The log and its files (contract C4).
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogConfig } from '../../src/log/keys.js';
import { openLog } from '../../src/log/log.js';
import { until } from '../support/service.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ofd-server-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const config = (changes: Partial<LogConfig> = {}): LogConfig => ({
  logLevel: 'info',
  logDir: folder,
  logFile: 'ofd-server.log',
  logMaxSizeMb: 1,
  logMaxBackups: 10,
  logMaxAgeDays: 30,
  logCompress: false,
  logToStdout: undefined,
  ...changes,
});

/** Of the file being written. */
const currentNumber = (): number => Number(/\.(\d+)\.log$/.exec(readlinkSync(join(folder, 'ofd-server.log')))?.[1]);

/** A little more than 1 MiB of lines each time; then the file is given time to be changed. */
async function writeMegabytes(count: number, changes: Partial<LogConfig>): Promise<void> {
  const log = await openLog(config(changes));
  const first = currentNumber();
  for (let megabyte = 1; megabyte <= count; megabyte++) {
    for (let line = 0; line < 1024; line++) log.logger.info({ line, text: 'x'.repeat(1000) }, 'line');
    await until(
      async () => currentNumber(),
      (number) => number >= first + megabyte,
    );
  }
  await log.close();
}

it('lines are JSON with level and time, and the level is a threshold', async () => {
  const log = await openLog(config());
  log.logger.debug('hidden');
  log.logger.warn({ job: 'a' }, 'seen');
  log.logger.info({ authorization: 'Bearer x', headers: { a: 'x' }, request: { headers: 'x' } }, 'secrets');
  await log.close();
  const [seen, secrets] = readFileSync(join(folder, 'ofd-server.log'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(seen).toEqual({ level: 'warn', time: expect.stringMatching(/^\d{4}-.*Z$/), job: 'a', msg: 'seen' });
  expect(JSON.stringify(secrets)).not.toMatch(/Bearer|"x"/);
});

it('the level can be changed, also where the log has two outlets', async () => {
  const log = await openLog(config({ logToStdout: true, logLevel: 'error' }));
  log.logger.info('hidden');
  log.logger.level = 'debug';
  log.logger.debug('seen');
  await log.close();
  const lines = readFileSync(join(folder, 'ofd-server.log'), 'utf8').trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['seen']);
});

it('files turn over at their size, the name leads to the one being written, and so many are kept', async () => {
  await writeMegabytes(5, { logMaxBackups: 2 });
  const names = readdirSync(folder).filter((name) => name !== 'ofd-server.log');
  expect(names.length).toBeLessThanOrEqual(3);
  const newest = Math.max(...names.map((name) => Number(/\.(\d+)\.log$/.exec(name)?.[1])));
  expect([currentNumber(), newest]).toEqual([6, 6]);
  expect(statSync(join(folder, 'ofd-server.log')).mode & 0o007).toBe(0);
});

it('a disk that takes nothing keeps the log from no end', async () => {
  symlinkSync('/dev/full', join(folder, 'ofd-server.1.log'));
  const log = await openLog(config());
  log.logger.info('lost');
  await new Promise((resolve) => setTimeout(resolve, 100));
  log.logger.info('lost too');
  await log.close();
}, 5000);

it('a second start goes on in the newest file', async () => {
  for (const text of ['first', 'second']) {
    const log = await openLog(config());
    log.logger.info(text);
    await log.close();
  }
  expect(readdirSync(folder).sort()).toEqual(['ofd-server.1.log', 'ofd-server.log']);
  expect(readFileSync(join(folder, 'ofd-server.log'), 'utf8')).toMatch(/first[\s\S]*second/);
});

it('old files are compressed where asked for, and removed after their age', async () => {
  await writeMegabytes(3, { logCompress: true });
  const compressed = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.gz'));
  const log = await openLog(config({ logCompress: true }));
  await until(
    async () => compressed().length,
    (count) => count >= 2,
  );
  await log.close();
  const [first] = compressed().sort();
  expect(gunzipSync(readFileSync(join(folder, first as string))).toString()).toMatch(/^\{"level":"info".*\}\n$/s);
  const old = new Date(Date.now() - 40 * 86_400_000);
  utimesSync(join(folder, first as string), old, old);
  const again = await openLog(config({ logCompress: true }));
  await again.close();
  expect(compressed()).not.toContain(first);
});

it('a file that another program left under the name is kept as backup 0', async () => {
  writeFileSync(join(folder, 'ofd-server.log'), 'old\n');
  const log = await openLog(config());
  log.logger.info('new');
  await log.close();
  expect(readFileSync(join(folder, 'ofd-server.0.log'), 'utf8')).toBe('old\n');
  expect(readFileSync(join(folder, 'ofd-server.log'), 'utf8')).toMatch(/new/);
});

it('other files of the folder are left alone', async () => {
  writeFileSync(join(folder, 'other.log'), 'x');
  writeFileSync(join(folder, 'ofd-server.notes.log'), 'x');
  const old = new Date(0);
  for (const name of ['other.log', 'ofd-server.notes.log']) utimesSync(join(folder, name), old, old);
  await (await openLog(config())).close();
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(['other.log', 'ofd-server.notes.log']));
});

it('a folder that cannot be made is an error at once', async () => {
  writeFileSync(join(folder, 'file'), '');
  await expect(openLog(config({ logDir: join(folder, 'file', 'log') }))).rejects.toThrow(/ENOTDIR|EEXIST/);
});
