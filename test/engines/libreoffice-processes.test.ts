// What becomes of LibreOffice's processes (contract R3, R5): conversions run beside each other, and a program that does
// everything wrong is ended whole, leaves nothing, and does not keep the next one from running.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findSoffice, LibreOfficeEngine } from '../../src/convert/engines/libreoffice.js';
import { profileUrl, socketPath } from '../../src/convert/engines/libreoffice-profile.js';
import { findIsolation } from '../../src/convert/processes/isolation.js';
import { ServiceError } from '../../src/errors.js';
import { temporaryFolder } from '../support/jobs.js';
import { convertBytes, pdfText, textDocx } from '../support/office.js';

const SOFFICE = findSoffice('') as string;

let folder: { path: string; remove(): void };
let profileRoot: string;

beforeEach(() => {
  folder = temporaryFolder('libreoffice-processes');
  profileRoot = join(folder.path, 'profiles');
  mkdirSync(profileRoot);
});
afterEach(() => {
  expect(processesBelow(folder.path)).toEqual([]);
  folder.remove();
});

/** Command lines that name the folder, and scripts that were started in it. */
function processesBelow(path: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
      if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) return [];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      return command.includes(path) || environment.includes(`HOME=${path}`) ? [command] : [];
    } catch {
      return [];
    }
  });
}

