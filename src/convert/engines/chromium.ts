/**
 * HTML and MHTML to PDF by Chromium. One browser serves many conversions, each in a context of its own; it is replaced
 * after so many of them, when it crashed, and when it has had nothing to do for a while.
 */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ServiceError } from '../../errors.js';
import { Browser, rejectOnAbort } from '../chromium/browser.js';
import { PdfStream } from '../chromium/pdf-stream.js';
import { type Sheet, Tab } from '../chromium/tab.js';
import { readWebDocument } from '../chromium/web-document.js';
import type { ConversionOptions } from '../converter-types.js';
import { DEFAULT_MARGINS, DEFAULT_PAPER, parseMargins, parsePaper } from '../paper.js';
import { findProgram } from '../processes/find-program.js';
import { findIsolation, type Isolation } from '../processes/isolation.js';
import { endStrays } from '../processes/process-group.js';
import type { Engine, EngineResult, EngineRun } from './engine.js';
import { fontconfigFile } from './libreoffice-fonts.js';
import { engineFault } from './faults.js';
import { WarningList } from './warning-list.js';

export type BrowserEnd = 'recycled' | 'crashed' | 'memory' | 'stopped';

export interface ChromiumOptions {
  /** From findChrome(). */
  readonly program: string;
  /** Root cannot have the program's own sandbox and goes without it in any case. */
  readonly noSandbox: boolean;
  /** An existing private folder of this engine alone. */
  readonly profileRoot: string;
  readonly fontDirs: readonly string[];
  /** What is put around the browser; the strongest that works here where absent. */
  readonly isolation?: Isolation;
  /** A browser is replaced after so many. */
  readonly conversionsPerBrowser?: number;
  /** A browser without work is ended after so long. */
  readonly idleMs?: number;
  /** A browser whose processes hold more is ended. */
  readonly maxResidentBytes?: number;
  readonly onBrowserEnd?: (reason: BrowserEnd) => void;
}

const CONVERSIONS_PER_BROWSER = 100;
const IDLE_MS = 5 * 60_000;
/** Shared memory counts for each process that has it; an idle browser comes to 0.8 GB. */
const MAX_RESIDENT_BYTES = 4 * 1024 ** 3;

/** The program that a configuration names, or that PATH holds; undefined where there is none that can be run. */
export function findChrome(configured: string): string | undefined {
  return findProgram(configured, ['chromium', 'chromium-browser', 'google-chrome', 'chrome']);
}

interface Place {
  readonly browser: Promise<Browser>;
  conversions: number;
  active: number;
  idleTimer: NodeJS.Timeout | undefined;
}

export class ChromiumEngine implements Engine {
  readonly #options: ChromiumOptions;
  readonly #owner: string;
  readonly #strays: Promise<unknown>;
  readonly #places = new Set<Place>();
  /** Where the next conversion goes. */
  #current: Place | undefined;
  #isClosed = false;

  constructor(options: ChromiumOptions) {
    this.#options = options;
    this.#owner = createHash('sha256').update(resolve(options.profileRoot)).digest('hex').slice(0, 16);
    this.#strays = endStrays(this.#owner);
  }

  async convert(run: EngineRun): Promise<EngineResult> {
    const { from, signal } = run;
    if (from !== 'html' && from !== 'mhtml') {
      throw new ServiceError('internal_error', `Chromium is no engine for ${from}`);
    }
    const warnings = new WarningList(run.options.failOn ?? []);
    const done = new AbortController();
    try {
      signal.throwIfAborted();
      const document = await readWebDocument(run.inputPath, from);
      const pages = await this.#withBrowser(run, done.signal, async (browser) => {
        const opening = Tab.open(browser, {
          onBlocked: (kind, url) =>
            warnings.report({
              code: 'resource_blocked',
              message: `${kind} ${url} is not in the document and was not fetched`,
            }),
          onAlive: () => run.onAlive(),
          log: (text) => run.log(Buffer.from(`${text}\n`)),
        });
        const tab = await opening;
        try {
          return await Promise.race([print(tab, document, run, warnings), rejectOnAbort(signal, done.signal)]);
        } finally {
          await tab.close();
        }
      });
      run.onProgress(pages, pages);
      return { pages, warnings: warnings.list };
    } catch (error) {
      run.output.discard();
      throw signal.aborted ? signal.reason : engineFault(error, 'Chromium', run.pagesField);
    } finally {
      done.abort();
    }
  }

  /** Ends every browser; conversions still running reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#current = undefined;
    await Promise.all([...this.#places].map((place) => this.#end(place, undefined)));
  }
}
