/** Entry of a worker thread: runs one OFD conversion at a time for converter.ts. What crosses is plain data. */
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { ServiceError } from '../../errors.js';
import { systemFontBook } from '../../fonts/system.js';
import type { ConversionTask } from '../converter-types.js';
import { documentName, OutputFiles, pageName } from '../output-files.js';
import { convertOfd } from './ofd.js';
import type { ThreadMessage, ThreadReply, ThreadSettings } from './ofd-thread-types.js';

// Linux keeps a nice value for each thread: conversions give way to the thread that answers requests.
if (process.platform === 'linux') setPriority(0, 10);

const port = parentPort!;
const settings = workerData as ThreadSettings;
const fonts = systemFontBook(settings.fontDirs);

port.on('message', (task: ConversionTask) => {
  run(task).then(
    (message) => tell(message),
    (error: unknown) => tell(failure(error)),
  );
});

function tell(message: ThreadMessage): void {
  const { heapUsed, external } = process.memoryUsage();
  port.postMessage({ ...message, memoryBytes: heapUsed + external } satisfies ThreadReply);
}

async function run(task: ConversionTask): Promise<ThreadMessage> {
  const output = new OutputFiles(
    task.outputDirectory,
    {
      document: () => documentName(task.baseName, task.to),
      page: (pageNumber) => pageName(task.baseName, pageNumber, task.to),
    },
    task.maxOutputBytes,
  );
  const { pages, warnings } = await convertOfd({
    pagesField: 'output.options.pages',
    input: readFileSync(task.inputPath),
    to: task.to,
    options: task.options,
    output,
    fonts,
    onOpened: () => tell({ kind: 'opened', format: 'ofd' }),
    onProgress: (done, total) => tell({ kind: 'progress', done, total }),
  });
  return { kind: 'done', result: { fromActual: 'ofd', pages, files: output.finish(), warnings } };
}

function failure(error: unknown): ThreadMessage {
  if (error instanceof ServiceError) {
    return { kind: 'failed', code: error.code, reason: error.reason, message: error.message };
  }
  return { kind: 'failed', code: 'conversion_failed', reason: 'internal', message: String(error) };
}
