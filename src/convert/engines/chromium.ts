/** HTML and MHTML to PDF by Chromium: one browser serves many conversions, each in a context of its own. */
import { createHash, randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ServiceError } from '../../errors.js';
import { scanFonts } from '../../fonts/system.js';
import { type ByteSource, withFileSource } from '../byte-source.js';
import { type Browser, type BrowserSettings, rejectOnAbort } from '../chromium/browser.js';
import { PdfStream } from '../chromium/pdf-stream.js';
import { type BrowserEnd, BrowserPool, LostBrowser } from '../chromium/pool.js';
import { type Sheet, Tab, type TabHooks } from '../chromium/tab.js';
import { readWebDocument } from '../chromium/web-document.js';
import type { ConversionOptions } from '../converter-types.js';
import type { AsyncOutputFile } from '../output-files.js';
import { defaultMargins, parseMargins, sheetSize } from '../paper.js';
import { reportMissingCharacters } from '../placeholders.js';
import { findProgram } from '../processes/find-program.js';
import { fontconfigFile, fontconfigFolders, makeFontconfigFolders, makePlaceholders } from '../processes/fontconfig.js';
import { findIsolation, type Isolation } from '../processes/isolation.js';
import { endStrays } from '../processes/process-group.js';
import type { Engine, EngineResult, EngineRun } from './engine.js';
import { engineFault } from './faults.js';
import { WarningList } from './warning-list.js';

export interface ChromiumOptions {
  /** From findChrome(). */
  readonly program: string;
  /** Without the program's own sandbox; root cannot have it and goes without in any case. */
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
/** Memory that processes share counts for each of them. */
const MAX_RESIDENT_BYTES = 4 * 1024 ** 3;
/** A start on a busy machine. */
const WARM_MS = 120_000;
/** A tab that does not open by then, after its conversion was stopped, is one of a browser that hangs. */
const LATE_TAB_MS = 1000;

/** The program that a configuration names, or that PATH holds; undefined where there is none that can be run. */
export function findChrome(configured: string): string | undefined {
  return findProgram(configured, ['chromium', 'chromium-browser', 'google-chrome', 'chrome']);
}

export class ChromiumEngine implements Engine {
  readonly #pool: BrowserPool;
  #prepared: Promise<Prepared> | undefined;

  constructor(options: ChromiumOptions) {
    this.#pool = new BrowserPool({
      settings: () => this.#settingsOf(options),
      conversionsPerBrowser: options.conversionsPerBrowser ?? CONVERSIONS_PER_BROWSER,
      idleMs: options.idleMs ?? IDLE_MS,
      onBrowserEnd: options.onBrowserEnd,
    });
  }

  /** Prepared once; again where that failed. The files are made where somebody cleans up old temporary files. */
  async #settingsOf(options: ChromiumOptions): Promise<BrowserSettings> {
    const preparing = this.#prepared ?? prepare(options);
    this.#prepared = preparing;
    try {
      const prepared = await preparing;
      await makeFiles(options, prepared);
      return prepared.settings;
    } catch (error) {
      if (this.#prepared === preparing) this.#prepared = undefined;
      throw error;
    }
  }

  async convert(run: EngineRun): Promise<EngineResult> {
    const { signal } = run;
    const warnings = new WarningList(run.options.failOn ?? []);
    const hooks: TabHooks = {
      onBlocked: (kind, url) =>
        warnings.report({
          code: 'resource_blocked',
          message: `${kind} ${url} is not in the document and was not fetched`,
        }),
      onAlive: () => run.onAlive(),
      log: (text) => run.log(Buffer.from(`${text}\n`)),
    };
    try {
      signal.throwIfAborted();
      const pages = await this.#print(run, hooks, warnings);
      run.onProgress(pages, pages);
      return { pages, warnings: warnings.list };
    } catch (error) {
      await run.output.discard();
      throw signal.aborted ? signal.reason : engineFault(error, 'Chromium', run.pagesField);
    }
  }

  /** Gives the number of pages. A conversion that lost its browser among others shows by itself whose fault it was. */
  async #print(run: EngineRun, hooks: TabHooks, warnings: WarningList): Promise<number> {
    const { signal, log } = run;
    const product = new Product(run);
    const work = (browser: Browser): Promise<number> =>
      withTab(browser, hooks, signal, (tab) => print(tab, run, warnings, product));
    try {
      return await this.#pool.use(signal, log, work);
    } catch (error) {
      if (!(error instanceof LostBrowser)) throw error;
      if (!error.wasShared || product.hasBegun) throw error.failure;
      return await this.#pool.useAlone(signal, log, work).catch((again: unknown) => {
        throw again instanceof LostBrowser ? again.failure : again;
      });
    }
  }

  /** Starts the browser that the first conversion works with. */
  async warm(): Promise<void> {
    await this.#pool.use(
      AbortSignal.timeout(WARM_MS),
      () => undefined,
      async () => undefined,
    );
  }

  /** Ends every browser; conversions still running reject. */
  async close(): Promise<void> {
    await this.#pool.close();
  }
}

