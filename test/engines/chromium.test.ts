// Chromium, the real one: HTML and MHTML become the PDF that they should (contract B1, B4, X1), whatever their encoding,
// side by side, and what hangs or crashes takes nothing else along (contract R3).
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../src/convert/chromium/browser.js';
import type { BrowserEnd } from '../../src/convert/chromium/pool.js';
import { ChromiumEngine, type ChromiumOptions, findChrome } from '../../src/convert/engines/chromium.js';
import type { EngineRun } from '../../src/convert/engines/engine.js';
import type { Isolation } from '../../src/convert/processes/isolation.js';
import { ServiceError } from '../../src/errors.js';
import { temporaryFolder } from '../support/jobs.js';
import { convertBytes, type Made, pdfText } from '../support/office.js';
import { archive, PIXEL, processesUnder } from '../support/web.js';

const CHROME = findChrome('') as string;

let folder: { path: string; remove(): void };
let engine: ChromiumEngine;

beforeAll(() => {
  folder = temporaryFolder('chromium');
  engine = start('shared');
});
afterAll(async () => {
  await engine.close();
  expect(await processesUnder(folder.path)).toEqual([]);
  expect(readdirSync(join(folder.path, 'shared')).filter((name) => name.startsWith('chromium-'))).toEqual([]);
  folder.remove();
});

function start(name: string, changes: Partial<ChromiumOptions> = {}): ChromiumEngine {
  const profileRoot = join(folder.path, name);
  mkdirSync(profileRoot);
  return new ChromiumEngine({ program: CHROME, noSandbox: false, profileRoot, fontDirs: [], ...changes });
}

const convert = (bytes: string | Uint8Array, changes: Partial<EngineRun> = {}, name = 'a.html'): Promise<Made> =>
  convertBytes(engine, folder.path, name, bytes, changes);

const info = (path: string): string => execFileSync('pdfinfo', [path], { encoding: 'utf8' });
/** Width and height of the first page in millimetres. */
function sizeOf(path: string): number[] {
  const [, width, height] = /^Page size:\s+([\d.]+) x ([\d.]+) pts/m.exec(info(path)) ?? [];
  return [width, height].map((side) => Math.round((Number(side) * 25.4) / 72));
}

/** Left and top of the word in millimetres. */
function placeOf(path: string, word: string): readonly [number, number] {
  const boxes = execFileSync('pdftotext', ['-bbox', path, '-'], { encoding: 'utf8' });
  const [, left, top] = new RegExp(`xMin="([\\d.]+)" yMin="(-?[\\d.]+)"[^>]*>${word}<`).exec(boxes) ?? [];
  return [Math.round((Number(left) * 25.4) / 72) + 0, Math.round((Number(top) * 25.4) / 72) + 0];
}

/** Colours of a pixel of the first page, at 72 dots an inch. */
function pixel(path: string, x: number, y: number): number[] {
  const picture = execFileSync('pdftoppm', ['-r', '72', '-x', `${x}`, '-y', `${y}`, '-W', '1', '-H', '1', path]);
  return [...picture.subarray(-3)];
}

/** Each process that works under a folder, but the program of that name; one may take others along. */
async function killAllUnder(path: string, spared?: string): Promise<void> {
  let killed = 0;
  while (killed === 0) killed = await killUnder(path, spared);
}

