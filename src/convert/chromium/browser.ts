/**
 * One running Chromium: without network, with a profile that lives as long as it does, driven over a pipe. Nobody else
 * can reach it, for it listens on no port.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { CDPSession, Browser as DevTools } from 'puppeteer-core';
import { ServiceError } from '../../errors.js';
import { type ProcessEnd, ProcessGroup } from '../processes/process-group.js';
import { DevToolsPipe } from './pipe.js';

export interface BrowserSettings {
  /** Path of the program. */
  readonly program: string;
  /** Without the program's own sandbox, which root cannot have and some containers do not allow. */
  readonly noSandbox: boolean;
  /** An existing private folder; a profile is made in it and removed with the browser. */
  readonly profileRoot: string;
  /** Variables beside those that every browser gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** What comes before the program and its arguments, to wall it in. */
  readonly prefix: readonly string[];
  /** Marks its processes. */
  readonly owner: string;
  /** It is ended when its processes together hold more. */
  readonly maxResidentBytes: number;
}

const START_MS = 30_000;
/** It ends without a word that gets through where it cannot have one. */
const SANDBOX_ADVICE =
  '; its sandbox needs user namespaces: where the machine or container has none, chrome_no_sandbox starts it without';
/** Gives way to the threads that answer requests. */
const NICENESS = 5;
/** What it prints last tells why it ended. */
const KEPT_OUTPUT_BYTES = 2000;

/**
 * Three walls against the network, each enough by itself: tabs refuse every request (tab.ts), a proxy that is not there
 * takes what would get through, and no name is resolved. The rest keeps the browser from doing things of its own.
 */
const ARGUMENTS: readonly string[] = [
  '--headless',
  '--remote-debugging-pipe',
  '--proxy-server=127.0.0.1:1',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--dns-prefetch-disable',
  '--no-pings',
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-crash-reporter',
  '--disable-default-apps',
  '--disable-dev-shm-usage',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-features=MediaRouter,OptimizationHints,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater,AutoupgradeMixedContent',
  '--disable-gpu',
  '--disable-notifications',
  '--disable-quic',
  // All frames of a document in one process, so that the rules of its tab hold for each of them.
  '--disable-site-isolation-trials',
  '--disable-sync',
  '--force-color-profile=srgb',
  '--font-render-hinting=none',
  '--lang=en-US',
  // What ends it; all else is about buses and devices that it does not find.
  '--log-level=3',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-service-autorun',
  '--password-store=basic',
  '--use-mock-keychain',
  // Stands as the creator in every PDF: nothing of the machine.
  '--user-agent=ofd-server',
];

export class Browser {
  /** Sends to the browser as a whole. */
  readonly session: CDPSession;
  /** Resolves when none of its processes is left and its profile is gone. */
  readonly ended: Promise<void>;
  /** How it ended; undefined while it runs. */
  end: ProcessEnd | undefined;
  /** Whether it had gone before anybody ended what was left of it; undefined while nobody has. */
  #wasBroken: boolean | undefined;
  readonly #group: ProcessGroup;
  readonly #output: Output;

  private constructor(session: CDPSession, group: ProcessGroup, output: Output, profile: string) {
    this.session = session;
    this.#group = group;
    this.#output = output;
    this.ended = group.ended
      .then((end) => {
        this.end = this.#wasBroken && end.cause === 'stopped' ? { ...end, cause: 'exited' } : end;
      })
      .catch(() => undefined)
      .then(() => removeProfile(profile));
  }

