#!/usr/bin/env node
/**
 * The program: the command line and the exit codes. `convert` loads the engine only; `-c` loads the daemon. Neither loads
 * the other's modules, which is why everything here is imported where it is needed (contract D2).
 */

const USAGE = `ofd-server converts OFD documents.

  ofd-server convert IN [--to FORMAT] [-o OUT] [options]
                                      one conversion; ofd-server convert --help lists formats and options
  ofd-server -c FILE                  run the service with a configuration file
  ofd-server --check-config -c FILE   check the file and start nothing
  ofd-server healthcheck [-c FILE]    ask the running service whether it turns, where FILE says that it
                                      listens; /etc/ofd-server/config.json without -c
  ofd-server --version
`;

// A uid that no file of users names has no home, and libraries that ask for one would throw.
process.env.HOME ??= '/';

/** Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 130 interrupted. */
async function main(args: readonly string[]): Promise<number> {
  const [command] = args;
  if (command === 'convert') return (await import('./cli/convert.js')).convertCommand(args.slice(1));
  if (command === 'healthcheck') return (await import('./cli/healthcheck.js')).healthcheckCommand(args.slice(1));
  if (command === '--version' || command === '-v') {
    process.stdout.write(`${(await import('./version.js')).VERSION}\n`);
    return 0;
  }
  if (command === '--help' || command === '-h' || command === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  const { parseServeArguments, serveCommand } = await import('./cli/serve.js');
  const parsed = parseServeArguments(args);
  if (typeof parsed !== 'string') return serveCommand(parsed);
  process.stderr.write(`${parsed}\n\n${USAGE}`);
  return 2;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`ofd-server: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  },
);
