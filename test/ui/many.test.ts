/** The page with many documents, small windows, keys that may not ask often, and the same page opened later. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { WARNING_CODES } from '../../src/convert/warning-codes.js';
import { ERROR_CODES, FAILURE_REASONS, ServiceError } from '../../src/errors.js';
import { CHINESE_FAULTS, CHINESE_WARNINGS } from '../../src/ui/chinese.js';
import { KEY, OFD_BASE64, startTestService, type TestService, until } from '../support/service.js';
import { PageBrowser } from './browser.js';

const SLOW_KEY = 'key-of-one-who-asks-seldom';

let service: TestService;
const browser = new PageBrowser();

beforeAll(async () => {
  const slow = { key: SLOW_KEY, scopes: ['convert', 'read'], requests_per_minute: 30 };
  service = await startTestService({ ui: true, api_keys: { slow } });
  await browser.start();
});
afterAll(async () => {
  await browser.close();
  await service?.close();
});
beforeEach(async () => {
  service.converter.failure = undefined;
  service.converter.warnings = [];
  service.converter.tasks.length = 0;
  await browser.openTab();
});
afterEach(async () => {
  service.converter.release();
  await browser.closeTabs();
});

function file(name: string, content: string | Buffer = Buffer.from(OFD_BASE64, 'base64')): string {
  const path = join(browser.folder, name);
  writeFileSync(path, content);
  return path;
}

/** The titles of the list, and what is said below each. */
const listed = (): Promise<string[][]> =>
  browser.page.$$eval('#conversions > li', (items) =>
    items.map((item) => [...item.querySelectorAll('h3, p:first-of-type')].map(({ textContent }) => textContent ?? '')),
  );

/** Addresses that are asked for from now on, without those of the page itself. */
function asked(page: Page): string[] {
  const paths: string[] = [];
  page.on('request', (request) => paths.push(new URL(request.url()).pathname));
  return paths;
}

it('follows forty documents with few requests: the page, its Cancel and another tab answer meanwhile', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `document-${index}.ofd`);
  service.converter.hold();
  await browser.open(service.url);
  const paths = asked(browser.page);
  let most = 0;
  const open = new Set<unknown>();
  browser.page.on('request', (request) => {
    open.add(request);
    most = Math.max(most, open.size);
  });
  for (const end of ['requestfinished', 'requestfailed'] as const) {
    browser.page.on(end, (request) => open.delete(request));
  }
  // None gets through before the list has been looked at.
  const held: HTTPRequest[] = [];
  let isOpen = false;
  await browser.page.setRequestInterception(true);
  browser.page.on('request', (request) => {
    if (request.method() === 'POST' && !isOpen) held.push(request);
    else void request.continue();
  });
  await browser.choose(...names.map((name) => file(name)));
  await browser.press(/^Convert$/);
  await until(
    async () => held.length,
    (count) => count === 2,
  );
  const items = await listed();
  expect(items.map(([title]) => title)).toEqual(names.map((name) => `${name} → pdf`));
  expect(items.map(([, state]) => state)).toEqual(
    names.map((_, index) => (index < 2 ? 'Being sent' : 'Waits to be sent')),
  );
  await browser.picture('waiting');
  // One that waits is taken off, and is never sent.
  await browser.page.click('#conversions > li:last-child button');
  expect(await listed()).toHaveLength(39);
  isOpen = true;
  for (const request of held) void request.continue();

  await until(listed, (items) =>
    items.every(([, state]) => /^(?:Waiting for a worker|Being converted)/.test(state ?? '')),
  );
  await browser.picture('many');
  // No job ends before it is let go: what answers now does not wait for one.
  const second = await browser.newTab();
  await second.goto(`${service.url}/#key=${KEY}`);
  await until(
    () => second.$eval('#job-rows', ({ textContent }) => textContent ?? ''),
    (rows) => rows.includes('ofd → pdf'),
  );
  await second.close();

  await browser.page.click('#conversions > li:nth-child(39) button');
  await until(listed, (items) => items[38]?.[1] === 'Cancelled');

  service.converter.release();
  await until(listed, (items) => items.slice(0, 38).every(([, state]) => state === 'Done: 2 pages'));
  expect(service.converter.tasks).toHaveLength(38);
  expect(most).toBeLessThanOrEqual(5);
  expect(paths.filter((path) => path.endsWith('/events'))).toEqual([]);
  expect(browser.complaints).toEqual([]);
});