async function killUnder(path: string, spared: string | undefined): Promise<number> {
  let killed = 0;
  for (const pid of await processesUnder(path)) {
    try {
      if (readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === spared) continue;
      process.kill(pid, 'SIGKILL');
      killed += 1;
    } catch (error) {
      if (!['ESRCH', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return killed;
}

describe('a page', () => {
  it('has its words, its title, and embedded fonts that can write them', async () => {
    const made = await convert(
      '<!doctype html><meta charset="utf-8"><title>年度报告</title><h1>中文文档：年度报告</h1><p style="font-family:宋体">宋体正文 Report 2024</p>',
    );
    const text = pdfText(made.path);
    for (const words of ['中文文档：年度报告', '宋体正文 Report 2024']) expect(text).toContain(words);
    expect(made).toMatchObject({ pages: 1, warnings: [], opened: ['html'] });
    expect(info(made.path)).toMatch(/^Title:\s+年度报告$/m);
    expect(info(made.path)).toMatch(/^Creator:\s+ofd-server$/m);
    const fonts = execFileSync('pdffonts', [made.path], { encoding: 'utf8' }).trim().split('\n').slice(2);
    expect(fonts.length).toBeGreaterThan(0);
    for (const font of fonts) expect(font).toMatch(/ yes (?:yes|no) +yes /);
    execFileSync('qpdf', ['--check', made.path]);
  });

  it('keeps characters that no font has, draws boxes for them, and names them', async () => {
    const made = await convert('<!doctype html><meta charset="utf-8"><p>甲𒀀𒀁乙𓀀丙</p><p lang="sux">𒀀</p>');
    expect(pdfText(made.path)).toMatch(/甲𒀀𒀁乙𓀀丙[\s\S]*𒀀/);
    const message = 'No face has these characters; a box is drawn for each';
    expect(made.warnings).toEqual([{ code: 'glyph_missing', message, characters: '𒀀𒀁𓀀' }]);
    await expect(convert('<p>&#x12000;', { options: { failOn: ['glyph_missing'] } })).rejects.toMatchObject({
      code: 'conversion_failed',
      message: `fail_on: glyph_missing: ${message}`,
    });
  });

  it('without a title has none, and links that lead where they led', async () => {
    const made = await convert(
      '<p>words <a href="more.html">more</a> <a href="https://example.com/a?b=(c)">away</a> <a href="#end">down</a><p id="end">end',
    );
    expect(info(made.path)).not.toMatch(/^Title/m);
    const pdf = readFileSync(made.path, 'latin1');
    expect([...pdf.matchAll(/\/URI\s+(\((?:\\.|[^)])*\))/g)].map(([, link]) => link)).toEqual([
      '(more.html)',
      '(https://example.com/a?b=\\(c\\))',
    ]);
    expect(pdf).not.toContain('document.invalid');
    execFileSync('qpdf', ['--check', made.path]);
  });

  it('shows pictures, style sheets and fonts that it carries', async () => {
    const font = readFileSync('/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf').toString('base64');
    const made = await convert(
      `<!doctype html><link rel="stylesheet" href="data:text/css,body%7Bmargin:0%7D">
       <style>@page{margin:0} @font-face{font-family:own;src:url(data:font/ttf;base64,${font})} @media print{p{font-family:own}}</style>
       <img style="display:block;width:100px;height:100px" src="data:image/png;base64,${PIXEL}"><p>words</p>
       <img loading="lazy" style="display:block;margin-top:2000px;width:100px;height:100px" src="data:image/png;base64,${PIXEL}">`,
    );
    expect(made.warnings).toEqual([]);
    expect(pixel(made.path, 30, 30)).toEqual([255, 0, 0]);
    expect(execFileSync('pdffonts', [made.path], { encoding: 'utf8' })).toContain('DejaVuSansMono');
    expect(execFileSync('pdfimages', ['-list', made.path], { encoding: 'utf8' }).trim().split('\n').length).toBe(4);
  });

  it('is set in a face of the kind that it names, where that itself is not there', async () => {
    const picture = async (family: string): Promise<Buffer> => {
      const { path } = await convert(`<meta charset="utf-8"><p style="font-family:'${family}'">中华人民共和国 invoice`);
      return execFileSync('pdftoppm', ['-r', '72', '-H', '100', path]);
    };
    const [serif, sans] = [await picture('Noto Serif CJK SC'), await picture('Noto Sans CJK SC')];
    expect(serif.equals(sans)).toBe(false);
    for (const name of ['宋体', '楷体', 'FangSong', '方正小标宋简体']) {
      expect((await picture(name)).equals(serif), name).toBe(true);
    }
    for (const name of ['黑体', 'Microsoft YaHei']) expect((await picture(name)).equals(sans), name).toBe(true);
  });

  it('runs no script and shows what stands in for it', async () => {
    const made = await convert(
      '<p>before</p><script>document.write("written")</script><noscript>without</noscript><img src="data:," onerror="document.body.append(`handled`)"><svg><script>document.documentElement.append("drawn")</script></svg>',
    );
    expect(pdfText(made.path)).toMatch(/before\s+without/);
    expect(pdfText(made.path)).not.toMatch(/written|handled|drawn/);
  });

  it.each([
    ['UTF-8 that is not declared', Buffer.from('<p>中文文档')],
    ['UTF-8 with a mark', Buffer.from('\ufeff<p>中文文档')],
    ['UTF-16 with a mark', Buffer.from('\ufeff<p>中文文档', 'utf16le')],
    ['UTF-16 without one', Buffer.from('<p>中文文档', 'utf16le')],
    [
      'GBK, declared',
      Buffer.from([...Buffer.from('<meta charset="gb2312"><p>'), 0xd6, 0xd0, 0xce, 0xc4, 0xce, 0xc4, 0xb5, 0xb5]),
    ],
    ['GBK that is not declared', Buffer.from([...Buffer.from('<p>'), 0xd6, 0xd0, 0xce, 0xc4, 0xce, 0xc4, 0xb5, 0xb5])],
    [
      'GBK, declared as HTML 4 does',
      Buffer.from([
        ...Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=GBK"><p>'),
        ...[0xd6, 0xd0, 0xce, 0xc4, 0xce, 0xc4, 0xb5, 0xb5],
      ]),
    ],
    [
      'Big5, declared by XML',
      Buffer.from([
        ...Buffer.from('<?xml version="1.0" encoding="Big5"?><html><p>'),
        ...[0xa4, 0xa4, 0xa4, 0xe5, 0xa4, 0xe5, 0xc0, 0xc9],
      ]),
    ],
  ])('is read in %s', async (what, bytes) => {
    expect(pdfText((await convert(bytes)).path)).toContain(what.startsWith('Big5') ? '中文文檔' : '中文文档');
  });

  it.each([
    ['a package', Buffer.from('PK\x03\x04\0\0\0\0')],
    ['a picture', Buffer.from(PIXEL, 'base64')],
  ])('is no %s', async (_what, bytes) => {
    await expect(convert(bytes)).rejects.toMatchObject({ code: 'conversion_failed', reason: 'corrupt' });
  });
});

describe('an archive', () => {
  it('has its words, its pictures, its style and its frames', async () => {
    const made = await convert(
      archive({
        html: '<meta charset="utf-8"><link rel="stylesheet" href="cid:style@a"><h1>中文存档</h1><img src="img/a.png"><img src="cid:picture@a"><iframe src="cid:frame@a"></iframe><script>document.write("written")</script>',
        parts: [
          [
            'text/css',
            'Content-ID: <style@a>\r\nContent-Location: cid:style@a',
            Buffer.from('@page{margin:0}body{margin:0}h1{margin:0;color:#00f}img{width:80px;height:80px}'),
          ],
          ['image/png', 'Content-Location: https://example.com/img/a.png', Buffer.from(PIXEL, 'base64')],
          ['image/png', 'Content-ID: <picture@a>\r\nContent-Location: cid:picture@a', Buffer.from(PIXEL, 'base64')],
          [
            'text/html',
            'Content-ID: <frame@a>\r\nContent-Location: https://example.com/frame',
            Buffer.from('<p>inside'),
          ],
        ],
      }),
      {},
      'a.mhtml',
    );
    expect(pdfText(made.path)).toMatch(/中文存档[\s\S]*inside/);
    expect(pdfText(made.path)).not.toContain('written');
    expect(pixel(made.path, 20, 120)).toEqual([255, 0, 0]);
    expect(made.opened).toEqual(['mhtml']);
    expect(info(made.path)).not.toContain('document.mhtml');
  });

  it('is told from what is none', async () => {
    await expect(convert('<p>words', {}, 'a.mhtml')).rejects.toMatchObject({
      code: 'conversion_failed',
      reason: 'corrupt',
    });
  });
});

describe('paper', () => {
  const words = '<body style="margin:0"><p style="margin:0">words';

  it('that is a label has room for its words', async () => {
    const made = await convert('<body style="margin:0;font-size:8pt">label', { options: { paper: '30x20' } });
    expect([sizeOf(made.path), placeOf(made.path, 'label')]).toEqual([
      [30, 20],
      [5, 5],
    ]);
    expect(made.pages).toBe(1);
  });

  it('is A4 upright with margins of 10 mm, unless the document or the client says otherwise', async () => {
    const plain = await convert(words);
    expect([sizeOf(plain.path), placeOf(plain.path, 'words')]).toEqual([
      [210, 297],
      [10, 10],
    ]);
    const own = await convert(`<style>@page{size:A5;margin:50mm}</style>${words}`);
    expect([sizeOf(own.path), placeOf(own.path, 'words')]).toEqual([
      [148, 210],
      [50, 50],
    ]);
  });

  it.each([
    [{ paper: 'A3' }, [297, 420], [10, 10]],
    [{ paper: 'letter', margins: '0' }, [216, 279], [0, 0]],
    [{ landscape: true }, [297, 210], [10, 10]],
    [{ paper: '100x150', landscape: true, margins: '5,6,7,20' }, [150, 100], [20, 5]],
  ] as const)('%j counts, also before an @page', async (options, size, place) => {
    for (const style of ['', '<style>@page{size:B4 landscape}</style>']) {
      const made = await convert(style + words, { options });
      expect([sizeOf(made.path), placeOf(made.path, 'words')]).toEqual([size, place]);
    }
    const margins = await convert(`<style>@page{margin:70mm}</style>${words}`, { options: { margins: '15' } });
    expect(placeOf(margins.path, 'words')).toEqual([15, 15]);
  });

  it('has its backgrounds, unless they are not wanted', async () => {
    const page = '<style>@page{margin:0}body{margin:0}div{height:200px;background:#0a0}</style><div></div>';
    expect(pixel((await convert(page)).path, 50, 50)).toEqual([0, 170, 0]);
    expect(pixel((await convert(page, { options: { printBackground: false } })).path, 50, 50)).toEqual([255, 255, 255]);
  });
});

describe('conversions', () => {
  it('give the same bytes for the same document, alone and side by side, in any browser', async () => {
    const page = `<meta charset="utf-8"><title>标题</title>${'<h1>中文</h1><p><a href="#x">link</a> words</p>'.repeat(40)}`;
    const other = start('other');
    try {
      const made = await Promise.all([
        ...Array.from({ length: 4 }, () => convert(page)),
        convertBytes(other, folder.path, 'a.html', page),
      ]);
      await sleep(1100);
      made.push(await convert(page));
      const [first, ...rest] = made.map(({ path }) => readFileSync(path));
      for (const bytes of rest) expect(bytes.equals(first as Buffer)).toBe(true);
      expect(first?.toString('latin1')).not.toMatch(/CreationDate|ModDate/);
    } finally {
      await other.close();
    }
  });

  it('keep their documents apart', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, (_value, index) => convert(`<p>number ${index}`)));
    expect(made.map(({ path }) => pdfText(path).trim())).toEqual(made.map((_made, index) => `number ${index}`));
  });

  it('write no more than they may, and leave nothing of it', async () => {
    const { OutputFiles } = await import('../../src/convert/output-files.js');
    const products = join(folder.path, 'limited');
    mkdirSync(products);
    const output = new OutputFiles(products, { document: () => 'output.pdf', page: () => 'page' }, 5000);
    const page = `<img src="data:image/png;base64,${PIXEL}">${'<p>words'.repeat(3000)}`;
    await expect(convert(page, { output })).rejects.toMatchObject({ code: 'output_too_large' });
    expect(readdirSync(products)).toEqual([]);
  });

  it('names what was not fetched as the document does', async () => {
    const made = await convert('<img src="http://a.example/x.png"><img src="https://a.example/x.png">');
    expect(made.warnings.map(({ message }) => message)).toEqual([
      'img http://a.example/x.png is not in the document and was not fetched',
      'img https://a.example/x.png is not in the document and was not fetched',
    ]);
  });

  it('refuse a document that is too large, and fail on a warning where they are told to', async () => {
    await expect(convert(Buffer.alloc(64 * 1024 * 1024 + 1, 0x20))).rejects.toMatchObject({
      code: 'conversion_failed',
      reason: 'too_large',
    });
    await expect(
      convert('<img src="https://a.example/x.png">', { options: { failOn: ['resource_blocked'] } }),
    ).rejects.toMatchObject({ code: 'conversion_failed', reason: 'unsupported' });
  });
});

