/**
 * The page in a real browser: a document in, progress, product and pages out, by mouse, drop and keyboard, in both
 * languages, under its own strict policy.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildOfd } from '../support/ofd-builder.js';
import { json, KEY, startTestService, type TestService, until } from '../support/service.js';
import { INVOICE, PageBrowser } from './browser.js';

const API_KEYS = {
  scanner: { key: 'key-of-the-scanner-0123', scopes: ['convert'] },
  reader: { key: 'key-of-the-reader-4567', scopes: ['read'] },
};

let service: TestService;
const browser = new PageBrowser();
const { folder } = browser;

beforeAll(async () => {
  service = await startTestService({ ui: true, api_keys: API_KEYS }, 'real');
  await browser.start();
});
afterAll(async () => {
  await browser.close();
  await service?.close();
});
beforeEach(() => browser.openTab());
afterEach(() => browser.closeTabs());

const open = (language?: string, key?: string): Promise<void> => browser.open(service.url, language, key);

it('converts a document, shows warnings, pages and signatures, and saves the product', async () => {
  await open();
  expect(browser.page.url()).toBe(`${service.url}/`);
  await browser.choose(INVOICE);
  await browser.press(/^Convert$/);
  await browser.see('#conversions li p', /^Done: 1 page$/);
  await browser.press(/^Download \(/);
  expect(readFileSync(await browser.saved('invoice.pdf')).toString('latin1', 0, 5)).toBe('%PDF-');

  await browser.press(/^Look at the pages/);
  await until(
    () => browser.page.evaluate(() => document.querySelector<HTMLImageElement>('.sheets img')?.naturalWidth ?? 0),
    (width) => width > 300,
  );
  await browser.press(/^About the document/);
  await browser.see('#conversions li', /Seal: 样例专用章, method: SM2 \(SM3\)/);
  await browser.see('#conversions li', /Title: 电子发票/);
  await browser.see('#job-rows', /ofd → pdf/);
  await browser.picture('converted');
  await browser.page.click('#language');
  const said = await browser.textOf('#conversions li');
  expect(said).toContain('标题: 电子发票');
  expect(said).toContain('印章: 样例专用章, 算法: SM2 (SM3)');
  expect(said).toMatch(/警告: \d/);
  expect(browser.complaints).toEqual([]);
});

it('follows a job through a time in which the service does not answer, as while it is started anew', async () => {
  await open();
  await browser.page.setRequestInterception(true);
  const refusals = ['cut', 'busy', 'cut'];
  browser.page.on('request', (request) => {
    const isAboutJob = /\/v1\/jobs\/\w+$/.test(request.url());
    const refusal = isAboutJob ? refusals.shift() : undefined;
    if (refusal === 'cut') void request.abort('connectionrefused');
    else if (refusal === 'busy')
      void request.respond({ status: 503, body: '{"code":"unavailable","message":"later"}' });
    else void request.continue();
  });
  await browser.choose(INVOICE);
  await browser.press(/^Convert$/);
  await browser.see('#conversions li p', /^Done: 1 page$/);
  expect(refusals).toEqual([]);
});

it('takes documents that are dropped, shows each page of pictures, and names what fails', async () => {
  const broken = Buffer.from('this is no package');
  const pages = Buffer.from(buildOfd({ pages: ['', '', ''] }));
  await open();
  await browser.page.select('#format', 'png');
  await browser.page.evaluate(
    (documents: { name: string; base64: string }[]) => {
      const transfer = new DataTransfer();
      for (const { name, base64 } of documents) {
        const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        transfer.items.add(new File([bytes], name));
      }
      document.querySelector('#drop')?.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true }));
    },
    [
      { name: 'three.ofd', base64: pages.toString('base64') },
      { name: '<b>broken.ofd', base64: broken.toString('base64') },
    ],
  );
  await browser.see('#conversions', /three\.ofd → pngDone: 3 pages/);
  await browser.see('#conversions', /<b>broken\.ofd → pngFailed: .*\(conversion_failed\)/);
  expect(await browser.page.$('#conversions b')).toBeNull();
  await browser.press(/^Look at the pages/);
  await until(
    () =>
      browser.page.$$eval(
        '.sheets img',
        (images) => images.filter((image) => (image as HTMLImageElement).complete).length,
      ),
    (count) => count === 3,
  );
  await browser.see('#conversions', /Download all as ZIP/);
  await browser.picture('dropped');
  expect(browser.complaints).toEqual([]);
});

it('speaks Chinese where the reader does, and changes language at a button', async () => {
  await open('zh-CN');
  expect(await browser.textOf('#convert-title')).toBe('转换文档');
  expect(await browser.page.evaluate(() => document.documentElement.lang)).toBe('zh-CN');
  await browser.picture('chinese');
  await browser.page.click('#language');
  expect(await browser.textOf('#convert-title')).toBe('Convert a document');
  expect(await browser.textOf('#language')).toBe('中文');
});

it('asks for the key, refuses a wrong one, and lets nobody in without', async () => {
  await browser.page.goto(service.url);
  await browser.page.waitForSelector('#key-form:not([hidden])');
  await browser.page.type('#key', 'wrong');
  await browser.page.keyboard.press('Enter');
  await browser.see('#key-fault', /not the key/);
  await browser.page.type('#key', KEY);
  await browser.page.keyboard.press('Enter');
  await browser.see('#job-rows', /→|No job/);
  expect(await browser.page.evaluate(() => localStorage.length + document.cookie.length)).toBe(0);
  expect(await browser.page.evaluate(() => document.querySelector<HTMLFormElement>('#key-form')?.hidden)).toBe(true);
});

it('says what a key without the scope to read cannot do, converts as far as it can, and takes another key', async () => {
  rmSync(join(folder, 'invoice.pdf'), { force: true });
  await open('en-GB', API_KEYS.scanner.key);
  await browser.see('#unreadable', /lacks the scope read/);
  expect(await browser.textOf('#service-state')).toBe('Ready');
  const hidden = (): Promise<boolean[]> =>
    browser.page.$$eval('#charts, #jobs, #key-form', (elements) =>
      elements.map((element) => !(element as HTMLElement).checkVisibility()),
    );
  expect(await hidden()).toEqual([true, true, true]);
  await browser.choose(INVOICE);
  await browser.press(/^Convert$/);
  await browser.see('#conversions li p', /^Done$/);
  await browser.press(/^Download \(/);
  await browser.saved('invoice.pdf');
  await browser.page.select('#format', 'png');
  await browser.press(/^Convert$/);
  await browser.see('#conversions li p', /^Accepted; without the scope read its end is not seen here\. Job \w+$/);
  await browser.picture('unreadable');

  await browser.page.focus('#change-key');
  await browser.page.keyboard.press('Enter');
  expect(await browser.page.evaluate(() => document.activeElement?.id)).toBe('key');
  expect(await browser.textOf('#key-form')).toContain('needs a key with the scopes convert and read');
  await browser.picture('change-key');
  await browser.page.keyboard.type(KEY);
  await browser.page.keyboard.press('Enter');
  await browser.see('#unreadable', /^$/);
  await browser.see('#job-rows', /ofd → png/);
  expect(await hidden()).toEqual([true, false, false]);
});

it('names the scope that converting needs to a key that only reads', async () => {
  await open('zh-CN', API_KEYS.reader.key);
  await browser.see('#job-rows', /→|没有/);
  expect(await browser.textOf('#change-key')).toBe('更换密钥');
  await browser.choose(INVOICE);
  await browser.press(/^转换$/);
  await browser.see(
    '#conversions li p',
    /^失败: 此密钥没有所需的权限。.*needs the scope "convert" and has read \(forbidden\)$/,
  );
  expect(await browser.textOf('#unconvertible')).toBe('此密钥没有 convert 权限：不能用它转换文档。');
  expect(await browser.page.$eval('#convert-form', (element) => element.checkVisibility())).toBe(false);
  await browser.picture('reader');
  await browser.page.click('#change-key');
  await browser.page.keyboard.type(KEY);
  await browser.page.keyboard.press('Enter');
  await browser.see('#unconvertible', /^$/);
  expect(await browser.page.$eval('#convert-form', (element) => element.checkVisibility())).toBe(true);
  expect(await browser.focused()).toBe('change-key');
});

it('offers another try for dead letters, and for no other failed job', async () => {
  const submit = async (changes: object): Promise<string> => {
    const answer = await service.convert({
      input: { file_name: 'a.ofd', bytes: readFileSync(INVOICE).toString('base64') },
      output: { kind: 'dir', format: 'txt', ...changes },
    });
    const { id } = await json<{ id: string }>(answer);
    await service.ended(id);
    return id;
  };
  // What lies under the product's name is another product's: a conflict, which a hand can mend.
  writeFileSync(join(service.outputDir, 'taken.txt'), 'something else');
  const dead = await submit({ dir: '.', file_name: 'taken' });
  const hopeless = await submit({ options: { pages: '9' } });
  await open();
  for (const id of [dead, hopeless]) await browser.see('#job-rows', new RegExp(`${id}Failed`));
  await browser.see('#job-rows', /Try again/);
  const offered = await browser.page.$$eval('#job-rows button', (buttons) =>
    buttons.map(({ ariaLabel }) => ariaLabel).filter((label) => label?.startsWith('Try again')),
  );
  expect(offered).toEqual([`Try again ${dead}`]);

  await browser.page.goto('about:blank');
  await open('en-GB', API_KEYS.reader.key);
  await browser.see('#job-rows', new RegExp(`${dead}Failed`));
  await browser.enter(/^Try again$/);
  await browser.see('#refused', /needs the scope "admin" and has read/);
  // The key cannot do it: it is not offered again, and the focus has not gone with it.
  await browser.see('#job-rows', new RegExp(`${dead}Failed`));
  expect(await browser.textOf('#job-rows')).not.toContain('Try again');
  expect(await browser.focused()).toBe('jobs-title');
  // It outlives the next looks at the service.
  await new Promise((resolve) => setTimeout(resolve, 6000));
  expect(await browser.textOf('#refused')).toMatch(/needs the scope "admin"/);
  await browser.picture('refused');
});

it('can be used by keyboard alone, and says what each thing is', async () => {
  await open();
  await browser.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const reached: string[] = [];
  for (let step = 0; step < 8; step++) {
    await browser.page.keyboard.press('Tab');
    reached.push(
      await browser.page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent || ''),
    );
  }
  for (const wanted of ['change-key', 'language', 'file', 'format', 'pages']) expect(reached).toContain(wanted);
  const unnamed = await browser.page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('button, input, select, [role="img"], progress')]
      .filter((element) => element.closest('[hidden]') === null)
      .filter((element) => {
        const labels = (element as HTMLInputElement).labels;
        return !element.ariaLabel && !element.textContent?.trim() && !labels?.length;
      })
      .map(({ outerHTML }) => outerHTML),
  );
  expect(unnamed).toEqual([]);
});

it('loads nothing from elsewhere, runs nothing that is written into it, and is off by default', async () => {
  const asked: string[] = [];
  browser.page.on('request', (request) => asked.push(request.url()));
  await open();
  expect(asked.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith('data:'))).toEqual([]);
  const answer = await fetch(service.url);
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  const ran = await browser.page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.evil = true';
    document.body.append(script);
    return 'evil' in window;
  });
  expect(ran).toBe(false);
  for (const path of ['/ui/../package.json', '/ui/%2e%2e/main.js', '/ui/tsconfig.json']) {
    expect((await fetch(service.url + path)).status).toBe(404);
  }
  const plain = await startTestService();
  expect((await fetch(plain.url)).status).toBe(404);
  await plain.close();
});
