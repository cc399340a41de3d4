// Every command of the READMEs, run as a reader would: in a copy of the tree, through the shell.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOfPdf } from './support/rendering.js';
import { unitEnvironment } from './support/unit.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const NOT_COPIED = ['node_modules', '.git', 'data', 'test'];
let tree = '';

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), 'ofd-server-readme-'));
  for (const name of readdirSync(root)) {
    if (!NOT_COPIED.includes(name))
      cpSync(join(root, name), join(tree, name), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

function shellBlocks(file: string): readonly string[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]!.trim());
}

const blocks = shellBlocks('README.md');
const [run, test, commandLine, service, container] = blocks;

async function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return () => text;
}

/** The environment of the process of that program that has the variable. */
function environmentOf(program: string, variable: string): string[] {
  const wordsOf = (pid: string, file: string): string[] => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
    } catch {
      return [];
    }
  };
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && wordsOf(pid, 'cmdline').some((word) => word.endsWith(program)))
    .map((pid) => wordsOf(pid, 'environ'))
    .find((words) => words.includes(variable))!;
}

async function until(what: string, holds: () => boolean | Promise<boolean>, output: () => string): Promise<void> {
  for (let attempt = 0; attempt < 1200; attempt++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} did not happen within two minutes:\n${output()}`);
}

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    (answer) => answer.ok,
    () => false,
  );

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)));
}

describe('the READMEs', () => {
  it('have the same commands in both languages', () => {
    expect(shellBlocks('README.zh-CN.md')).toEqual(blocks);
    expect(blocks).toHaveLength(5);
  });

  it('link to files that exist', () => {
    for (const readme of ['README.md', 'README.zh-CN.md']) {
      const links = [...readFileSync(join(root, readme), 'utf8').matchAll(/\]\(([^)#:]+)\)/g)].map(
        (match) => match[1]!,
      );
      expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
    }
  });

  it('map every folder and file at the top of src/', () => {
    for (const readme of ['README.md', 'README.zh-CN.md']) {
      const text = readFileSync(join(root, readme), 'utf8');
      const unnamed = readdirSync(join(root, 'src')).filter((name) => {
        const shown = statSync(join(root, 'src', name)).isDirectory() ? `\`${name}/\`` : `\`${name}\``;
        return !text.includes(shown);
      });
      expect(unnamed).toEqual([]);
    }
  });

  it('make run: the printed curl line gives a PDF of the invoice, and the key is kept private', {
    timeout: 180_000,
  }, async () => {
    expect(run).toBe('make run');
    const port = await freePort();
    const child = spawn('make', ['run'], {
      cwd: tree,
      env: { ...process.env, OFD_SERVER_LISTEN: `127.0.0.1:${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const output = collect(child);
    try {
      await until('the curl line', () => output().includes('-o invoice.pdf'), output);
      await until('readiness', () => isReady(port), output);
      const line = /^ {2}(base64[\s\S]*?-o invoice\.pdf)$/m.exec(output())![1]!;
      execFileSync('bash', ['-c', line], { cwd: tree });
      expect(textOfPdf(join(tree, 'invoice.pdf')).replace(/\s/g, '')).toContain('伍仟伍佰捌拾圆整');
      expect(statSync(join(tree, 'data/api-key')).mode & 0o777).toBe(0o600);
      expect(environmentOf('main.js', `OFD_SERVER_LISTEN=127.0.0.1:${port}`)).toEqual(
        expect.arrayContaining(unitEnvironment(root).filter((variable) => variable !== 'NODE_ENV=production')),
      );
      const key = readFileSync(join(tree, 'data/api-key'), 'utf8').trim();
      const logLines = output()
        .split('\n')
        .filter((text) => text.startsWith('{'));
      expect(logLines.length).toBeGreaterThan(0);
      expect(logLines.filter((text) => text.includes(key))).toEqual([]);
    } finally {
      process.kill(-child.pid!, 'SIGINT');
    }
    await ended(child);
  });

  it('make test is what CI runs', () => {
    expect(test).toBe('make test');
    expect(readFileSync(join(root, '.ci/run'), 'utf8')).toMatch(/^make test\b/m);
  });

  it('the container runs with the volumes, the port and the key of the image', () => {
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    const volumes = JSON.parse(/^VOLUME (.*)$/m.exec(dockerfile)![1]!) as string[];
    const [build, start] = container!.replaceAll(/\\\n\s*/g, '').split('\n');
    expect(build).toBe('docker build -t ofd-server .');
    expect([...start!.matchAll(/-v [\w-]+:(\S+)/g)].map((match) => match[1])).toEqual(volumes);
    expect(start).toContain(`-p 9705:${/^EXPOSE (\d+)$/m.exec(dockerfile)![1]} `);
    // Docker's own ten seconds are less than shutdown_grace: what runs for longer would count as crashed.
    expect(Number(/--stop-timeout (\d+) /.exec(start!)?.[1])).toBeGreaterThan(30);
    expect(start).toMatch(/^docker run .* -e OFD_SERVER_API_KEY=.* ofd-server$/);
    expect(existsSync(join(root, 'deploy/compose.yaml'))).toBe(true);
  });

  it('the command line works as written', { timeout: 120_000 }, () => {
    const { status, stdout, stderr } = spawnSync('bash', ['-euc', commandLine!], { cwd: tree, encoding: 'utf8' });
    expect({ status, stderr: stderr.includes('failed') }).toEqual({ status: 0, stderr: false });
    expect(stdout).toContain('样例服务有限公司');
    expect(readdirSync(join(tree, 'pages'))).toEqual(['page-0001.png']);
    expect(readdirSync(join(tree, 'drawings'))).toEqual(['page-0001.svg']);
    const answer = JSON.parse(stdout.trim().split('\n').at(-1)!) as { ok: boolean; pages: number };
    expect(answer).toMatchObject({ ok: true, pages: 1 });
  });

  it('the service starts as written, with the example configuration', { timeout: 60_000 }, async () => {
    const port = await freePort();
    const data = join(tree, 'service');
    const child = spawn('bash', ['-euc', service!], {
      cwd: tree,
      env: {
        ...process.env,
        OFD_SERVER_LISTEN: `127.0.0.1:${port}`,
        OFD_SERVER_DB_PATH: join(data, 'jobs.db'),
        OFD_SERVER_TEMP_DIR: join(data, 'tmp'),
        OFD_SERVER_OUTPUT_DIR: join(data, 'out'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const output = collect(child);
    try {
      await until('readiness', () => isReady(port), output);
      const answer = await fetch(`http://127.0.0.1:${port}/v1/stats`, {
        headers: { authorization: 'Bearer change-me' },
      });
      expect(answer.status).toBe(200);
    } finally {
      process.kill(-child.pid!, 'SIGTERM');
    }
    await ended(child);
  });
});
