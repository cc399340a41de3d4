// The command line as a script sees it: the built program, its files, its exit codes (contract D2).
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { buildOfd, textXml } from '../support/ofd-builder.js';
import { withFolder } from '../support/rendering.js';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const input = fileURLToPath(new URL('../cases/B134/input.ofd', import.meta.url));

function run(args: readonly string[], options: { cwd?: string; input?: Buffer } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    ...options,
    maxBuffer: 1 << 26,
  });
  return { status, stdout: stdout.toString(), stderr: stderr.toString(), bytes: stdout };
}

describe('ofd-server convert', () => {
  it('names files after the input where no output is given, pdf by default', () =>
    withFolder((cwd) => {
      expect(run(['convert', input], { cwd }).status).toBe(0);
      expect(readdirSync(cwd)).toEqual(['input.pdf']);
      expect(readFileSync(join(cwd, 'input.pdf')).subarray(0, 5).toString()).toBe('%PDF-');
    }));

  it('takes the format from the extension of -o', () =>
    withFolder((cwd) => {
      expect(run(['convert', input, '-o', 'letters.txt'], { cwd }).status).toBe(0);
      expect(readFileSync(join(cwd, 'letters.txt'), 'utf8').replace(/\s/g, '')).toBe('甲乙');
    }));

  it('writes a file a page into a folder, under the page’s own number', () =>
    withFolder((cwd) => {
      const { status, stdout } = run(
        ['convert', input, '--to', 'png', '--dpi', '36', '--pages', '2', '-o', 'out', '--json'],
        { cwd },
      );
      expect(status).toBe(0);
      expect(readdirSync(join(cwd, 'out'))).toEqual(['page-0002.png']);
      expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({
        ok: true,
        pages: 1,
        files: [join(cwd, 'out', 'page-0002.png')],
      });
    }));

  it('takes options of pictures', () =>
    withFolder((cwd) => {
      const options = ['--to', 'png', '--width', '90', '--background', '#0f08', '--no-annotations', '--pages', '1'];
      expect(run(['convert', input, ...options, '-o', 'out'], { cwd }).status).toBe(0);
      const png = readFileSync(join(cwd, 'out', 'page-0001.png'));
      expect([png.readUInt32BE(16), png[25]]).toEqual([90, 6]);
    }));

  it('fails on a warning that is named', () =>
    withFolder((cwd) => {
      writeFileSync(join(cwd, 'a.ofd'), buildOfd({ pages: [textXml('no font is defined')] }));
      expect(run(['convert', 'a.ofd', '--fail-on', 'glyph_missing'], { cwd }).status).toBe(0);
      const fatal = ['--fail-on', 'glyph_missing, reference_missing', '--fail-on', 'image_missing'];
      const { status, stdout } = run(['convert', 'a.ofd', '--json', '-o', 'b.pdf', ...fatal], { cwd });
      expect(status).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: 'conversion_failed', reason: 'unsupported' });
      expect(stdout).toContain('"--fail-on: reference_missing: ');
      expect(readdirSync(cwd)).toEqual(['a.ofd', 'a.pdf']);
    }));

  it('writes warnings as the service does', () =>
    withFolder((cwd) => {
      const image = '<ofd:ImageObject ID="3" Boundary="0 0 9 9" CTM="9 0 0 9 0 0" ResourceID="99"/>';
      writeFileSync(join(cwd, 'a.ofd'), buildOfd({ pages: [image] }));
      const { warnings } = JSON.parse(run(['convert', 'a.ofd', '--json', '-o', 'a.pdf'], { cwd }).stdout);
      expect(warnings).toMatchObject([{ code: 'image_missing', page: 1, object_id: '3' }]);
      expect(warnings[0]).not.toHaveProperty('objectId');
    }));

  it('takes a name with the format’s extension as the name of the pages', () =>
    withFolder((cwd) => {
      const { status, stderr } = run(['convert', input, '--dpi', '36', '-o', 'a.png'], { cwd });
      expect({ status, stderr }).toEqual({
        status: 0,
        stderr: expect.stringContaining('wrote a-0001.png\nwrote a-0002.png'),
      });
      expect(run(['convert', input, '--dpi', '36', '--pages', '2', '-o', 'b.png'], { cwd }).status).toBe(0);
      expect(readdirSync(cwd)).toEqual(['a-0001.png', 'a-0002.png', 'b.png']);
    }));

  it('reads standard input and writes standard output, with the JSON on standard error', () =>
    withFolder((cwd) => {
      const { status, bytes, stderr } = run(['convert', '-', '--to', 'pdf', '-o', '-', '--json'], {
        cwd,
        input: readFileSync(input),
      });
      expect(status).toBe(0);
      expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
      expect(JSON.parse(stderr.trim().split('\n').at(-1)!)).toMatchObject({ ok: true, pages: 2 });
      expect(readdirSync(cwd)).toEqual([]);
    }));

  it('gives the same bytes each time, in another time zone, locale and folder', () =>
    withFolder((cwd) => {
      mkdirSync(join(cwd, 'other'));
      const one = run(['convert', input, '--to', 'pdf', '-o', '-'], { cwd }).bytes;
      const two = spawnSync(process.execPath, [program, 'convert', input, '--to', 'pdf', '-o', '-'], {
        cwd: join(cwd, 'other'),
        env: { ...process.env, TZ: 'Pacific/Auckland', LC_ALL: 'zh_CN.UTF-8', USER: 'somebody' },
      }).stdout;
      expect(two.equals(one)).toBe(true);
    }));

  it.each([
    [['convert'], 'name the file'],
    [['convert', input, 'two.ofd'], 'one file at a time'],
    [['convert', input, '--to', 'doc'], '--to doc'],
    [['convert', input, '-o', 'x.doc'], 'x.doc'],
    [['convert', input, '--to', 'png', '-o', '-'], 'a file for each page'],
    [['convert', input, '--to', 'png', '--dpi', '5'], '--dpi: 5 is not allowed'],
    [['convert', input, '--to', 'png', '--dpi', '5e1'], '--dpi: "5e1" is not allowed'],
    [['convert', input, '--to', 'pdf', '--dpi', '96'], '--dpi is of no use for pdf'],
    [['convert', input, '--to', 'png', '--dpi', '96', '--width', '5'], '--dpi and --width exclude'],
    [['convert', input, '--to', 'jpeg', '--background', 'transparent'], '--background: "transparent"'],
    [['convert', input, '--fail-on', 'glyph_missing,nothing'], '--fail-on: "nothing"'],
    [['convert', input, '--pages', '3-1'], 'ends before it starts'],
    [['convert', input, '--pages', 'x'], '"x"'],
    [['convert', input, '--nonsense'], 'nonsense'],
    [['convert', input, '-o', 'no/such/x.pdf'], '-o no/such/x.pdf: that folder does not exist'],
    [['convert', input, '--to', 'pdf', '-o', '..'], '-o .. is a folder'],
    [['convert', input, '--to', 'png', '-o', input], 'is a file: png makes a file for each page'],
    [['convert', input, '-o', '/proc/x.pdf'], 'cannot write to /proc: no file can be made there (ENOENT)'],
    [['convert', input, '--to', 'png', '-o', '/proc/x'], 'cannot write to /proc/x: no file can be made there (ENOENT)'],
    [['convert', input, '-o', 'a.pdf', '--output', 'b.pdf'], '--output is given twice'],
    [['convert', input, '--to', 'pdf', '--to', 'txt', '-o', 'a'], '--to is given twice'],
    [['convert', input, '--font-dir', 'no/fonts'], '--font-dir no/fonts: there is no such folder'],
    [['healthcheck', '-c', 'a', '-c', 'b'], '-c is given twice'],
    [['-c', 'a', '-c', 'b', '--check-config'], '-c is given twice'],
    [['convert', './a.pdf'], 'the pdf of ./a.pdf would take its place: name it with -o'],
    [['nonsense'], 'nonsense'],
    [[], 'ofd-server convert IN'],
  ])('exits with 2 for wrong usage: %j', (args, message) =>
    withFolder((cwd) => {
      const { status, stderr } = run(args, { cwd });
      expect(status).toBe(2);
      expect(stderr).toContain(message);
      expect(readdirSync(cwd)).toEqual([]);
    }),
  );

  it('exits with 1, names the reason and leaves nothing for what cannot be converted', () =>
    withFolder((cwd) => {
      writeFileSync(join(cwd, 'a.ofd'), 'no package');
      const { status, stdout } = run(['convert', 'a.ofd', '--json', '-o', 'a.pdf'], { cwd });
      expect(status).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, code: 'conversion_failed', reason: 'not_ofd' });
      const pages = run(['convert', 'a.ofd', '--to', 'png', '-o', 'pages'], { cwd });
      expect(pages.status).toBe(1);
      expect(pages.stderr).toContain('not_ofd');
      const absent = run(['convert', 'absent.ofd'], { cwd });
      expect(absent).toMatchObject({
        status: 1,
        stderr: 'ofd-server convert: absent.ofd: there is no such file (not_found)\n',
      });
      const folder = run(['convert', cwd, '-o', 'a.pdf'], { cwd });
      expect(folder).toMatchObject({
        status: 1,
        stderr: `ofd-server convert: ${cwd}: this is a folder; name a file in it (not_found)\n`,
      });
      expect(run(['convert', input, '--pages', '9'], { cwd }).stderr).toContain('a document of 2');
      expect(readdirSync(cwd)).toEqual(['a.ofd']);
    }));

  it('exits with 130 when interrupted, and leaves nothing', () =>
    withFolder(async (cwd) => {
      const long = fileURLToPath(new URL('../cases/B193/input.ofd', import.meta.url));
      const child = spawn(process.execPath, [program, 'convert', long, '--to', 'png', '-o', 'out'], { cwd });
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      for (
        let tries = 0;
        tries < 200 && !(existsSync(join(cwd, 'out')) && readdirSync(join(cwd, 'out'), { recursive: true }).length > 2);
        tries++
      ) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      child.kill('SIGINT');
      expect(await ended).toBe(130);
      expect(readdirSync(cwd)).toEqual([]);
    }));

  it('ends at once when interrupted in the middle of a page that takes long, and leaves nothing', () =>
    withFolder(async (cwd) => {
      const stop = (value: string) => `<ofd:Segment><ofd:Color Value="${value}"/></ofd:Segment>`;
      const shaded =
        '<ofd:PathObject ID="9" Boundary="0 0 210 297" Fill="true" Stroke="false"><ofd:FillColor>' +
        `<ofd:RadialShd StartPoint="10 9" EndPoint="100 50" StartRadius="3" EndRadius="9" Extend="3">${stop('1 2 3')}${stop('1 200 3')}</ofd:RadialShd>` +
        '</ofd:FillColor><ofd:AbbreviatedData>M 0 0 L 210 0 L 210 297 L 0 297 C</ofd:AbbreviatedData></ofd:PathObject>';
      const input = join(tmpdir(), `ofd-server-long-${process.pid}.ofd`);
      writeFileSync(input, buildOfd({ pages: [shaded.repeat(1000)] }));
      const child = spawn(process.execPath, [program, 'convert', input, '--to', 'png', '-o', 'out', '--dpi', '300'], {
        cwd,
        stdio: 'ignore',
      });
      const ended = new Promise<unknown>((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
      while (!existsSync(join(cwd, 'out'))) await new Promise((resolve) => setTimeout(resolve, 20));
      await new Promise((resolve) => setTimeout(resolve, 2000));
      const start = performance.now();
      child.kill('SIGINT');
      // Where a call into a library is running, the signal itself ends the process; shells make 130 of both.
      expect([130, 'SIGINT']).toContain(await ended);
      expect(performance.now() - start).toBeLessThan(2500);
      rmSync(input);
      expect(readdirSync(cwd)).toEqual([]);
    }));

  it('never loads the modules of the daemon', () =>
    withFolder((cwd) => {
      const trace = spawnSync(
        process.execPath,
        ['--trace-exit', '--input-type=module', '-e', LOADED_MODULES, program, input],
        { cwd, encoding: 'utf8' },
      );
      const loaded = trace.stdout.trim().split('\n');
      // The engine's own modules are loaded by its thread.
      expect(loaded.some((url) => url.includes('/dist/convert/converter.js'))).toBe(true);
      expect(
        loaded.filter((url) => /fastify|better-sqlite3|\bpino\b|prom-client|dist\/(http|jobs|app|config)/.test(url)),
      ).toEqual([]);
    }));
});

