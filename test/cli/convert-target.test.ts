// Where the command line puts what it makes: over files, through links, into pipes and devices (contract D2).
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { withFolder } from '../support/rendering.js';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const input = fileURLToPath(new URL('../cases/B134/input.ofd', import.meta.url));
const TEXT = '甲乙';

/** Runs in a shell, where pipes are pipes, with a mask and a folder for temporary files that the test looks into. */
function shell(cwd: string, script: string) {
  const temp = join(cwd, 'temp');
  mkdirSync(temp, { recursive: true });
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `umask 027; ${script}`], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: temp, OFD: `${process.execPath} ${program} convert`, IN: input },
    timeout: 60_000,
  });
  expect(readdirSync(temp)).toEqual([]);
  return { status, stdout, stderr };
}

const letters = (path: string): string => readFileSync(path, 'utf8').replace(/\s/g, '');
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('the place of a product', () => {
  it('is a file as the mask has it, in folders as the mask has them', () =>
    withFolder((cwd) => {
      expect(shell(cwd, '$OFD $IN -o a.txt && $OFD $IN --to png --dpi 36 -o deep/pages').status).toBe(0);
      expect(
        ['a.txt', 'deep', 'deep/pages', 'deep/pages/page-0001.png'].map((name) => modeOf(join(cwd, name))),
      ).toEqual(['640', '750', '750', '640']);
    }));

  it('keeps the mode of the file that stood there', () =>
    withFolder((cwd) => {
      writeFileSync(join(cwd, 'a.txt'), 'old');
      chmodSync(join(cwd, 'a.txt'), 0o604);
      expect(shell(cwd, '$OFD $IN -o a.txt').status).toBe(0);
      expect([letters(join(cwd, 'a.txt')), modeOf(join(cwd, 'a.txt'))]).toEqual([TEXT, '604']);
    }));

  it('is where a symbolic link leads, whether something is there or not', () =>
    withFolder((cwd) => {
      mkdirSync(join(cwd, 'real'));
      mkdirSync(join(cwd, 'links'));
      writeFileSync(join(cwd, 'real/old.txt'), 'old');
      symlinkSync('../real/old.txt', join(cwd, 'links/old.txt'));
      symlinkSync('../real/new.txt', join(cwd, 'links/new.txt'));
      symlinkSync('links/new.txt', join(cwd, 'twice.txt'));
      expect(shell(cwd, '$OFD $IN -o links/old.txt && $OFD $IN -o twice.txt').status).toBe(0);
      expect(readlinkSync(join(cwd, 'links/old.txt'))).toBe('../real/old.txt');
      expect(readlinkSync(join(cwd, 'links/new.txt'))).toBe('../real/new.txt');
      expect(readlinkSync(join(cwd, 'twice.txt'))).toBe('links/new.txt');
      expect(readdirSync(join(cwd, 'real'))).toEqual(['new.txt', 'old.txt']);
      expect([letters(join(cwd, 'real/old.txt')), letters(join(cwd, 'real/new.txt'))]).toEqual([TEXT, TEXT]);
      const circle = shell(cwd, 'ln -s circle.txt circle.txt; $OFD $IN -o circle.txt');
      expect(circle).toMatchObject({
        status: 2,
        stderr: 'ofd-server convert: cannot write to circle.txt: its links lead in a circle (ELOOP)\n',
      });
      const astray = shell(cwd, 'ln -s nowhere/x.txt astray.txt; $OFD $IN -o astray.txt');
      expect(astray.status).toBe(2);
      expect(astray.stderr).toContain(`cannot write to ${cwd}/nowhere: no file can be made there (ENOENT)`);
    }));

  it('is written into where it is a pipe', () =>
    withFolder((cwd) => {
      const { status } = shell(cwd, 'mkfifo a.txt; cat a.txt > read & $OFD $IN -o a.txt; code=$?; wait; exit $code');
      expect(status).toBe(0);
      expect(lstatSync(join(cwd, 'a.txt')).isFIFO()).toBe(true);
      expect(letters(join(cwd, 'read'))).toBe(TEXT);
      expect(shell(cwd, '$OFD $IN --to txt -o >(cat > process); wait $!').status).toBe(0);
      expect(letters(join(cwd, 'process'))).toBe(TEXT);
    }));

  it('is written into where it is a device', () =>
    withFolder((cwd) => {
      // One of the test's own that swallows what it gets; who may make none sends to one that is no file either.
      const { status, stdout } = shell(
        cwd,
        'mknod device c 1 3 2>/dev/null && chmod 600 device && { $OFD $IN --to txt -o device; exit; }; $OFD $IN --to txt -o /dev/fd/5 5>&1 | cat',
      );
      expect(status).toBe(0);
      if (readdirSync(cwd).includes('device')) expect(lstatSync(join(cwd, 'device')).isCharacterDevice()).toBe(true);
      else expect(stdout.replace(/\s/g, '')).toBe(TEXT);
    }));

  it('is standard output under the names that it has as a file', () =>
    withFolder((cwd) => {
      const { status, stdout, stderr } = shell(cwd, '$OFD $IN --to txt -o /dev/stdout --json');
      expect([status, stdout.replace(/\s/g, '')]).toEqual([0, TEXT]);
      expect(JSON.parse(stderr)).toMatchObject({ ok: true, files: ['-'] });
      expect(shell(cwd, '$OFD /dev/stdin --to txt -o - < $IN').stdout.replace(/\s/g, '')).toBe(TEXT);
      expect(shell(cwd, '$OFD <(cat $IN) --to txt -o -').stdout.replace(/\s/g, '')).toBe(TEXT);
      const early = shell(cwd, 'set -o pipefail; $OFD $IN --to txt -o - | true');
      expect(early).toMatchObject({
        status: 1,
        stderr: 'ofd-server convert: cannot write to standard output: the reader has gone away (EPIPE) (unavailable)\n',
      });
    }));

  it.each([
    ['an output pipe without a reader', ['-o', 'pipe.txt'], input],
    ['an input pipe without a writer', ['--to', 'txt', '-o', 'a.txt'], 'pipe.txt'],
    ['standard input that says nothing', ['--to', 'txt', '-o', 'a.txt'], '-'],
  ])('is waited for until an interruption, and nothing is left: %s', (_what, args, from) =>
    withFolder(async (cwd) => {
      const temp = join(cwd, 'temp');
      mkdirSync(temp);
      spawnSync('mkfifo', ['pipe.txt'], { cwd });
      const child = spawn(process.execPath, [program, 'convert', from, ...args], {
        cwd,
        env: { ...process.env, TMPDIR: temp },
        stdio: ['pipe', 'ignore', 'ignore'],
      });
      const ended = new Promise<unknown>((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
      await new Promise((resolve) => setTimeout(resolve, 4000));
      expect([child.exitCode, readdirSync(temp).length]).toEqual([null, 1]);
      child.kill('SIGINT');
      // A wait for the other end of a pipe cannot be broken off, only ended by the signal itself; shells make 130 of both.
      expect([130, 'SIGINT']).toContain(await ended);
      expect([readdirSync(temp), readdirSync(cwd)]).toEqual([[], ['pipe.txt', 'temp']]);
      expect(lstatSync(join(cwd, 'pipe.txt')).isFIFO()).toBe(true);
    }),
  );
});

describe('what is refused', () => {
  it('is told as JSON where that is asked for, usage too', () =>
    withFolder((cwd) => {
      const { status, stdout, stderr } = shell(cwd, '$OFD $IN --to nothing --json');
      expect([status, stderr]).toEqual([2, '']);
      expect(JSON.parse(stdout)).toEqual({
        ok: false,
        code: 'invalid_request',
        message: expect.stringMatching(/^--to nothing: no such output format/),
      });
      expect(JSON.parse(shell(cwd, '$OFD $IN --nonsense --json -o -').stderr)).toMatchObject({ ok: false });
      const homeless = shell(cwd, 'TMPDIR=$PWD/nowhere $OFD $IN --json');
      expect([homeless.status, JSON.parse(homeless.stdout).message]).toEqual([
        2,
        `no temporary folder can be made in ${cwd}/nowhere (ENOENT); set TMPDIR to one that takes it`,
      ]);
    }));

  it('names flags, not the fields of a request', () =>
    withFolder((cwd) => {
      writeFileSync(join(cwd, 'a.xyz'), 'nothing known');
      const told = (script: string): string => shell(cwd, script).stderr;
      expect(told('$OFD a.xyz')).toContain(
        '--from is missing, the file name "a.xyz" has no known extension and the content does not tell the format; write --from',
      );
      expect(told('$OFD $IN --from docx')).toContain('--from: "docx" contradicts the content, which is OFD');
      expect(told('$OFD a.xyz --from docx --soffice-path /nowhere')).toContain('--soffice-path is "/nowhere"');
    }));
});
