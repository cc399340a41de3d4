/** One tab in a context of its own: it shows one document, refuses every request, runs no script, and prints. */
import type { CDPSession, Protocol } from 'puppeteer-core';
import { ServiceError } from '../../errors.js';
import type { Browser } from './browser.js';
import type { WebDocument } from './web-document.js';

export interface TabHooks {
  /** Something that the document asked for and did not get: what it is, and its address. */
  onBlocked(kind: string, url: string): void;
  /** A sign of life. */
  onAlive(): void;
  log(text: string): void;
}

export interface Sheet {
  readonly widthMm: number;
  readonly heightMm: number;
  readonly topMm: number;
  readonly rightMm: number;
  readonly bottomMm: number;
  readonly leftMm: number;
  /** The size, the margins count even where the document has an @page of its own. */
  readonly isSizeForced: boolean;
  readonly areMarginsForced: boolean;
  readonly withBackground: boolean;
}

const MM_PER_INCH = 25.4;
const PIECE_BYTES = 1024 * 1024;
const LONGEST_LINE = 500;
/** Closing a tab also ends one that hangs; where it does not answer, the browser has to go. */
const CLOSE_MS = 1000;

export class Tab {
  readonly #browser: Browser;
  readonly #contextId: string;
  readonly #session: CDPSession;
  readonly #hooks: TabHooks;
  readonly #crashed: Promise<never>;
  #document: WebDocument | undefined;

  private constructor(browser: Browser, contextId: string, session: CDPSession, hooks: TabHooks) {
    this.#browser = browser;
    this.#contextId = contextId;
    this.#session = session;
    this.#hooks = hooks;
    this.#crashed = new Promise((_resolve, reject) => {
      session.on('Inspector.targetCrashed', () => reject(crash()));
      void browser.ended.then(() => reject(browser.failure()));
    });
    this.#crashed.catch(() => undefined);
    session.on('Fetch.requestPaused', (request) => void this.#answer(request));
    session.on('Log.entryAdded', ({ entry }) => hooks.log(`${entry.level}: ${entry.text}`.slice(0, LONGEST_LINE)));
    session.on('Audits.issueAdded', ({ issue }) => this.#noteIssue(issue));
  }

  static async open(browser: Browser, hooks: TabHooks): Promise<Tab> {
    const { session } = browser;
    const { browserContextId } = await session.send('Target.createBrowserContext', { disposeOnDetach: true });
    try {
      const { targetId } = await session.send('Target.createTarget', { url: 'about:blank', browserContextId });
      const { sessionId } = await session.send('Target.attachToTarget', { targetId, flatten: true });
      await session.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId });
      const tab = new Tab(browser, browserContextId, browser.sessionOf(sessionId), hooks);
      await tab.#prepare();
      return tab;
    } catch (error) {
      await dispose(browser, browserContextId);
      throw error;
    }
  }

  async #prepare(): Promise<void> {
    const session = this.#session;
    await Promise.all([
      session.send('Inspector.enable'),
      session.send('Page.enable'),
      session.send('Log.enable'),
      session.send('Audits.enable'),
      session.send('Emulation.setScriptExecutionDisabled', { value: true }),
      // From the beginning, so that what is meant for paper alone is there when it is printed.
      session.send('Emulation.setEmulatedMedia', { media: 'print' }),
      session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }),
    ]);
  }

  /** Resolves when the document has been laid out with everything that it carries. */
  async show(document: WebDocument): Promise<void> {
    this.#document = document;
    const loaded = new Promise<void>((resolve) => this.#session.once('Page.loadEventFired', () => resolve()));
    const { errorText } = await this.#race(this.#session.send('Page.navigate', { url: document.url }));
    if (errorText !== undefined) {
      throw new ServiceError('conversion_failed', `Chromium cannot show the document: ${errorText}`, {
        reason: 'corrupt',
      });
    }
    this.#hooks.onAlive();
    await this.#race(loaded);
    await this.#race(this.#waitForFonts());
    this.#hooks.onAlive();
  }

  /** Fonts that the document carries are read after it is loaded. */
  async #waitForFonts(): Promise<void> {
    const frameId = await this.#mainFrame();
    const { executionContextId } = await this.#session.send('Page.createIsolatedWorld', { frameId });
    await this.#session.send('Runtime.evaluate', {
      expression: 'document.fonts.ready.then(() => undefined)',
      contextId: executionContextId,
      awaitPromise: true,
    });
  }

  async #mainFrame(): Promise<string> {
    const { frameTree } = await this.#session.send('Page.getFrameTree');
    return frameTree.frame.id;
  }

  /** A document's @page beats what printing is told; a rule behind it beats the @page. */
  async #overrule(sheet: Sheet): Promise<void> {
    const { widthMm, heightMm, topMm, rightMm, bottomMm, leftMm } = sheet;
    const rules = [
      ...(sheet.isSizeForced ? [`size: ${widthMm}mm ${heightMm}mm !important`] : []),
      ...(sheet.areMarginsForced ? [`margin: ${topMm}mm ${rightMm}mm ${bottomMm}mm ${leftMm}mm !important`] : []),
    ];
    if (rules.length === 0) return;
    await this.#session.send('DOM.enable');
    await this.#session.send('CSS.enable');
    const { styleSheetId } = await this.#session.send('CSS.createStyleSheet', { frameId: await this.#mainFrame() });
    await this.#session.send('CSS.setStyleSheetText', { styleSheetId, text: `@page { ${rules.join('; ')} }` });
  }

  /** The document as a PDF, piece by piece. */
  async print(sheet: Sheet, write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    await this.#race(this.#overrule(sheet));
    const { stream } = await this.#race(this.#session.send('Page.printToPDF', printParameters(sheet))).catch(
      (error: unknown) => {
        throw error instanceof ServiceError ? error : unprintable(error as Error);
      },
    );
    if (stream === undefined) throw unprintable(new Error('no stream'));
    for (;;) {
      const piece = await this.#race(this.#session.send('IO.read', { handle: stream, size: PIECE_BYTES }));
      await write(Buffer.from(piece.data, piece.base64Encoded ? 'base64' : 'utf8'));
      this.#hooks.onAlive();
      if (piece.eof) break;
    }
    await this.#session.send('IO.close', { handle: stream });
  }

  /** Ends the tab, whatever it is doing. The browser is ended where it does not obey. */
  async close(): Promise<void> {
    await dispose(this.#browser, this.#contextId);
  }

  #race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#crashed]);
  }

  /** The document is answered once; all else is refused. A refused navigation leaves the tab where it is. */
  async #answer({ requestId, request, resourceType }: Protocol.Fetch.RequestPausedEvent): Promise<void> {
    const document = this.#document;
    const isDocument = resourceType === 'Document';
    try {
      if (document !== undefined && isDocument && request.url === document.url) {
        this.#document = undefined;
        await this.#session.send('Fetch.fulfillRequest', {
          requestId,
          responseCode: 200,
          responseHeaders: [...document.headers],
          body: document.body.toString('base64'),
        });
        return;
      }
      const errorReason = isDocument ? 'Aborted' : 'BlockedByClient';
      this.#noteBlocked(resourceType.toLowerCase(), request.url);
      await this.#session.send('Fetch.failRequest', { requestId, errorReason });
    } catch {
      // The tab is being closed, or the request was given up meanwhile.
    }
  }

  #noteIssue({ details }: Protocol.Audits.InspectorIssue): void {
    const violation = details.contentSecurityPolicyIssueDetails;
    if (violation?.contentSecurityPolicyViolationType !== 'kURLViolation') return;
    this.#noteBlocked(violation.violatedDirective.replace(/-src.*$/, ''), violation.blockedURL ?? '');
  }

  #noteBlocked(kind: string, url: string): void {
    // The browser asks for it by itself.
    if (url.endsWith('/favicon.ico')) return;
    const shown = url.length > LONGEST_LINE ? `${url.slice(0, LONGEST_LINE)}…` : url;
    this.#hooks.log(`refused: ${kind} ${shown}`);
    this.#hooks.onBlocked(kind, shown);
  }
}

