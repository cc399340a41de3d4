/** `ofd-server healthcheck`: asks the running service whether it turns, for containers (contract D2). */
import { parseArgs } from 'node:util';
import { ConfigError, loadListen } from '../app/settings.js';
import { refuseTwice } from './given-twice.js';

const DEFAULT_CONFIG = '/etc/ofd-server/config.json';
const TIMEOUT_MS = 4000;

export const HEALTHCHECK_USAGE = `ofd-server healthcheck [-c FILE] [--ready]

  -c FILE     the service's configuration, of which \`listen\` alone is read (${DEFAULT_CONFIG})
  --ready     asks /readyz in place of /healthz

  Exit codes: 0 well, 1 not, 2 wrong usage or configuration
`;

/** Runs the command with the arguments after `healthcheck`; gives the exit code. */
export async function healthcheckCommand(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(HEALTHCHECK_USAGE);
    return 0;
  }
  let url: string;
  try {
    const { values, tokens } = parseArgs({
      args: [...args],
      tokens: true,
      options: { config: { type: 'string', short: 'c', default: DEFAULT_CONFIG }, ready: { type: 'boolean' } },
    });
    refuseTwice(tokens);
    url = `${addressOf(loadListen(values.config, process.env))}${values.ready ? '/readyz' : '/healthz'}`;
  } catch (error) {
    const text = error instanceof ConfigError ? error.faults.join('\n') : (error as Error).message;
    process.stderr.write(`ofd-server healthcheck: ${text}\n`);
    return 2;
  }
  return ask(url);
}

async function ask(url: string): Promise<number> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.ok) return 0;
    process.stderr.write(`ofd-server healthcheck: ${url} answers ${answer.status}: ${await answer.text()}\n`);
  } catch (error) {
    const { message, cause } = error as Error;
    process.stderr.write(`ofd-server healthcheck: ${url}: ${cause instanceof Error ? cause.message : message}\n`);
  }
  return 1;
}

/** Where a service that listens on `listen` is reached from its own machine. */
function addressOf(listen: string): string {
  const colon = listen.lastIndexOf(':');
  const host = listen.slice(0, colon);
  const isAny = host === '' || host === '0.0.0.0' || host === '[::]';
  return `http://${isAny ? '127.0.0.1' : host}${listen.slice(colon)}`;
}