  /**
   * @param log takes what the start prints
   * @throws ServiceError `engine_crashed` where the program does not start
   */
  static async start(
    settings: BrowserSettings,
    log: (bytes: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<Browser> {
    const profile = await mkdtemp(join(settings.profileRoot, 'chromium-'));
    const output = new Output();
    const stopListening = output.listen(log);
    const group = startProgram(settings, profile, output);
    const timer = new AbortController();
    const browserEnded = group.ended.then(() => Promise.reject(new Error('it ended')));
    try {
      const session = await Promise.race([
        connect(group),
        browserEnded,
        failLater(START_MS, timer.signal),
        rejectOnAbort(signal, timer.signal),
      ]);
      return new Browser(session, group, output, profile);
    } catch (error) {
      const end = await group.stop().catch(() => undefined);
      await removeProfile(profile);
      if (signal.aborted) throw signal.reason;
      if (end?.cause === 'memory') throw needsTooMuch();
      const { message } = error as Error;
      throw new ServiceError(
        'engine_crashed',
        `Chromium (${settings.program}) does not start: ${message}; it printed: ${output.last}${settings.noSandbox ? '' : SANDBOX_ADVICE}`,
        { reason: 'internal', cause: error },
      );
    } finally {
      timer.abort();
      stopListening();
    }
  }

  /** Takes what the browser prints from now on; gives the way to stop. */
  listen(log: (bytes: Uint8Array) => void): () => void {
    return this.#output.listen(log);
  }

  /** The session of a target that `session` has been attached to. */
  sessionOf(id: string): CDPSession {
    const session = this.session.connection()?.session(id);
    if (!session) throw new Error('The browser has closed the tab');
    return session;
  }

  /** It has ended, or is about to: it does not answer any more. */
  get isLost(): boolean {
    return this.end !== undefined || this.session.detached;
  }

  /** Ends all its processes. */
  async close(): Promise<void> {
    // Its pipe breaks before the system tells of its end, the more so where others stand around it.
    this.#wasBroken ??= this.session.detached;
    await this.#group.stop().catch(() => undefined);
    await this.ended;
  }

  /** The error of a conversion that the browser's own end took along. */
  failure(): ServiceError {
    return this.end?.cause === 'memory'
      ? needsTooMuch()
      : new ServiceError('engine_crashed', `Chromium ended in the middle of its work: ${this.#output.last}`, {
          reason: 'internal',
        });
  }
}

function needsTooMuch(): ServiceError {
  return new ServiceError('conversion_failed', 'The document needs more memory than Chromium may take', {
    reason: 'too_large',
  });
}

function startProgram(settings: BrowserSettings, profile: string, output: Output): ProcessGroup {
  const { program, noSandbox, prefix, environment, owner, maxResidentBytes } = settings;
  const own = [...ARGUMENTS, `--user-data-dir=${profile}`, ...(noSandbox ? ['--no-sandbox'] : [])];
  const [command = program, ...args] = [...prefix, program, ...own];
  return new ProcessGroup({
    name: 'Chromium',
    command,
    args,
    workingDirectory: profile,
    environment: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      HOME: profile,
      // Short: sockets lie there, and the path of a socket has at most 107 bytes.
      TMPDIR: '/proc/self/cwd',
      XDG_RUNTIME_DIR: profile,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      // There is no bus that it should talk to.
      DBUS_SESSION_BUS_ADDRESS: 'disabled:',
      ...environment,
    },
    owner,
    log: (bytes) => output.write(bytes),
    extraPipes: 2,
    niceness: NICENESS,
    maxResidentBytes,
  });
}

async function connect(group: ProcessGroup): Promise<CDPSession> {
  const [, , , toBrowser, fromBrowser] = group.child.stdio;
  if (!toBrowser || !fromBrowser) throw new Error('it has no pipes');
  // Loaded when it is needed: most conversions of the command line go without.
  const { default: puppeteer } = await import('puppeteer-core');
  const devTools: DevTools = await puppeteer.connect({
    transport: new DevToolsPipe(toBrowser as Writable, fromBrowser as Readable),
    defaultViewport: null,
    // Conversions have their own clock, and a large document may take its time.
    protocolTimeout: 0,
    targetFilter: (target) => target.type() === 'browser',
  });
  return devTools.target().createCDPSession();
}

function failLater(ms: number, signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  });
}

/** @param until stops listening when it aborts */
export function rejectOnAbort(signal: AbortSignal, until: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: until });
  });
}

async function removeProfile(profile: string): Promise<void> {
  await rm(profile, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
}

/** What a browser prints goes to everybody who works with it: nothing in it tells of whom it speaks. */
class Output {
  readonly #listeners = new Set<(bytes: Uint8Array) => void>();
  #last = '';

  write(bytes: Uint8Array): void {
    this.#last = (this.#last + Buffer.from(bytes).toString('utf8')).slice(-KEPT_OUTPUT_BYTES);
    for (const listener of this.#listeners) listener(bytes);
  }

  listen(listener: (bytes: Uint8Array) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The last line of the program's own. */
  get last(): string {
    const lines = this.#last.split('\n').map((line) => line.trim());
    return lines.filter((line) => line !== '' && !line.startsWith('[ofd-server]')).at(-1) ?? 'nothing';
  }
}