/** A program in the place of soffice. It makes up profiles, and turns to `script` for a document. */
function fake(script: string): string {
  const path = join(folder.path, 'soffice');
  writeFileSync(path, `#!/bin/bash\ncase "$*" in *terminate_after_init*) exit 0;; esac\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

function engineOf(sofficePath: string, changes: object = {}): LibreOfficeEngine {
  return new LibreOfficeEngine({ sofficePath, profileRoot, fontDirs: [], ...changes });
}

const scratchOf = (run: number): string[] => {
  const [name] = readdirSync(folder.path)
    .filter((entry) => entry.startsWith('run-'))
    .slice(run);
  return readdirSync(join(folder.path, name as string, 'scratch'));
};

const HOSTILE = `
trap '' TERM INT HUP QUIT
(trap '' TERM HUP; while :; do echo flood >&2; echo flood; done) &
(setsid bash -c 'trap "" TERM HUP; while :; do sleep 600; done' &)
while :; do sleep 600; done`;

it.each([
  ['with what the kernel offers', undefined],
  ['without', { prefix: [], hasNoNetwork: false, hasOwnProcesses: false }],
])('a hostile program is ended within two seconds, %s', async (_name, isolation) => {
  const engine = engineOf(fake(HOSTILE), isolation ? { isolation } : {});
  const timeout = new ServiceError('conversion_timeout', 'Longer than job_timeout', { reason: 'timeout' });
  const stopping = new AbortController();
  let startedAt = 0;
  let logged = 0;
  const conversion = convertBytes(engine, folder.path, 'a.docx', textDocx('x'), {
    signal: stopping.signal,
    log: (bytes) => {
      logged += bytes.length;
    },
  });
  while (logged < 1_000_000) await sleep(20);
  startedAt = performance.now();
  stopping.abort(timeout);
  await expect(conversion).rejects.toBe(timeout);
  expect(performance.now() - startedAt).toBeLessThan(2000);
  expect(processesBelow(folder.path)).toEqual([]);
  expect(scratchOf(0)).toEqual([]);

  writeFileSync(join(folder.path, 'soffice'), '#!/bin/bash\nexit 0\n');
  await expect(convertBytes(engine, folder.path, 'a.docx', textDocx('x'))).rejects.toMatchObject({ reason: 'corrupt' });
  await engine.close();
});

it.each([
  ['says that all is well and makes nothing', 'exit 0', 'conversion_failed', 'corrupt'],
  [
    'makes something that is no PDF',
    'while [ "$1" != --outdir ]; do shift; done; echo no > "$2/input.pdf"',
    'conversion_failed',
    'corrupt',
  ],
  [
    'makes half a PDF',
    'while [ "$1" != --outdir ]; do shift; done; echo %PDF-1.7 > "$2/input.pdf"',
    'conversion_failed',
    'corrupt',
  ],
  ['crashes', 'kill -SEGV $$', 'engine_crashed', 'internal'],
  ['takes all memory', 'head -c 400000000 /dev/zero | tail', 'conversion_failed', 'too_large'],
])('a program that %s', async (_name, script, code, reason) => {
  const ends: string[] = [];
  const engine = engineOf(fake(script), {
    maxResidentBytes: 200_000_000,
    onEngineEnd: (end: string) => ends.push(end),
  });
  await expect(convertBytes(engine, folder.path, 'a.docx', textDocx('x'))).rejects.toMatchObject({ code, reason });
  expect(ends).toEqual(code === 'engine_crashed' ? ['crashed'] : reason === 'too_large' ? ['memory'] : []);
  expect(scratchOf(0)).toEqual([]);
});

it('makes its profile anew where somebody cleaned up the old one', async () => {
  const engine = engineOf(SOFFICE);
  await convertBytes(engine, folder.path, 'a.txt', 'one');
  execFileSync('rm', ['-rf', join(profileRoot, 'template')]);
  const made = await convertBytes(engine, folder.path, 'a.txt', 'two');
  expect(pdfText(made.path)).toContain('two');
});

it('conversions run beside each other, and closing ends those that run', async () => {
  const engine = engineOf(SOFFICE);
  const one = async (name: string): Promise<string> =>
    pdfText((await convertBytes(engine, folder.path, 'a.docx', textDocx(name))).path);
  expect((await Promise.all(['first', 'second', 'third'].map(one))).map((text) => text.trim())).toEqual([
    'first',
    'second',
    'third',
  ]);
  const before = performance.now();
  await one('alone');
  const alone = performance.now() - before;
  const startedAt = performance.now();
  await Promise.all([one('fourth'), one('fifth')]);
  // Loose: the machine may be busy with other things.
  expect(performance.now() - startedAt).toBeLessThan(2 * alone + 4000);
  const late = one('late');
  await sleep(300);
  await engine.close();
  await expect(late).rejects.toMatchObject({ code: 'shutting_down' });
  await expect(one('later')).rejects.toMatchObject({ code: 'shutting_down' });
  const sockets = readdirSync(folder.path).map((run) =>
    socketPath(join(folder.path, run, 'scratch/libreoffice/profile')),
  );
  expect(sockets.filter((path) => existsSync(path))).toEqual([]);
});

it('where the kernel allows it, a program ends with the service, also one that is killed', async () => {
  const { prefix } = await findIsolation();
  const module = fileURLToPath(new URL('../../dist/convert/processes/process-group.js', import.meta.url));
  const script = `import('${module}').then(({ ProcessGroup }) => {
    const [command, ...args] = ${JSON.stringify([...prefix, 'sleep', '600'])};
    new ProcessGroup({ name: 'x', command, args, workingDirectory: '${folder.path}', owner: 'x', log: () => {},
      environment: { PATH: process.env.PATH, HOME: '${folder.path}' } });
  })`;
  const parent = spawn(process.execPath, ['-e', script]);
  while (processesBelow(folder.path).filter((command) => command.startsWith('sleep')).length === 0) await sleep(50);
  parent.kill('SIGKILL');
  for (let tries = 0; tries < 40 && processesBelow(folder.path).length > 0; tries++) await sleep(50);
  expect(processesBelow(folder.path)).toEqual([]);
});

it('knows the socket that LibreOffice leaves behind where it is killed, whatever the bytes of its name', async () => {
  const padded = (profile: string): string => createHash('md5').update(profileUrl(profile), 'utf16le').digest('hex');
  const names = Array.from({ length: 1000 }, (_value, index) => join(folder.path, `profile-${index}`));
  // A byte below 16, which LibreOffice writes with one digit.
  const profile = names.find((name) => /^(?:..)*0/.test(padded(name))) as string;
  expect(socketPath(profile)).not.toContain(padded(profile));
  const office = spawn(SOFFICE, [`-env:UserInstallation=${profileUrl(profile)}`, '--headless', '--norestore'], {
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, HOME: folder.path },
  });
  try {
    await expect.poll(() => existsSync(socketPath(profile)), { timeout: 30_000 }).toBe(true);
  } finally {
    process.kill(-(office.pid as number), 'SIGKILL');
    rmSync(socketPath(profile), { force: true });
  }
  await expect.poll(() => processesBelow(folder.path), { timeout: 5000 }).toEqual([]);
});
