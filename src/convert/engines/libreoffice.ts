/**
 * Office documents, spreadsheets, presentations, CSV and plain text to PDF by LibreOffice: one process a conversion, on
 * a profile of its own, without network, ended whole. LibreOffice's exit code says nothing: what counts is a PDF.
 */
import { createHash } from 'node:crypto';
import { createReadStream, realpathSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Report } from '../../display/list.js';
import { ServiceError } from '../../errors.js';
import { withFileSource } from '../byte-source.js';
import { encrypted } from '../office/examine.js';
import { isWholePdf, writePdfProduct } from '../office/pdf-product.js';
import { type Prepared, prepare } from '../office/prepare.js';
import { reportMissingCharacters } from '../placeholders.js';
import { findProgram } from '../processes/find-program.js';
import { findIsolation, type Isolation } from '../processes/isolation.js';
import { endStrays, type ProcessEnd, ProcessGroup } from '../processes/process-group.js';
import { removeFolder } from '../workspace.js';
import type { Engine, EngineResult, EngineRun } from './engine.js';
import { engineFault } from './faults.js';
import { ProfileStore, profileUrl, socketPath } from './libreoffice-profile.js';
import { WarningList } from './warning-list.js';

export interface LibreOfficeOptions {
  /** From findSoffice(). */
  readonly sofficePath: string;
  /** An existing private folder of this engine alone. */
  readonly profileRoot: string;
  readonly fontDirs: readonly string[];
  /** What is put around each process; the strongest that works here where absent. */
  readonly isolation?: Isolation;
  /** A conversion whose processes hold more memory is ended. */
  readonly maxResidentBytes?: number;
  /** Told when a process did not end by itself. */
  readonly onEngineEnd?: (reason: 'crashed' | 'memory' | 'stopped') => void;
}

/** A document of some thousand pages takes 1 GB; LibreOffice itself 220 MB. */
const MAX_RESIDENT_BYTES = 3 * 1024 ** 3;
/** Requests are answered first. */
const NICENESS = 5;
/** LibreOffice made up its profile and wants to be started again. */
const RESTART_CODES: readonly (number | undefined)[] = [79, 81];
const MOST_STARTS = 3;
const MAKE_UP_MS = 120_000;
/** Of what it prints, enough to know a refusal by. */
const KEPT_OUTPUT_BYTES = 64 * 1024;

/** The program that a configuration names, or that PATH holds; undefined where there is none that can be run. */
export function findSoffice(configured: string): string | undefined {
  const found = findProgram(configured, ['soffice', 'libreoffice']);
  return found && resolve(found);
}

/** `soffice` is a script around this program, which saves a second without it. */
function innerProgram(sofficePath: string): string {
  return findProgram(join(dirname(realpathSync(sofficePath)), 'soffice.bin'), []) ?? sofficePath;
}

export class LibreOfficeEngine implements Engine {
  readonly #options: LibreOfficeOptions;
  readonly #program: string;
  readonly #owner: string;
  readonly #profiles: ProfileStore;
  readonly #groups = new Set<ProcessGroup>();
  readonly #strays: Promise<unknown>;
  #isClosed = false;

