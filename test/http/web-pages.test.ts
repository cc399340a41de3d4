// HTML and Markdown through the whole service, with the real engines: pairs over several steps, time limits, the log.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type JobAnswer, json, startTestService, type TestService } from '../support/service.js';
import { processesUnder } from '../support/web.js';

let service: TestService;
afterEach(async () => {
  const { folder } = service;
  await service.close();
  expect(await processesUnder(folder)).toEqual([]);
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const request = (name: string, text: string, output: object): object => ({
  input: { kind: 'upload', file_name: name, bytes: base64(text) },
  output,
});

async function converted(name: string, text: string, output: object): Promise<JobAnswer> {
  return service.ended((await json<JobAnswer>(service.convert(request(name, text, { kind: 'dir', ...output })))).id);
}

async function product(job: JobAnswer, name = job.output.files[0]): Promise<Buffer> {
  return Buffer.from(await (await service.call(`/v1/jobs/${job.id}/content?name=${name}`)).arrayBuffer());
}

const textOf = (pdf: Buffer): string => execFileSync('pdftotext', ['-', '-'], { input: pdf, encoding: 'utf8' });

describe('pages', () => {
  it('become everything that a PDF becomes, with the options of each step', async () => {
    service = await startTestService({}, 'real');
    const page = '<p>中文第一页</p><p style="break-before:page">second page</p>';
    const pdf = await converted('a.html', page, { format: 'pdf', options: { paper: 'A5', margins: '20' } });
    expect(pdf).toMatchObject({ state: 'succeeded', lane: 'heavy', from_actual: 'html' });
    expect(textOf(await product(pdf))).toMatch(/中文第一页[\s\S]*second page/);
    const second = await converted('a.html', page, { format: 'pdf', options: { pages: '2' } });
    expect(textOf(await product(second)).trim()).toBe('second page');
    const pictures = await converted('a.html', page, { format: 'png', options: { paper: '100x100', dpi: 72 } });
    expect(pictures.output.files).toEqual(['page-0001.png', 'page-0002.png']);
    const header = (await product(pictures, 'page-0001.png')).subarray(16, 24);
    expect([header.readUInt32BE(0), header.readUInt32BE(4)].map((side) => Math.round(side / 10))).toEqual([28, 28]);
    const text = await converted('a.html', page, { format: 'txt' });
    expect((await product(text)).toString()).toContain('中文第一页');
  });

  it('of Markdown are html in the fast lane, and PDF in the heavy one', async () => {
    service = await startTestService({}, 'real');
    const source = '# 标题\n\n正文**重点。**后面 ![a](http://a.example/x.png)';
    const html = await converted('a.md', source, { format: 'html' });
    expect(html).toMatchObject({ state: 'succeeded', lane: 'fast' });
    expect((await product(html)).toString()).toContain('<h1 id="标题">标题</h1>');
    const pdf = await converted('a.md', source, { format: 'pdf', options: { landscape: true } });
    expect(pdf).toMatchObject({ state: 'succeeded', lane: 'heavy', warnings: [{ code: 'resource_blocked' }] });
    expect(textOf(await product(pdf))).toContain('正文重点。后面');
    expect(await (await service.call(`/v1/jobs/${pdf.id}/log`)).text()).toContain('Chromium');
  });

  it('that never end are ended by job_timeout, and the next ones are converted', async () => {
    service = await startTestService({ job_timeout: '4s' }, 'real');
    const levels = Array.from(
      { length: 12 },
      (_value, level) => `<g id="g${level + 1}">${`<use href="#g${level}"/>`.repeat(10)}</g>`,
    );
    const endless = `<svg><g id="g0"><rect width="1" height="1"/></g>${levels.join('')}</svg>`;
    const startedAt = performance.now();
    const job = await converted('a.html', endless, { format: 'pdf' });
    expect(job).toMatchObject({ state: 'failed', error_code: 'conversion_timeout', reason: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(8000);
    const next = await converted('a.html', '<p>next', { format: 'pdf' });
    expect(next.state).toBe('succeeded');
    const left = readdirSync(service.tempDir, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => name.includes(job.id) || name.includes(next.id))).toEqual([]);
  });

  it('are refused where Chromium is absent: the key is named, readyz says so', async () => {
    service = await startTestService({ chrome_path: '/nowhere/chromium' }, 'real');
    for (const [name, format] of [
      ['a.html', 'pdf'],
      ['a.md', 'pdf'],
      ['a.mhtml', 'txt'],
    ] as const) {
      const response = await service.convert(request(name, '<p>words', { kind: 'dir', format }));
      const { code, message } = await json<{ code: string; message: string }>(response);
      expect([response.status, code]).toEqual([400, 'unsupported_conversion']);
      expect(message).toMatch(/Chromium.*chrome_path is "\/nowhere\/chromium"/);
    }
    expect((await converted('a.md', '# words', { format: 'html' })).state).toBe('succeeded');
    expect(JSON.stringify(await json(service.call('/readyz')))).toContain('chrome_path');
  });
});

it('the command line converts pages, with the same options', async () => {
  service = await startTestService();
  const { folder } = service;
  writeFileSync(join(folder, 'a.md'), '# 标题\n\nwords');
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [join(process.cwd(), 'dist/main.js'), 'convert', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  run('a.md', '-o', 'a.pdf', '--paper', 'A5', '--landscape', '--margins', '15');
  expect(execFileSync('pdfinfo', [join(folder, 'a.pdf')], { encoding: 'utf8' })).toMatch(
    /Page size: +59[45]\.\d+ x 420/,
  );
  expect(textOf(readFileSync(join(folder, 'a.pdf')))).toContain('标题');
  expect(() => run('a.md', '-o', 'b.html', '--paper', 'A5')).toThrow(/--paper is of no use for md to html/);
  expect(existsSync(join(folder, 'b.html'))).toBe(false);
});
