/** `ofd-server -c FILE`: the daemon in the foreground, its signals and exit codes (contract R6); `--check-config`. */
import { parseArgs } from 'node:util';
import { misnamedPaths } from '../app/named-paths.js';
import { ConfigError, loadConfig, type Service, StartError, startService } from '../app.js';
import { refuseTwice } from './given-twice.js';

export interface ServeArguments {
  readonly configPath: string;
  readonly checkOnly: boolean;
}

/** The arguments of the daemon, or a sentence that says what is wrong with them. */
export function parseServeArguments(args: readonly string[]): ServeArguments | string {
  try {
    const { values, tokens } = parseArgs({
      args: [...args],
      tokens: true,
      options: { config: { type: 'string', short: 'c' }, 'check-config': { type: 'boolean' } },
    });
    refuseTwice(tokens);
    if (values.config === undefined) return 'ofd-server: give a configuration file with -c, or a command';
    return { configPath: values.config, checkOnly: values['check-config'] ?? false };
  } catch (error) {
    return `ofd-server: ${(error as Error).message}`;
  }
}

const LINGER_MS = 5000;

function endNow(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Everything is closed: what keeps the process now is a call that hangs on a volume, and would do so for ever. */
function endIfItLingers(): void {
  setTimeout(endNow, LINGER_MS).unref();
}

/** Runs until a signal ends it. Exit codes: 0 after a graceful end, 1 when it can't start, 2 for a faulty configuration. */
export async function serveCommand({ configPath, checkOnly }: ServeArguments): Promise<number> {
  try {
    const { config, warnings } = loadConfig(configPath, process.env);
    if (checkOnly) {
      for (const warning of [...warnings, ...(await misnamedPaths(config))])
        process.stderr.write(`warning: ${warning}\n`);
      process.stdout.write(`${configPath} is fit for use\n`);
      return 0;
    }
    // Whoever starts it may ask for a reload at once, which would end a process that does not listen yet.
    let service: Service | undefined;
    let isReloadWanted = false;
    process.on('SIGHUP', () => {
      isReloadWanted = true;
      if (service) reload(service, configPath);
    });
    service = await startService(config, { warnings });
    if (isReloadWanted) reload(service, configPath);
    // Node prints it and ends the process; what is read afterwards is the log, written at once at this level.
    const { logger } = service;
    process.on('uncaughtExceptionMonitor', (error) => logger.fatal({ err: error }, 'the process ends'));
    await runUntilSignal(service).catch((error: unknown) => {
      process.stderr.write(`ofd-server: the end was not graceful: ${(error as Error).message}\n`);
      // A thread that hangs in a call would keep the process for ever.
      endNow();
    });
    endIfItLingers();
    return 0;
  } catch (error) {
    endIfItLingers();
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.faults.join('\n')}\n`);
      return 2;
    }
    if (error instanceof StartError) {
      process.stderr.write(`ofd-server: ${error.message}\n`);
      return 1;
    }
    throw error;
  }
}

/** Reads the configuration again and takes of it what can change while the service runs; a faulty one changes nothing. */
function reload(service: Service, configPath: string): void {
  try {
    service.reload(loadConfig(configPath, process.env).config);
  } catch (error) {
    const what = error instanceof ConfigError ? { faults: error.faults } : { err: error };
    service.logger.error(what, 'the configuration was not read again');
  }
}

/** One wish to end often arrives twice: to the process from its parent, and to its group from the terminal. */
const SAME_SIGNAL_MS = 20;

/** The first SIGTERM or SIGINT ends the service gracefully; a second one ends the process at once. */
function runUntilSignal(service: Service): Promise<void> {
  return new Promise((resolve, reject) => {
    let firstAtMs: number | undefined;
    const onSignal = (): void => {
      if (firstAtMs !== undefined) {
        // A stuck call can keep process.exit from ending the process: then only SIGKILL does.
        if (Date.now() - firstAtMs > SAME_SIGNAL_MS) endNow();
        return;
      }
      firstAtMs = Date.now();
      service.shutDown().then(resolve, reject);
    };
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  });
}