function printParameters(sheet: Sheet): Protocol.Page.PrintToPDFRequest {
  return {
    paperWidth: sheet.widthMm / MM_PER_INCH,
    paperHeight: sheet.heightMm / MM_PER_INCH,
    marginTop: sheet.topMm / MM_PER_INCH,
    marginRight: sheet.rightMm / MM_PER_INCH,
    marginBottom: sheet.bottomMm / MM_PER_INCH,
    marginLeft: sheet.leftMm / MM_PER_INCH,
    preferCSSPageSize: true,
    printBackground: sheet.withBackground,
    // Tags make a PDF several times as large, and twice as slow.
    generateTaggedPDF: false,
    transferMode: 'ReturnAsStream',
  };
}

async function dispose(browser: Browser, browserContextId: string): Promise<void> {
  const disposed = browser.session.send('Target.disposeBrowserContext', { browserContextId }).then(
    () => true,
    () => false,
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS, false);
  });
  const isDisposed = await Promise.race([disposed, late]);
  clearTimeout(timer);
  if (!isDisposed) await browser.close();
}

function crash(): ServiceError {
  return new ServiceError('engine_crashed', 'Chromium crashed on this document', { reason: 'internal' });
}

function unprintable(cause: Error): ServiceError {
  const text = cause.message.replace(/^Protocol error \(.*?\): /, '');
  return new ServiceError('conversion_failed', `Chromium cannot print the document: ${text}`, {
    reason: 'internal',
    cause,
  });
}
