/** The page in a real browser, as its tests use it. SCREENSHOTS=DIR keeps pictures of it. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import puppeteer, { type Browser, type BrowserContext, type Page } from 'puppeteer-core';
import { findChrome } from '../../src/convert/engines/chromium.js';
import { KEY, until } from '../support/service.js';

export const INVOICE = fileURLToPath(new URL('../../examples/invoice.ofd', import.meta.url));

export class PageBrowser {
  /** Where the page saves files. */
  readonly folder = mkdtempSync(join(tmpdir(), 'page-'));
  /** Errors on the console of the page. */
  complaints: string[] = [];
  #browser: Browser | undefined;
  #context: BrowserContext | undefined;
  #page: Page | undefined;

  async start(): Promise<void> {
    this.#browser = await puppeteer.launch({
      executablePath: findChrome('') ?? 'chromium',
      args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
      userDataDir: join(this.folder, 'profile'),
    });
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get page(): Page {
    if (!this.#page) throw new Error('openTab comes first');
    return this.#page;
  }

  /** A browser without memory, until closeTabs. */
  async openTab(): Promise<void> {
    this.complaints = [];
    this.#context = await this.#browser?.createBrowserContext({
      downloadBehavior: { policy: 'allow', downloadPath: this.folder },
    });
    this.#page = await this.newTab();
  }

  /** Another tab beside the first. */
  async newTab(): Promise<Page> {
    if (!this.#context) throw new Error('openTab comes first');
    const page = await this.#context.newPage();
    await page.setViewport({ width: 1100, height: 1000 });
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    return page;
  }

  async closeTabs(): Promise<void> {
    await this.#context?.close();
  }

  async open(url: string, language = 'en-GB', key = KEY): Promise<void> {
    await this.page.setExtraHTTPHeaders({ 'accept-language': language });
    await this.page.evaluateOnNewDocument((name: string) => {
      Object.defineProperty(navigator, 'language', { get: () => name });
    }, language);
    await this.page.goto(`${url}/#key=${key}`);
    await this.see('#service-state', /Ready|就绪/);
  }

  textOf(selector: string): Promise<string> {
    return this.page.evaluate((wanted: string) => document.querySelector(wanted)?.textContent ?? '', selector);
  }

  see(selector: string, pattern: RegExp): Promise<string> {
    return until(
      () => this.textOf(selector),
      (text) => pattern.test(text),
    );
  }

  /** What has the focus: its id, else its text. */
  focused(): Promise<string> {
    return this.page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent || '');
  }

  async choose(...files: readonly string[]): Promise<void> {
    const input = await this.page.$('input#file');
    await input?.uploadFile(...files);
  }

  /** Clicks the first button with that text, as soon as there is one. */
  async press(label: RegExp): Promise<void> {
    await this.#onButton(label, 'click');
  }

  /** Presses the first button with that text by the keyboard, as soon as there is one. */
  async enter(label: RegExp): Promise<void> {
    await this.#onButton(label, 'focus');
    await this.page.keyboard.press('Enter');
  }

  async #onButton(label: RegExp, action: 'click' | 'focus'): Promise<void> {
    const act = (source: string, name: 'click' | 'focus'): boolean => {
      const button = [...document.querySelectorAll('button')].find((each) =>
        new RegExp(source).test(each.textContent ?? ''),
      );
      button?.[name]();
      return button !== undefined;
    };
    await until(
      () => this.page.evaluate(act, label.source, action),
      (isThere) => isThere,
    );
  }

  /** Waits for a file that the page saves. */
  async saved(name: string): Promise<string> {
    await until(
      async () => readdirSync(this.folder),
      (names) => names.includes(name),
    );
    return join(this.folder, name);
  }

  async picture(name: string): Promise<void> {
    const target = process.env.SCREENSHOTS;
    if (!target) return;
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, `${name}.png`), await this.page.screenshot({ fullPage: true }));
  }
}