it('asks nothing while nobody sees it, and at once when somebody does', async () => {
  await browser.open(service.url);
  await browser.see('#job-rows', /→|No job/);
  const show = (isHidden: boolean): Promise<void> =>
    browser.page.evaluate((hidden: boolean) => {
      Object.defineProperty(document, 'hidden', { get: () => hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);
  await show(true);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const paths = asked(browser.page);
  await new Promise((resolve) => setTimeout(resolve, 6000));
  expect(paths).toEqual([]);
  await show(false);
  await until(
    async () => paths,
    (seen) => seen.includes('/v1/jobs'),
  );
});

it('says that a key has asked too often, asks less, and sends the document when it may', async () => {
  const headers = { authorization: `Bearer ${SLOW_KEY}` };
  while ((await fetch(`${service.url}/v1/stats`, { headers })).ok);
  await browser.page.goto(`${service.url}/#key=${SLOW_KEY}`);
  await browser.see('#service-state', /^Too many requests with this key; the page goes on in \d s\.$/);
  expect(await browser.textOf('#job-rows')).not.toContain('No job yet');
  const paths = asked(browser.page);
  await browser.picture('too-often');
  const refusals = [
    { status: 429, code: 'rate_limited' },
    { status: 503, code: 'server_busy' },
  ];
  await browser.page.setRequestInterception(true);
  browser.page.on('request', (request) => {
    const refusal = request.method() === 'POST' ? refusals.shift() : undefined;
    if (!refusal) void request.continue();
    else
      void request.respond({ status: refusal.status, headers: { 'retry-after': '2' }, body: JSON.stringify(refusal) });
  });
  await browser.choose(file('late.ofd'));
  await browser.press(/^Convert$/);
  await browser.see('#conversions li p', /^Too many requests with this key; the page goes on in 2 s\.$/);
  await browser.see('#conversions li p', /^The service is busy; sent again in 2 s$/);
  await browser.see('#conversions li p', /^Done: 2 pages$/);
  const startCount = paths.length;
  await new Promise((resolve) => setTimeout(resolve, 8000));
  expect(paths.slice(startCount).filter((path) => path !== '/readyz').length).toBeLessThan(7);
});

it('fits a telephone, in both languages', async () => {
  await browser.page.setViewport({ width: 390, height: 800 });
  await browser.open(service.url, 'zh-CN');
  await browser.choose(file('a-document-with-a-name-that-is-rather-long-for-a-telephone.ofd'));
  await browser.press(/^转换$/);
  await browser.see('#conversions li p', /^完成: 2 页$/);
  await browser.see('#job-rows', /ofd → pdf/);
  for (const name of ['narrow-chinese', 'narrow-english']) {
    await browser.picture(name);
    const widths = await browser.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths).toEqual([390, 390]);
    const heights = await browser.page.$$eval('header button', (buttons) =>
      buttons.map(({ clientHeight }) => clientHeight),
    );
    for (const height of heights) expect(height).toBeLessThan(45);
    await browser.page.click('#language');
  }
});

it('saves what was made before it was opened, and several products under the name of the document', async () => {
  await browser.open(service.url);
  await browser.page.select('#format', 'png');
  await browser.choose(file('two.pages.ofd'));
  await browser.press(/^Convert$/);
  await browser.see('#conversions li p', /^Done: 2 pages$/);
  await browser.press(/^Download all as ZIP$/);
  expect(readFileSync(await browser.saved('two.pages.zip')).toString('latin1', 0, 2)).toBe('PK');

  const { id } = (await (
    await service.convert({
      input: { file_name: 'a.ofd', bytes: OFD_BASE64 },
      output: { kind: 'dir', format: 'txt', file_name: 'kept' },
    })
  ).json()) as { id: string };
  await service.ended(id);
  await browser.page.reload();
  await browser.see('#job-rows', new RegExp(`${id}.*ofd → txt.*Download \\(7 B\\)`));
  await browser.picture('later');
  await browser.page.click(`button[aria-label="Download (7 B) ${id}"]`);
  expect(readFileSync(await browser.saved('kept.txt'), 'utf8')).toBe('product');
  expect(browser.complaints).toEqual([]);

  rmSync(join(service.outputDir, id.slice(-2), id.slice(0, -2), 'kept.txt'));
  await browser.page.click(`button[aria-label="Download (7 B) ${id}"]`);
  await browser.see('#refused', /kept\.txt.* \(content_not_found\)$/);
});

it('keeps the focus where a button was pressed, and near what was removed', async () => {
  await browser.open(service.url);
  await browser.page.select('#format', 'png');
  await browser.choose(file('first.ofd'), file('second.ofd'));
  await browser.press(/^Convert$/);
  await until(listed, (items) => items.length === 2 && items.every(([, state]) => state === 'Done: 2 pages'));
  await browser.enter(/^Look at the pages$/);
  await until(
    () => browser.page.$$('.sheets img'),
    (pictures) => pictures.length === 2,
  );
  expect(await browser.focused()).toBe('Look at the pages');
  await browser.enter(/^Remove from this list$/);
  expect(await browser.focused()).toBe('second.ofd → png');
  await browser.enter(/^Remove from this list$/);
  expect(await browser.focused()).toBe('file');
});

it('gives a password to those that can have one', async () => {
  await browser.open(service.url);
  await browser.page.type('#password', 'secret');
  await browser.choose(file('plain.ofd'), file('locked.pdf', '%PDF-1.7\n'), file('unnamed', '%PDF-1.7\n'));
  await browser.press(/^Convert$/);
  await until(listed, (items) => items.length === 3 && items.every(([, state]) => state === 'Done: 2 pages'));
  const passwords = service.converter.tasks.map(({ from, options }) => `${from} ${options.password}`).sort();
  expect(passwords).toEqual(['ofd undefined', 'pdf secret', 'pdf secret']);
});

it('says in both languages what went wrong, and says it anew when the language changes', async () => {
  await browser.open(service.url, 'zh-CN');
  await browser.press(/^转换$/);
  expect(await browser.page.$eval('#file', (input) => (input as HTMLInputElement).validationMessage)).toBe(
    '请先选择文档。',
  );
  const paths = asked(browser.page);
  await browser.choose(file('empty.ofd', ''));
  await browser.press(/^转换$/);
  await browser.see('#conversions li p', /^失败: 文件是空的。$/);
  expect(paths).not.toContain('/v1/convert');

  service.converter.failure = new ServiceError('conversion_failed', 'No page is left', { reason: 'corrupt' });
  await browser.choose(file('broken.ofd'));
  await browser.press(/^转换$/);
  await browser.see('#conversions li p', /^失败: 文件已损坏，无法读取。No page is left \(conversion_failed\)$/);

  service.converter.failure = undefined;
  service.converter.warnings = [{ code: 'font_substituted', message: 'SimHei is not there', page: 1 }];
  await browser.choose(file('warned.ofd'));
  await browser.press(/^转换$/);
  await browser.see('#conversions li details', /^警告: 1缺少字体，已用其他字体代替。SimHei is not there \(第 1 页\)$/);
  await browser.picture('faults-chinese');

  await browser.page.click('#language');
  expect(await listed()).toEqual([
    ['warned.ofd → pdf', 'Done: 2 pages'],
    ['broken.ofd → pdf', 'Failed: No page is left (conversion_failed)'],
    ['empty.ofd → pdf', 'Failed: The file is empty.'],
  ]);
  expect(await browser.textOf('#conversions li details')).toBe('Warnings: 1SimHei is not there (page 1)');
  expect(await browser.textOf('#conversions li button')).toBe('Download (7 B)');
  expect(await browser.textOf('#service-state')).toBe('Ready');
});

it('has Chinese words for every fault and warning', () => {
  expect(Object.keys(CHINESE_FAULTS).sort()).toEqual([...Object.keys(ERROR_CODES), ...FAILURE_REASONS].sort());
  expect(Object.keys(CHINESE_WARNINGS).sort()).toEqual([...WARNING_CODES].sort());
});