  constructor(options: LibreOfficeOptions) {
    this.#options = options;
    this.#program = innerProgram(options.sofficePath);
    this.#owner = createHash('sha256').update(resolve(options.profileRoot)).digest('hex').slice(0, 16);
    this.#strays = endStrays(this.#owner);
    this.#profiles = new ProfileStore({
      root: options.profileRoot,
      fontDirs: options.fontDirs,
      makeUp: (profile) => this.#makeUp(profile),
    });
  }

  async convert(run: EngineRun): Promise<EngineResult> {
    await this.#strays;
    run.signal.throwIfAborted();
    const folder = join(run.scratchDirectory, 'libreoffice');
    await mkdir(folder, { mode: 0o700 });
    try {
      return await this.#convertIn(folder, run);
    } catch (error) {
      await run.output.discard();
      throw run.signal.aborted ? run.signal.reason : engineFault(error, 'LibreOffice', run.pagesField);
    } finally {
      await removeFolder(folder);
    }
  }

  /** LibreOffice is started once, to make up its profile. */
  async warm(): Promise<void> {
    await this.#strays;
    await this.#profiles.prepare();
  }

  /** Ends every process; conversions still running reject. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#groups].map((group) => group.stop()));
  }

  async #convertIn(folder: string, run: EngineRun): Promise<EngineResult> {
    const warnings = new WarningList(run.options.failOn ?? []);
    const prepared = await prepare(folder, run, warnings.report);
    warnings.throwIfFatal();
    run.onOpened(prepared.format);
    const outputFolder = join(folder, 'out');
    await mkdir(outputFolder, { mode: 0o700 });
    const profile = join(folder, 'profile');
    await this.#profiles.makeAt(profile);
    run.signal.throwIfAborted();
    const args = [
      `--infilter=${prepared.inputFilter}`,
      ...['--convert-to', `pdf:${prepared.outputFilter}`, '--outdir', outputFolder, prepared.path],
    ];
    const output = new KeptOutput(run.log);
    const end = await this.#start(profile, folder, args, { ...run, log: output.take });
    run.signal.throwIfAborted();
    const pdf = join(outputFolder, `${basename(prepared.path).replace(/\.[^.]*$/, '')}.pdf`);
    const pages = await this.#product(pdf, run, warnings.report);
    if (pages === undefined) throw this.#failure(end, prepared, output.text);
    warnings.throwIfFatal();
    run.onProgress(pages, pages);
    return { pages, warnings: warnings.list, fromActual: prepared.format };
  }

  /** undefined where LibreOffice made none. */
  async #product(pdf: string, run: EngineRun, report: Report): Promise<number | undefined> {
    try {
      return await withFileSource(pdf, async (source) => {
        if (!(await isWholePdf(source))) return undefined;
        const identifier = (await digestOf(run.inputPath)).subarray(0, 16);
        await reportMissingCharacters(source, report);
        return writePdfProduct(source, identifier, await run.output.openDocumentAsync());
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async #makeUp(profile: string): Promise<void> {
    const scratch = `${profile}-scratch`;
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    const output = new KeptOutput(() => undefined);
    try {
      const end = await this.#start(profile, scratch, ['--terminate_after_init'], {
        signal: AbortSignal.timeout(MAKE_UP_MS),
        log: output.take,
        onAlive: () => undefined,
      });
      if (end.cause === 'exited' && end.exitCode === 0) return;
      throw new ServiceError(
        'engine_crashed',
        `LibreOffice (${this.#program}) makes no profile: ${output.text.slice(-500)}`,
        { reason: 'internal' },
      );
    } finally {
      await removeFolder(scratch);
    }
  }

  /** Starts LibreOffice, again where it asks for that, and waits for the end of all its processes. */
  async #start(
    profile: string,
    folder: string,
    args: readonly string[],
    hooks: Pick<EngineRun, 'signal' | 'log' | 'onAlive'>,
  ): Promise<ProcessEnd> {
    for (let starts = 1; ; starts++) {
      const end = await this.#startOnce(profile, folder, args, hooks);
      if (!RESTART_CODES.includes(end.exitCode) || starts === MOST_STARTS || hooks.signal.aborted) return end;
    }
  }

  async #startOnce(
    profile: string,
    folder: string,
    args: readonly string[],
    { signal, log, onAlive }: Pick<EngineRun, 'signal' | 'log' | 'onAlive'>,
  ): Promise<ProcessEnd> {
    if (this.#isClosed) throw new ServiceError('shutting_down', 'The LibreOffice engine is closed');
    const temporary = join(folder, 'tmp');
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    const { prefix } = this.#options.isolation ?? (await findIsolation());
    const [command = '', ...rest] = [
      ...prefix,
      this.#program,
      `-env:UserInstallation=${profileUrl(profile)}`,
      ...['--headless', '--norestore', '--nolockcheck', '--nodefault', '--nologo'],
      ...args,
    ];
    const group = new ProcessGroup({
      name: 'libreoffice',
      command,
      args: rest,
      workingDirectory: folder,
      environment: this.#environment(folder, temporary),
      owner: this.#owner,
      log,
      niceness: NICENESS,
      maxResidentBytes: this.#options.maxResidentBytes ?? MAX_RESIDENT_BYTES,
      onAlive,
    });
    const onAbort = (): void => void group.stop().catch(() => undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#groups.add(group);
    try {
      if (signal.aborted) onAbort();
      return await group.ended;
    } catch (error) {
      throw new ServiceError('engine_crashed', `LibreOffice: ${(error as Error).message}`, {
        reason: 'internal',
        cause: error,
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#groups.delete(group);
      await rm(socketPath(profile), { force: true });
    }
  }

  #environment(home: string, temporary: string): Record<string, string> {
    return {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: home,
      TMPDIR: temporary,
      LANG: 'C.UTF-8',
      FONTCONFIG_FILE: this.#profiles.fontconfigPath,
      SAL_USE_VCLPLUGIN: 'svp',
      http_proxy: 'http://127.0.0.1:1',
      https_proxy: 'http://127.0.0.1:1',
    };
  }

  #failure(end: ProcessEnd, prepared: Prepared, output: string): ServiceError {
    const { onEngineEnd } = this.#options;
    if (end.cause === 'memory') {
      onEngineEnd?.('memory');
      return new ServiceError('conversion_failed', 'The document needs more memory than a conversion may take', {
        reason: 'too_large',
      });
    }
    if (end.cause === 'stopped') {
      onEngineEnd?.('stopped');
      return new ServiceError('shutting_down', 'The LibreOffice engine was closed');
    }
    if (prepared.mayBeEncrypted) return encrypted();
    if (end.exitCode === 0 || /could not be loaded|could not be saved/.test(output)) {
      return new ServiceError('conversion_failed', `LibreOffice cannot read the document as ${prepared.format}`, {
        reason: 'corrupt',
      });
    }
    onEngineEnd?.('crashed');
    return new ServiceError(
      'engine_crashed',
      `LibreOffice ended by ${end.signal ?? `code ${end.exitCode}`} and left no PDF`,
      { reason: 'internal' },
    );
  }
}

/** What a program prints: handed on, and the end of it kept. */
class KeptOutput {
  #kept: Buffer = Buffer.alloc(0);
  readonly take: (bytes: Uint8Array) => void;

  constructor(next: (bytes: Uint8Array) => void) {
    this.take = (bytes) => {
      this.#kept = Buffer.concat([this.#kept, bytes.subarray(-KEPT_OUTPUT_BYTES)]).subarray(-KEPT_OUTPUT_BYTES);
      next(bytes);
    };
  }

  get text(): string {
    return this.#kept.toString('utf8');
  }
}

async function digestOf(path: string): Promise<Buffer> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest();
}