/** Takes seconds to print. */
const LONG = '<p style="break-before:page">x'.repeat(2500);
/** A drawing of 10^12 squares: never drawn. */
const ENDLESS = `<svg>${'<g id="g0"><rect width="1" height="1"/></g>'}${Array.from(
  { length: 12 },
  (_value, level) => `<g id="g${level + 1}">${`<use href="#g${level}"/>`.repeat(10)}</g>`,
).join('')}</svg>`;

describe('what does not end by itself', () => {
  it('is stopped at once, and what runs beside it goes on', async () => {
    const stop = new AbortController();
    const reason = new ServiceError('conversion_timeout', 'too long', { reason: 'timeout' });
    const pending = convert(ENDLESS, { signal: stop.signal });
    pending.catch(() => undefined);
    await sleep(1500);
    const beside = convert(`<p>beside</p>${'<p>words</p>'.repeat(2000)}`);
    await sleep(200);
    const stoppedAt = performance.now();
    stop.abort(reason);
    await expect(pending).rejects.toBe(reason);
    expect(performance.now() - stoppedAt).toBeLessThan(2000);
    expect(pdfText((await beside).path)).toContain('beside');
    expect(pdfText((await convert('<p>after')).path)).toContain('after');
  });

  it('stops where the browser itself does not start', async () => {
    const program = join(folder.path, 'deaf-chrome');
    writeFileSync(
      program,
      '#!/bin/bash\ntrap "" TERM INT HUP\nhead -c 5000000 /dev/zero | tr "\\0" x >&2\nsleep 1000 &\nwhile true; do sleep 1; done\n',
    );
    chmodSync(program, 0o755);
    const deaf = start('deaf', { program });
    const stop = new AbortController();
    const pending = convertBytes(deaf, folder.path, 'a.html', '<p>words', { signal: stop.signal });
    pending.catch(() => undefined);
    await sleep(1000);
    const stoppedAt = performance.now();
    stop.abort(new ServiceError('cancelled', 'no'));
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
    expect(performance.now() - stoppedAt).toBeLessThan(2000);
    expect(await processesUnder(join(folder.path, 'deaf'))).toEqual([]);
    await deaf.close();
  });

  it('is an error that names the program where it ends at once', async () => {
    const program = join(folder.path, 'dying-chrome');
    writeFileSync(program, '#!/bin/sh\necho "No usable sandbox!" >&2\nexit 1\n');
    chmodSync(program, 0o755);
    const dying = start('dying', { program });
    await expect(convertBytes(dying, folder.path, 'a.html', '<p>words')).rejects.toMatchObject({
      code: 'engine_crashed',
      message: expect.stringMatching(/dying-chrome\) does not start: .*; it printed: No usable sandbox!/),
    });
    await dying.close();
  });

  it('names the key where the browser may lack what its own sandbox needs', async () => {
    const program = join(folder.path, 'silent-chrome');
    writeFileSync(program, '#!/bin/sh\nexit 1\n');
    chmodSync(program, 0o755);
    const settings = {
      program,
      profileRoot: folder.path,
      environment: {},
      prefix: [],
      owner: 'a',
      maxResidentBytes: 1e9,
    };
    const messageWith = (noSandbox: boolean): Promise<string> =>
      Browser.start({ ...settings, noSandbox }, () => undefined, new AbortController().signal).then(
        () => '',
        (error: Error) => error.message,
      );
    expect(await messageWith(false)).toMatch(/needs user namespaces: .* chrome_no_sandbox/);
    expect(await messageWith(true)).toMatch(/does not start: (?!.*sandbox)/);
  });
});