/** Runs `convert` in this process with a loader hook that notes every module asked for. */
const LOADED_MODULES = `
import { register } from 'node:module';
import { MessageChannel } from 'node:worker_threads';
const { port1, port2 } = new MessageChannel();
const names = [];
port1.on('message', (name) => names.push(name));
port1.unref();
register('data:text/javascript,' + encodeURIComponent(
  'let port; export function initialize(data) { port = data; }' +
  'export async function load(url, context, next) { port.postMessage(url); return next(url, context); }'
), { parentURL: import.meta.url, data: port2, transferList: [port2] });
const [program, input] = process.argv.slice(1);
process.argv = [process.execPath, program, 'convert', input, '-o', 'out.pdf'];
await import(program);
await new Promise((resolve) => setTimeout(resolve, 3000));
console.log(names.join('\\n'));
`;

describe('ofd-server', () => {
  it('tells its version and its usage', () => {
    const { version } = JSON.parse(
      readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
    ) as { version: string };
    expect(run(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n` });
    expect(run(['--help']).stdout).toContain('--check-config');
    const { status, stdout } = run(['convert', '--help']);
    expect(status).toBe(0);
    for (const word of ['pdf', 'html', 'json', 'webp', '--quality', '--fail-on']) expect(stdout).toContain(word);
  });
});