interface Prepared {
  readonly settings: BrowserSettings;
  /** Text of the file: all fonts of the machine are looked through for it, once. */
  readonly fontconfig: string;
  /** By their names. */
  readonly placeholders: ReadonlyMap<string, Uint8Array>;
}

async function prepare(options: ChromiumOptions): Promise<Prepared> {
  const owner = createHash('sha256').update(resolve(options.profileRoot)).digest('hex').slice(0, 16);
  await endStrays(owner);
  const { prefix } = options.isolation ?? (await findIsolation());
  const settings = {
    program: options.program,
    noSandbox: options.noSandbox || process.getuid?.() === 0,
    profileRoot: options.profileRoot,
    environment: { FONTCONFIG_FILE: fontconfigPath(options) },
    prefix,
    owner,
    maxResidentBytes: options.maxResidentBytes ?? MAX_RESIDENT_BYTES,
  };
  const index = scanFonts(options.fontDirs);
  const fontconfig = fontconfigFile(options.fontDirs, fontconfigFolders(options.profileRoot), index);
  return { settings, fontconfig, placeholders: await makePlaceholders(index) };
}

const fontconfigPath = ({ profileRoot }: ChromiumOptions): string => join(profileRoot, 'fonts.conf');

/** What a browser finds in its folder when it starts. Other browsers may be reading it. */
async function makeFiles(options: ChromiumOptions, { fontconfig, placeholders }: Prepared): Promise<void> {
  await makeFontconfigFolders(fontconfigFolders(options.profileRoot), placeholders);
  const whole = join(options.profileRoot, `fonts-${randomUUID()}.conf`);
  await writeFile(whole, fontconfig, { mode: 0o600 });
  await rename(whole, fontconfigPath(options));
}

/** Whatever happens, the tab is gone in the end; where it cannot be closed, its browser is. */
async function withTab<Result>(
  browser: Browser,
  hooks: TabHooks,
  signal: AbortSignal,
  work: (tab: Tab) => Promise<Result>,
): Promise<Result> {
  const done = new AbortController();
  const aborted = rejectOnAbort(signal, done.signal);
  const opening = Tab.open(browser, hooks);
  try {
    const tab = await Promise.race([opening, aborted]);
    return await Promise.race([work(tab), aborted]);
  } finally {
    done.abort();
    await closeWhenOpen(browser, opening);
  }
}

async function closeWhenOpen(browser: Browser, opening: Promise<Tab>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, LATE_TAB_MS, undefined);
  });
  const isOpen = opening.then(
    (tab) => ({ tab }),
    () => ({ tab: undefined }),
  );
  const opened = await Promise.race([isOpen, late]);
  clearTimeout(timer);
  if (opened === undefined) await browser.close();
  else await opened.tab?.close();
}

/** The file of a run, opened when its first bytes come: until then the conversion can begin anew. */
class Product {
  readonly #run: EngineRun;
  #file: Promise<AsyncOutputFile> | undefined;

  constructor(run: EngineRun) {
    this.#run = run;
  }

  get hasBegun(): boolean {
    return this.#file !== undefined;
  }

  async write(bytes: Uint8Array): Promise<void> {
    // What comes after the end of the run would be written into a file that is gone.
    this.#run.signal.throwIfAborted();
    this.#file ??= this.#run.output.openDocumentAsync();
    await (await this.#file).write(bytes);
  }

  /** Looks through what was written. */
  async check(look: (pdf: ByteSource) => Promise<void>): Promise<void> {
    const file = await this.#file;
    if (file !== undefined) await withFileSource(file.path, look);
  }
}

async function print(tab: Tab, run: EngineRun, warnings: WarningList, product: Product): Promise<number> {
  const { from } = run;
  if (from !== 'html' && from !== 'mhtml') throw new ServiceError('internal_error', `Chromium does not read ${from}`);
  await tab.show(await readWebDocument(run.inputPath, from));
  run.onOpened(from);
  warnings.throwIfFatal();
  const pdf = new PdfStream((bytes) => product.write(bytes));
  await tab.print(sheetOf(run.options), (bytes) => pdf.write(bytes));
  await pdf.end();
  await product.check((bytes) => reportMissingCharacters(bytes, warnings.report));
  warnings.throwIfFatal();
  return pdf.pages;
}

function sheetOf({ paper, margins, landscape, printBackground }: ConversionOptions): Sheet {
  const size = sheetSize(paper, landscape);
  return {
    ...size,
    ...(margins === undefined ? defaultMargins(size) : parseMargins(margins)),
    isSizeForced: paper !== undefined || landscape !== undefined,
    areMarginsForced: margins !== undefined,
    withBackground: printBackground ?? true,
  };
}
