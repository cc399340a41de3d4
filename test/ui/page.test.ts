/**
 * The page in a real browser: a document in, progress, product and pages out, by mouse, drop and keyboard, in both
 * languages, under its own strict policy. SCREENSHOTS=DIR keeps pictures of it.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import puppeteer, { type Browser, type BrowserContext, type Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { findChrome } from '../../src/convert/engines/chromium.js';
import { buildOfd } from '../support/ofd-builder.js';
import { json, KEY, startTestService, type TestService, until } from '../support/service.js';

const INVOICE = fileURLToPath(new URL('../../examples/invoice.ofd', import.meta.url));

const API_KEYS = {
  scanner: { key: 'key-of-the-scanner-0123', scopes: ['convert'] },
  reader: { key: 'key-of-the-reader-4567', scopes: ['read'] },
};

let service: TestService;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let folder: string;
let complaints: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'page-'));
  service = await startTestService({ ui: true, api_keys: API_KEYS }, 'real');
  browser = await puppeteer.launch({
    executablePath: findChrome('') ?? 'chromium',
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    userDataDir: join(folder, 'profile'),
  });
});

afterAll(async () => {
  await browser?.close();
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  complaints = [];
  context = await browser.createBrowserContext({ downloadBehavior: { policy: 'allow', downloadPath: folder } });
  page = await context.newPage();
  await page.setViewport({ width: 1100, height: 1000 });
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
});

afterEach(() => context.close());

async function open(language = 'en-GB', key = KEY): Promise<void> {
  await page.setExtraHTTPHeaders({ 'accept-language': language });
  await page.evaluateOnNewDocument((name: string) => {
    Object.defineProperty(navigator, 'language', { get: () => name });
  }, language);
  await page.goto(`${service.url}/#key=${key}`);
  await see('#service-state', /Ready|就绪/);
}

const textOf = (selector: string): Promise<string> =>
  page.evaluate((wanted: string) => document.querySelector(wanted)?.textContent ?? '', selector);
const see = (selector: string, pattern: RegExp): Promise<string> =>
  until(
    () => textOf(selector),
    (text) => pattern.test(text),
  );

async function choose(file: string): Promise<void> {
  const input = await page.$('input#file');
  await input?.uploadFile(file);
}

async function press(label: RegExp): Promise<void> {
  await page.evaluate(
    (source: string) =>
      [...document.querySelectorAll('button')].find((each) => new RegExp(source).test(each.textContent ?? ''))?.click(),
    label.source,
  );
}

async function picture(name: string): Promise<void> {
  const target = process.env.SCREENSHOTS;
  if (!target) return;
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, `${name}.png`), await page.screenshot({ fullPage: true }));
}

it('converts a document, shows warnings, pages and signatures, and saves the product', async () => {
  await open();
  expect(page.url()).toBe(`${service.url}/`);
  await choose(INVOICE);
  await press(/^Convert$/);
  await see('#conversions li p', /^Done: 1 page$/);
  await press(/^Download \(/);
  const saved = await until(
    async () => readdirSync(folder),
    (names) => names.includes('invoice.pdf'),
  );
  expect(saved).toContain('invoice.pdf');
  expect(readFileSync(join(folder, 'invoice.pdf')).toString('latin1', 0, 5)).toBe('%PDF-');

  await press(/^Look at the pages/);
  await until(
    () => page.evaluate(() => document.querySelector<HTMLImageElement>('.sheets img')?.naturalWidth ?? 0),
    (width) => width > 300,
  );
  await press(/^About the document/);
  await see('#conversions li', /Seal: 样例专用章/);
  await see('#conversions li', /title: 电子发票/);
  await see('#job-rows', /ofd → pdf/);
  await picture('converted');
  expect(complaints).toEqual([]);
});

it('follows a job through a time in which the service does not answer, as while it is started anew', async () => {
  await open();
  await page.setRequestInterception(true);
  const refusals = ['cut', 'busy', 'cut'];
  page.on('request', (request) => {
    const isAboutJob = /\/v1\/jobs\/\w+$/.test(request.url());
    const refusal = isAboutJob ? refusals.shift() : undefined;
    if (refusal === 'cut') void request.abort('connectionrefused');
    else if (refusal === 'busy')
      void request.respond({ status: 503, body: '{"code":"unavailable","message":"later"}' });
    else void request.continue();
  });
  await choose(INVOICE);
  await press(/^Convert$/);
  await see('#conversions li p', /^Done: 1 page$/);
  expect(refusals).toEqual([]);
});

it('takes documents that are dropped, shows each page of pictures, and names what fails', async () => {
  const broken = Buffer.from('this is no package');
  const pages = Buffer.from(buildOfd({ pages: ['', '', ''] }));
  await open();
  await page.select('#format', 'png');
  await page.evaluate(
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
  await see('#conversions', /three\.ofd → pngDone: 3 pages/);
  await see('#conversions', /<b>broken\.ofd → pngFailed: .*\(conversion_failed\)/);
  expect(await page.$('#conversions b')).toBeNull();
  await press(/^Look at the pages/);
  await until(
    () => page.$$eval('.sheets img', (images) => images.filter((image) => (image as HTMLImageElement).complete).length),
    (count) => count === 3,
  );
  await see('#conversions', /Download all as ZIP/);
  await picture('dropped');
  expect(complaints).toEqual([]);
});

it('speaks Chinese where the reader does, and changes language at a button', async () => {
  await open('zh-CN');
  expect(await textOf('#convert-title')).toBe('转换文档');
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN');
  await picture('chinese');
  await page.click('#language');
  expect(await textOf('#convert-title')).toBe('Convert a document');
  expect(await textOf('#language')).toBe('中文');
});

it('asks for the key, refuses a wrong one, and lets nobody in without', async () => {
  await page.goto(service.url);
  await page.waitForSelector('#key-form:not([hidden])');
  await page.type('#key', 'wrong');
  await page.keyboard.press('Enter');
  await see('#key-fault', /not the key/);
  await page.type('#key', KEY);
  await page.keyboard.press('Enter');
  await see('#job-rows', /→|No job/);
  expect(await page.evaluate(() => localStorage.length + document.cookie.length)).toBe(0);
  expect(await page.evaluate(() => document.querySelector<HTMLFormElement>('#key-form')?.hidden)).toBe(true);
});

it('says what a key without the scope to read cannot do, converts as far as it can, and takes another key', async () => {
  rmSync(join(folder, 'invoice.pdf'), { force: true });
  await open('en-GB', API_KEYS.scanner.key);
  await see('#unreadable', /lacks the scope read/);
  expect(await textOf('#service-state')).toBe('Ready');
  const hidden = (): Promise<boolean[]> =>
    page.$$eval('#charts, #jobs, #key-form', (elements) =>
      elements.map((element) => !(element as HTMLElement).checkVisibility()),
    );
  expect(await hidden()).toEqual([true, true, true]);
  await choose(INVOICE);
  await press(/^Convert$/);
  await see('#conversions li p', /^Done$/);
  await press(/^Download \(/);
  await until(
    async () => readdirSync(folder),
    (names) => names.includes('invoice.pdf'),
  );
  await page.select('#format', 'png');
  await press(/^Convert$/);
  await see('#conversions li p', /^Accepted; without the scope read its end is not seen here\. Job \w+$/);
  await picture('unreadable');

  await page.focus('#change-key');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('key');
  expect(await textOf('#key-form')).toContain('needs a key with the scopes convert and read');
  await picture('change-key');
  await page.keyboard.type(KEY);
  await page.keyboard.press('Enter');
  await see('#unreadable', /^$/);
  await see('#job-rows', /ofd → png/);
  expect(await hidden()).toEqual([true, false, false]);
});

it('names the scope that converting needs to a key that only reads', async () => {
  await open('zh-CN', API_KEYS.reader.key);
  await see('#job-rows', /→|没有/);
  expect(await textOf('#change-key')).toBe('更换密钥');
  await choose(INVOICE);
  await press(/^转换$/);
  await see('#conversions li p', /needs the scope "convert" and has read \(forbidden\)$/);
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
  for (const id of [dead, hopeless]) await see('#job-rows', new RegExp(`${id}Failed`));
  const offered = await page.$$eval('#job-rows button', (buttons) => buttons.map(({ ariaLabel }) => ariaLabel));
  expect(offered).toEqual([`Try again ${dead}`]);

  await page.goto('about:blank');
  await open('en-GB', API_KEYS.reader.key);
  await see('#job-rows', new RegExp(`${dead}Failed`));
  await press(/^Try again$/);
  await see('#refused', /needs the scope "admin" and has read/);
  // It outlives the next looks at the service.
  await new Promise((resolve) => setTimeout(resolve, 5000));
  expect(await textOf('#refused')).toMatch(/needs the scope "admin"/);
  expect(await page.$eval('#job-rows button', (element) => (element as HTMLButtonElement).disabled)).toBe(false);
  await picture('refused');
});

it('can be used by keyboard alone, and says what each thing is', async () => {
  await open();
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const reached: string[] = [];
  for (let step = 0; step < 8; step++) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent || ''));
  }
  for (const wanted of ['change-key', 'language', 'file', 'format', 'pages']) expect(reached).toContain(wanted);
  const unnamed = await page.evaluate(() =>
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
  page.on('request', (request) => asked.push(request.url()));
  await open();
  expect(asked.filter((url) => !url.startsWith(`${service.url}/`) && !url.startsWith('data:'))).toEqual([]);
  const answer = await fetch(service.url);
  expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  const ran = await page.evaluate(() => {
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
