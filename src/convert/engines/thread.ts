/** Entry of a worker thread: runs one step at a time for converter.ts. What crosses is plain data. */
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { ServiceError } from '../../errors.js';
import { systemFontBook } from '../../fonts/system.js';
import { guardThread, isStopWanted } from '../../thread-guard.js';
import type { StepTask } from '../converter-types.js';
import { type InProcessEngine, loadEngine, loadEverything } from './in-process.js';
import { runStep } from './run-step.js';
import type { ThreadMessage, ThreadReply, ThreadSettings } from './thread-types.js';

const NICENESS = 10;

const port = parentPort!;
const settings = workerData as ThreadSettings;
guardThread(settings.guard);
// Linux keeps a nice value for each thread: conversions give way to the thread that answers requests. Where the service was
// started nicer than that they stay so: going back is for root alone.
if (!settings.isForeground && process.platform === 'linux' && getPriority() < NICENESS) setPriority(NICENESS);
const fonts = systemFontBook(settings.fontDirs);
/** Never aborts: whoever wants a step to end asks at the next page, or ends the thread. */
const { signal } = new AbortController();

if (!settings.isForeground) {
  await loadEverything();
  void fonts.index;
}
tell({ kind: 'ready' });

port.on('message', (task: StepTask & { readonly engine: InProcessEngine }) => {
  run(task).then(
    (message) => tell(message),
    (error: unknown) => tell(failure(error)),
  );
});

function tell(message: ThreadMessage): void {
  const { heapUsed, external } = process.memoryUsage();
  port.postMessage({ ...message, memoryBytes: heapUsed + external } satisfies ThreadReply);
}

function tellOrStop(message: ThreadMessage): void {
  if (isStopWanted()) throw new ServiceError('cancelled', 'Nobody waits for this conversion any more');
  tell(message);
}

async function run(task: StepTask & { readonly engine: InProcessEngine }): Promise<ThreadMessage> {
  const result = await runStep(await loadEngine(task.engine), task, fonts, {
    signal,
    onOpened: (format) => tellOrStop({ kind: 'opened', format }),
    onProgress: (done, total) => tellOrStop({ kind: 'progress', done, total }),
    onAlive: () => tellOrStop({ kind: 'alive' }),
    log: (bytes) => tell({ kind: 'log', bytes }),
  });
  return { kind: 'done', result };
}

function failure(error: unknown): ThreadMessage {
  if (error instanceof ServiceError) {
    return { kind: 'failed', code: error.code, reason: error.reason, message: error.message };
  }
  return { kind: 'failed', code: 'conversion_failed', reason: 'internal', message: String(error) };
}