describe('a browser', () => {
  it('starts in a folder whose path is longer than that of a socket may be', async () => {
    const deep = start(`deep-${'x'.repeat(100)}`);
    expect(pdfText((await convertBytes(deep, folder.path, 'a.html', '<p>words')).path)).toContain('words');
    await deep.close();
  });

  it('that crashed is replaced; a conversion that it took along says so', async () => {
    const ends: BrowserEnd[] = [];
    const fragile = start('fragile', { onBrowserEnd: (reason) => ends.push(reason) });
    try {
      await convertBytes(fragile, folder.path, 'a.html', '<p>first');
      const pending = convertBytes(fragile, folder.path, 'a.html', ENDLESS);
      pending.catch(() => undefined);
      await sleep(1000);
      await killAllUnder(join(folder.path, 'fragile'));
      await expect(pending).rejects.toMatchObject({ code: 'engine_crashed' });
      expect(pdfText((await convertBytes(fragile, folder.path, 'a.html', '<p>second')).path)).toContain('second');
      expect(ends).toEqual(['crashed']);
    } finally {
      await fragile.close();
    }
  });

  it('that ends under several conversions: each of them is tried once more, by itself', {
    timeout: 120_000,
  }, async () => {
    const ends: BrowserEnd[] = [];
    const shared = start('lost', { onBrowserEnd: (reason) => ends.push(reason) });
    try {
      await convertBytes(shared, folder.path, 'a.html', '<p>first');
      const stop = new AbortController();
      const guilty = convertBytes(shared, folder.path, 'a.html', ENDLESS, { signal: stop.signal });
      guilty.catch(() => undefined);
      const innocent = ['one', 'two'].map((word) =>
        convertBytes(shared, folder.path, 'a.html', `<p>${word}</p>${LONG}`),
      );
      await sleep(1500);
      await killAllUnder(join(folder.path, 'lost'));
      setTimeout(() => stop.abort(new ServiceError('conversion_timeout', 'too long')), 12_000);
      const texts = (await Promise.all(innocent)).map(({ path }) => pdfText(path).trim().slice(0, 3));
      expect(texts).toEqual(['one', 'two']);
      await expect(guilty).rejects.toMatchObject({ code: 'conversion_timeout' });
      expect(ends[0]).toBe('crashed');
      expect(ends.slice(1)).not.toContain('crashed');
    } finally {
      await shared.close();
    }
  });

  it('that crashed is known to have, also where its end is told late', async () => {
    const ends: BrowserEnd[] = [];
    const wrapper = join(folder.path, 'late-end');
    writeFileSync(wrapper, '#!/bin/sh\n"$@" &\nexec 3>&- 4>&-\nwait\nsleep 1\n');
    chmodSync(wrapper, 0o755);
    const isolation: Isolation = { hasNoNetwork: false, hasOwnProcesses: false, prefix: [wrapper] };
    const slow = start('late', { onBrowserEnd: (reason) => ends.push(reason), isolation });
    try {
      const pending = convertBytes(slow, folder.path, 'a.html', LONG);
      pending.catch(() => undefined);
      await sleep(2000);
      await killAllUnder(join(folder.path, 'late'), 'late-end');
      await expect(pending).rejects.toMatchObject({ code: 'engine_crashed' });
      expect(ends).toEqual(['crashed']);
    } finally {
      await slow.close();
    }
  });

  it('is replaced after so many conversions, and ends when it has nothing to do', async () => {
    const ends: BrowserEnd[] = [];
    const short = start('short', {
      conversionsPerBrowser: 2,
      idleMs: 100,
      onBrowserEnd: (reason) => ends.push(reason),
    });
    try {
      for (const words of ['one', 'two', 'three']) await convertBytes(short, folder.path, 'a.html', `<p>${words}`);
      expect(ends).toEqual(['recycled']);
      await sleep(1500);
      expect(ends).toEqual(['recycled', 'recycled']);
      expect(await processesUnder(join(folder.path, 'short'))).toEqual([]);
    } finally {
      await short.close();
    }
  });

  it('that takes too much memory is ended, and the document is too large', async () => {
    const tight = start('tight', { maxResidentBytes: 100 * 1024 * 1024 });
    try {
      await expect(convertBytes(tight, folder.path, 'a.html', ENDLESS)).rejects.toMatchObject({
        code: 'conversion_failed',
        reason: 'too_large',
      });
    } finally {
      await tight.close();
    }
  });
});

it('a browser starts also where its folder was not there at first, or was cleaned up since', async () => {
  const profileRoot = join(folder.path, 'absent', 'profiles');
  writeFileSync(join(folder.path, 'absent'), '');
  const late = new ChromiumEngine({
    program: CHROME,
    noSandbox: false,
    profileRoot,
    fontDirs: [],
    conversionsPerBrowser: 1,
  });
  const print = (): Promise<Made> => convertBytes(late, folder.path, 'a.html', '<p>words');
  await expect(print()).rejects.toThrow();
  rmSync(join(folder.path, 'absent'));
  expect((await print()).pages).toBe(1);
  rmSync(profileRoot, { recursive: true, force: true });
  expect((await print()).pages).toBe(1);
  expect(readdirSync(profileRoot)).toContain('fonts.conf');
  await late.close();
});
