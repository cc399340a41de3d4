/**
 * The log: JSON lines to standard output, to rotated files, or to both; each line is made once (contract C4).
 * Callers never hand it a secret, a request's body or text of a document.
 */
import pino, { type DestinationStream, type Logger } from 'pino';
import { LogFiles } from './files.js';
import type { LogConfig } from './keys.js';

export type { Logger };

/** Lines that wait for a stuck outlet, in bytes; more are dropped, so that a full pipe cannot take the memory. */
const LONGEST_BACKLOG = 16 * 1024 * 1024;

/** Whatever comes this way by mistake is not written. */
const REDACTED_PATHS = ['authorization', 'api_key', 'apiKey', 'password', 'secret', 'bytes', 'headers', '*.headers'];

export interface Log {
  readonly logger: Logger;
  /** Writes what waits and closes the files. */
  close(): Promise<void>;
}

/** Opens the outlets. Rejects where the log's folder cannot be made or written. */
export async function openLog(config: LogConfig): Promise<Log> {
  const files = config.logDir === '' ? undefined : await LogFiles.open(config, LONGEST_BACKLOG);
  const isOnStdout = config.logToStdout ?? files === undefined;
  const stdout = isOnStdout ? openStdout() : undefined;
  const outlets: DestinationStream[] = [stdout?.stream, files?.stream].filter((outlet) => outlet !== undefined);
  const logger = pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
    },
    outlets.length === 1
      ? (outlets[0] as DestinationStream)
      : // The logger's level counts, which can be changed: the outlets take whatever comes.
        pino.multistream(outlets.map((stream) => ({ stream, level: 'debug' }))),
  );
  return {
    logger,
    close: async () => {
      await files?.close();
      await stdout?.close();
    },
  };
}

/**
 * Standard output, which may be a file on a disk that is full for a while, or a pipe whose reader has gone: that must not
 * end the process, nor keep it from ending. What could not be written is lost.
 */
function openStdout(): { readonly stream: DestinationStream; close(): Promise<void> } {
  const stream = pino.destination({ fd: 1, sync: false, maxLength: LONGEST_BACKLOG });
  let isBroken = false;
  stream.on('error', () => {
    isBroken = true;
  });
  stream.on('write', () => {
    isBroken = false;
  });
  // Called at the end of the process, it would try again for ever.
  const flushSync = stream.flushSync.bind(stream);
  stream.flushSync = () => {
    if (!isBroken) flushSync();
  };
  return {
    stream,
    close: async () => {
      await new Promise<void>((resolve) => stream.flush(() => resolve()));
      if (!isBroken) return;
      stream.write = () => true;
      stream.destroy();
    },
  };
}
